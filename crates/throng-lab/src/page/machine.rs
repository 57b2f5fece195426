//! The machine: its cores as boxes in boxes, and how long lines take between them.

use std::fmt::Write as _;
use std::ops::Range;

use super::text::{NONE, escaped, exact, median, rough};
use crate::calibrate::Calibration;
use crate::numbers::counted;
use crate::survey::document::{Layout, Survey};

/// More cores than this are not drawn one by one.
const MOST_DRAWN: usize = 2048;
/// Up to so many cores are large enough for their numbers.
const MOST_NUMBERED: usize = 64;
/// Up to so many cores, their map is a table with a number in each cell.
const MOST_IN_TABLE: usize = 16;

/// The machine, and what was measured of it.
pub(super) fn section(survey: &Survey) -> String {
    let mut text = "<section id=\"machine\" aria-labelledby=\"machine-title\">\n\
                    <h2 id=\"machine-title\">The machine</h2>\n"
        .to_owned();
    text.push_str(&topology(&survey.layout));
    if let Some(calibration) = &survey.calibration {
        text.push_str(&travel(calibration));
    }
    text + "</section>"
}

/// The cores as boxes in boxes.
fn topology(layout: &Layout) -> String {
    let all = layout.processors;
    let drawn = all.min(MOST_DRAWN);
    // From the largest to the smallest; a group of one, or of all, is no box of its own.
    let mut sizes: Vec<usize> =
        layout.groups.iter().copied().filter(|&size| size > 1 && size < all).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.dedup();
    let words = topology_in_words(all, &sizes);
    let look = if all <= MOST_NUMBERED { Look::NUMBERED } else { Look::DOTS };
    let (boxes, _) = look.draw(0..drawn, &sizes, layout);
    let more = if drawn < all {
        format!(
            "<p class=\"note\">Only the first {} are drawn.</p>\n",
            counted(drawn as u64, "processor")
        )
    } else {
        String::new()
    };
    let Look { name, core, gap, room } = look;
    format!(
        "<p>{words}</p>\n<div class=\"topology {name}\" role=\"img\" aria-label=\"{words}\" \
         style=\"--core:{core}px;--gap:{gap}px;--room:{room}px\">\n{boxes}\n</div>\n{more}"
    )
}

/// The same in words; sizes are from the largest to the smallest.
fn topology_in_words(all: usize, sizes: &[usize]) -> String {
    let count = counted(all as u64, "processor");
    if all < 2 {
        return format!("{count}.");
    }
    if sizes.is_empty() {
        return format!("{count}. As far as the system tells, each is as near to any other.");
    }
    let groups: Vec<String> = sizes.iter().rev().map(ToString::to_string).collect();
    format!(
        "{count}. Those in a box share something, such as a core or a cache, and reach each other sooner: groups \
         of {}.",
        groups.join(" in groups of "),
    )
}

/// How large things are drawn, in pixels.
struct Look {
    name: &'static str,
    /// A core.
    core: usize,
    /// Between two.
    gap: usize,
    /// Within a box, at its border.
    room: usize,
}

impl Look {
    const NUMBERED: Look = Look { name: "numbered", core: 34, gap: 5, room: 6 };
    const DOTS: Look = Look { name: "dots", core: 11, gap: 3, room: 3 };

    /// Draws these cores, in groups of the first size where there is one; returns the drawing and its width.
    fn draw(&self, cores: Range<usize>, sizes: &[usize], layout: &Layout) -> (String, usize) {
        let (mut parts, mut widest, mut count) = (String::new(), self.core, 0);
        let size = sizes.first().copied().unwrap_or(1);
        for start in cores.clone().step_by(size) {
            count += 1;
            if let Some(smaller) = sizes.get(1..) {
                let (part, width) =
                    self.draw(start..(start + size).min(cores.end), smaller, layout);
                parts.push_str(&part);
                widest = widest.max(width);
            } else {
                let number = layout.cores.get(start).copied().unwrap_or(start);
                let _ = write!(parts, "<i title=\"core {number}\"><b>{number}</b></i>");
            }
        }
        // As many in a row as there are rows, or twice as many; fewer where the window is narrow.
        let columns = f64::from(count).sqrt().ceil().max(1.0) as usize;
        let columns = columns.next_power_of_two();
        let width = columns * widest + (columns - 1) * self.gap + 2 * (self.room + 1);
        (format!("<div class=\"group\" style=\"max-width:{width}px\">{parts}</div>"), width)
    }
}

