//! Writes how the survey was measured.

use std::fmt::Write as _;

use throng_papers::numbers::counted;

use super::text::{escaped, median, rough};
use crate::survey::document::{Cell, Pace, Survey};

/// Returns what a reader needs to judge the numbers, or to repeat the measurement.
pub(super) fn section(survey: &Survey) -> String {
    let facts = [
        ("Day", escaped(&survey.date)),
        ("Pace", pace(survey.pace).to_owned()),
        ("Took", format!("{}{}", duration(survey.seconds), if survey.complete { "" } else { ", ended early" })),
        ("Runs", runs(survey)),
        ("Spread", spread(survey)),
        ("Threads", pinned(survey.setup.pinned).to_owned()),
        (
            "Order",
            "Entrants take turns: each is measured once, then each again. A disturbance of the machine for \
             a while so affects all of them."
                .to_owned(),
        ),
        (
            "Checked",
            "Every run was checked while it was measured: no number twice and none left out, no thread let through a \
             barrier too early, every item out of a queue once. A structure that fails ends the measurement."
                .to_owned(),
        ),
        ("Version", format!("throng {}", escaped(&survey.throng))),
    ];
    let mut text = "<section id=\"method\" aria-labelledby=\"method-title\">\n\
                    <h2 id=\"method-title\">How it was measured</h2>\n<dl>\n"
        .to_owned();
    for (name, words) in facts {
        let _ = writeln!(text, "<dt>{name}</dt><dd>{words}</dd>");
    }
    text + "</dl>\n</section>"
}

const fn pace(pace: Pace) -> &'static str {
    match pace {
        Pace::Quick => {
            "quick: few and short runs; <code>throng bench</code> without <code>--quick</code> has less noise"
        }
        Pace::Usual => "usual; <code>throng bench --full</code> is more thorough",
        Pace::Full => "full",
    }
}

const fn pinned(pinned: bool) -> &'static str {
    if pinned {
        "Each thread was pinned to one core."
    } else {
        "Threads were not pinned: the system refused it. So numbers vary more."
    }
}

/// Formats a duration as in "2 min 5 s".
fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "an unknown time".to_owned();
    }
    let whole = seconds.round() as u64;
    match (whole / 60, whole % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

fn cells(survey: &Survey) -> impl Iterator<Item = &Cell> {
    survey.needs.iter().flat_map(|need| &need.entrants).flat_map(|entrant| &entrant.cells)
}

/// Describes the number of runs of each entrant.
fn runs(survey: &Survey) -> String {
    let counts = || cells(survey).map(|cell| cell.runs.len());
    match (counts().min(), counts().max()) {
        (Some(fewest), Some(most)) if fewest == most => {
            format!("{} of each; the median is shown", counted(most as u64, "run"))
        }
        (Some(fewest), Some(most)) => {
            format!("{fewest} to {} of each; the median is shown", counted(most as u64, "run"))
        }
        _ => "none".to_owned(),
    }
}

/// Describes the median spread of runs of the same entrant.
fn spread(survey: &Survey) -> String {
    match median(cells(survey).map(|cell| (cell.max - cell.min) / cell.median)) {
        Some(part) => format!(
            "For half of the numbers, smallest and largest run differ by {} % or less",
            rough(100.0 * part)
        ),
        None => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_readable() {
        assert_eq!(duration(59.4), "59 s");
        assert_eq!(duration(125.0), "2 min 5 s");
        assert_eq!([f64::NAN, -1.0].map(duration), ["an unknown time"; 2]);
    }
}
