//! Writes the machine: its cores as boxes in boxes, and the times of line transfers between them.

use std::fmt::Write as _;
use std::ops::Range;

use throng_papers::numbers::counted;

use super::text::{NONE, escaped, exact, median, rough};
use crate::calibrate::Calibration;
use crate::survey::document::{Layout, Survey};

/// Largest number of cores drawn.
const MOST_DRAWN: usize = 2048;
/// Largest number of cores drawn with their numbers, which larger drawings have no room for.
const MOST_NUMBERED: usize = 64;
/// Largest number of cores whose map is a table with a number in each cell.
const MOST_IN_TABLE: usize = 16;

/// Returns the part about the machine and its measured times.
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

/// Returns the cores as boxes in boxes.
fn topology(layout: &Layout) -> String {
    let all = layout.processors;
    let drawn = all.min(MOST_DRAWN);
    // From the largest to the smallest. A group of one, or of all, has no box.
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

/// Describes the groups in words; sizes are from the largest to the smallest.
fn topology_in_words(all: usize, sizes: &[usize]) -> String {
    let count = counted(all as u64, "processor");
    if all < 2 {
        return format!("{count}.");
    }
    if sizes.is_empty() {
        return format!("{count}. According to the system, all are equally near to each other.");
    }
    let groups: Vec<String> = sizes.iter().rev().map(ToString::to_string).collect();
    format!(
        "{count}. Processors in a box share a core, a cache or the like, and exchange lines faster: groups \
         of {}.",
        groups.join(" in groups of "),
    )
}

/// Sizes of a drawing, in pixels.
struct Look {
    name: &'static str,
    /// A core.
    core: usize,
    /// The gap between two.
    gap: usize,
    /// The padding of a box.
    room: usize,
}

impl Look {
    const NUMBERED: Look = Look { name: "numbered", core: 34, gap: 5, room: 6 };
    const DOTS: Look = Look { name: "dots", core: 11, gap: 3, room: 3 };

    /// Draws these cores, in groups of the first size where there is one. Returns the drawing and
    /// its width.
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
        // As many columns as rows, or twice as many; fewer where the window is narrow.
        let columns = f64::from(count).sqrt().ceil().max(1.0) as usize;
        let columns = columns.next_power_of_two();
        let width = columns * widest + (columns - 1) * self.gap + 2 * (self.room + 1);
        (format!("<div class=\"group\" style=\"max-width:{width}px\">{parts}</div>"), width)
    }
}

/// Returns the times of line transfers from core to core, and the costs of other accesses.
fn travel(calibration: &Calibration) -> String {
    let mut text = "<h3>Transfer time of a line</h3>\n".to_owned();
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
             simulates such a machine with 64 processors.</p>\n<div class=\"wide\" tabindex=\"0\" \
             role=\"region\" aria-label=\"Machine file\"><pre>{}</pre></div>\n</details>\n",
            escaped(&calibration.machine),
        );
    }
    text
}

/// Returns the times between all pairs of different cores.
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
    let range = if shortest < longest {
        format!(
            " in the median, {} for the nearest pair of cores and {} for the farthest",
            rough(shortest),
            rough(longest)
        )
    } else {
        String::new()
    };
    format!(
        "<p>When a core writes a word that another core wrote before, its line is transferred: {} \
         nanoseconds{range}.</p>\n",
        rough(middle),
    )
}

/// Describes how reliable the times are, and what had to be assumed.
fn care(calibration: &Calibration) -> String {
    let cores = calibration.transfer_ns.len();
    let all = cores * cores.saturating_sub(1) / 2;
    let mut notes = Vec::new();
    if calibration.pairs > 0 && calibration.pairs < all {
        notes.push(format!(
            "Measured were {} of {} pairs; the others are assumed equal to those of the same distance.",
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

/// Returns the name of a row or column.
fn core_name(calibration: &Calibration, i: usize) -> String {
    calibration.cores.get(i).unwrap_or(&i).to_string()
}

fn heat_table(calibration: &Calibration) -> String {
    let longest = trips(calibration).fold(0.0, f64::max);
    let cores = calibration.transfer_ns.len();
    // Not a caption, which would be as narrow as the table of two cores.
    let mut table = "<p class=\"note\" id=\"heat-words\">Nanoseconds from the core of the row to the core of the \
                     column</p>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Times between \
                     cores\">\n<table class=\"heat\" id=\"heat\" aria-labelledby=\"heat-words\">\n<thead><tr><th scope=\"col\">core</th>"
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