/// How long a line takes from core to core, and what else accesses cost.
fn travel(calibration: &Calibration) -> String {
    let mut text = "<h3>How long a line travels</h3>\n".to_owned();
    text.push_str(&summary(calibration));
    let cores = calibration.transfer_ns.len();
    if (2..=MOST_IN_TABLE).contains(&cores) {
        text.push_str(&heat_table(calibration));
    } else if cores > MOST_IN_TABLE {
        text.push_str(
            "<figure class=\"heat\" id=\"heat\">\n<figcaption>From the core of the row to the core of the \
             column; the stronger the colour, the longer</figcaption>\n</figure>\n",
        );
    }
    text.push_str(&care(calibration));
    text.push_str(&costs(calibration));
    if !calibration.machine.is_empty() {
        let _ = write!(
            text,
            "<details>\n<summary>This machine as a file for the simulator</summary>\n<p>Save it as \
             <code>machine.toml</code>; then <code>throng simulate --machine machine.toml --processors 64</code> \
             tells what such a machine would do with 64 processors.</p>\n<div class=\"wide\" tabindex=\"0\" \
             role=\"region\" aria-label=\"Machine file\"><pre>{}</pre></div>\n</details>\n",
            escaped(&calibration.machine),
        );
    }
    text
}

/// All times between two different cores.
fn trips(calibration: &Calibration) -> impl Iterator<Item = f64> + Clone {
    let rows = calibration.transfer_ns.iter().enumerate();
    rows.flat_map(|(i, row)| {
        row.iter().enumerate().filter(move |(j, _)| *j != i).map(|(_, &ns)| ns)
    })
    .filter(|ns| ns.is_finite())
}

fn summary(calibration: &Calibration) -> String {
    let trips = trips(calibration);
    let Some(middle) = median(trips.clone()) else {
        return "<p>It was not measured: that needs two cores.</p>\n".to_owned();
    };
    let shortest = trips.clone().fold(f64::INFINITY, f64::min);
    let longest = trips.fold(0.0, f64::max);
    format!(
        "<p>When one core changes what another has changed before, the line with it has to come over: {} \
         nanoseconds in the middle, {} for the nearest pair of cores and {} for the farthest.</p>\n",
        rough(middle),
        rough(shortest),
        rough(longest),
    )
}

/// How sure the times are, and what had to be assumed.
fn care(calibration: &Calibration) -> String {
    let cores = calibration.transfer_ns.len();
    let all = cores * cores.saturating_sub(1) / 2;
    let mut notes = Vec::new();
    if calibration.pairs > 0 && calibration.pairs < all {
        notes.push(format!(
            "Measured were {} of {} pairs; the others are taken to be as those of the same distance.",
            calibration.pairs, all
        ));
    }
    if calibration.spread > 0.0 && calibration.spread.is_finite() {
        let percent = rough(100.0 * calibration.spread);
        notes.push(format!("Measurements of the same pair usually lie {percent} % apart."));
    }
    notes.extend(calibration.notes.iter().map(|note| escaped(note)));
    if notes.is_empty() {
        return String::new();
    }
    let items: Vec<String> = notes.iter().map(|note| format!("<li>{note}</li>\n")).collect();
    format!("<ul class=\"note\">\n{}</ul>\n", items.concat())
}

/// The name of a row or column.
fn core_name(calibration: &Calibration, i: usize) -> String {
    calibration.cores.get(i).unwrap_or(&i).to_string()
}

fn heat_table(calibration: &Calibration) -> String {
    let longest = trips(calibration).fold(0.0, f64::max);
    let cores = calibration.transfer_ns.len();
    let mut table = "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Times between cores\">\n\
                     <table class=\"heat\" id=\"heat\">\n<caption>Nanoseconds from the core of the row to the core of \
                     the column</caption>\n<thead><tr><th scope=\"col\">core</th>"
        .to_owned();
    for i in 0..cores {
        let _ = write!(table, "<th scope=\"col\">{}</th>", core_name(calibration, i));
    }
    table.push_str("</tr></thead>\n<tbody>\n");
    for (i, row) in calibration.transfer_ns.iter().enumerate() {
        let _ = write!(table, "<tr><th scope=\"row\">{}</th>", core_name(calibration, i));
        for j in 0..cores {
            match row.get(j).filter(|ns| i != j && ns.is_finite()) {
                Some(&ns) => {
                    let heat =
                        if longest > 0.0 { (100.0 * ns / longest).clamp(0.0, 100.0) } else { 0.0 };
                    let _ = write!(
                        table,
                        "<td style=\"--heat:{heat:.0}%\" data-ns=\"{}\">{ns:.0}</td>",
                        exact(ns)
                    );
                }
                None => {
                    let _ = write!(table, "<td class=\"self\">{NONE}</td>");
                }
            }
        }
        table.push_str("</tr>\n");
    }
    table + "</tbody>\n</table>\n</div>\n"
}

fn costs(calibration: &Calibration) -> String {
    if calibration.costs.is_empty() {
        return String::new();
    }
    let mut table = "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Costs\">\n<table class=\"costs\">\n\
                     <caption>What accesses cost</caption>\n<thead><tr><th scope=\"col\">access</th>\
                     <th scope=\"col\" class=\"number\">nanoseconds</th></tr></thead>\n<tbody>\n"
        .to_owned();
    for cost in &calibration.costs {
        let _ = writeln!(
            table,
            "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td></tr>",
            escaped(&cost.name),
            rough(cost.ns),
        );
    }
    table + "</tbody>\n</table>\n</div>\n"
}
