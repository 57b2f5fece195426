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
    let words = if sizes.is_empty() {
        format!("{}, all alike to each other.", counted(all as u64, "processor"))
    } else {
        let groups: Vec<String> = sizes.iter().rev().map(ToString::to_string).collect();
        format!(
            "{}. Those in a box share something, such as a core or a cache, and reach each other sooner: \
             groups of {}.",
            counted(all as u64, "processor"),
            groups.join(" in groups of "),
        )
    };
    let mut boxes = String::new();
    draw(0..drawn, &sizes, layout, &mut boxes);
    let more = if drawn < all {
        format!("<p class=\"note\">Only the first {} are drawn.</p>\n", counted(drawn as u64, "processor"))
    } else {
        String::new()
    };
    let size = if all <= MOST_NUMBERED { "numbered" } else { "dots" };
    format!(
        "<p>{words}</p>\n<div class=\"topology {size}\" role=\"img\" aria-label=\"{words}\">\n{boxes}\n</div>\n\
         {more}"
    )
}

/// Draws these cores: in groups of the first size, or one by one where there are no more sizes.
fn draw(cores: Range<usize>, sizes: &[usize], layout: &Layout, boxes: &mut String) {
    if let Some((&size, smaller)) = sizes.split_first() {
        let mut start = cores.start;
        boxes.push_str("<div class=\"groups\">");
        while start < cores.end {
            let end = (start + size).min(cores.end);
            draw(start..end, smaller, layout, boxes);
            start = end;
        }
        boxes.push_str("</div>");
        return;
    }
    let columns = (cores.len() as f64).sqrt().ceil().max(1.0) as usize;
    let columns = columns.next_power_of_two().min(8);
    let _ = write!(boxes, "<div class=\"cores\" style=\"--columns:{columns}\">");
    for core in cores {
        let number = layout.cores.get(core).copied().unwrap_or(core);
        let _ = write!(boxes, "<i title=\"core {number}\"><b>{number}</b></i>");
    }
    boxes.push_str("</div>");
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
             column; darker takes longer</figcaption>\n</figure>\n",
        );
    }
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
    rows.flat_map(|(i, row)| row.iter().enumerate().filter(move |(j, _)| *j != i).map(|(_, &ns)| ns))
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
                    let heat = if longest > 0.0 { (100.0 * ns / longest).clamp(0.0, 100.0) } else { 0.0 };
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
