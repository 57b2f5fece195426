//! Writes a chart for each need, drawn by the script, and the same as a table.

use std::fmt::Write as _;

use super::text::{NONE, escaped, rough};
use crate::survey::document::{Cell, Need, Survey, Unit, Whose};
use crate::survey::verdict::Verdict;

/// Returns the part with all needs.
pub(super) fn sections(survey: &Survey) -> String {
    if survey.needs.is_empty() {
        return String::new();
    }
    let mut text = "<section id=\"needs\" aria-labelledby=\"needs-title\">\n\
                    <h2 id=\"needs-title\">What was measured</h2>\n\
                    <p>Each line is one way to do the same thing. Point at a line, touch it, or walk along it with \
                    the arrow keys to see its numbers; switch lines on and off below the chart. The variants \
                    of throng, among them the methods of the papers, are off at first.</p>\n"
        .to_owned();
    for (i, need) in survey.needs.iter().enumerate() {
        text.push_str(&section(i, need));
    }
    text + "</section>"
}

fn section(i: usize, need: &Need) -> String {
    format!(
        "<article class=\"need\" id=\"need-{i}\">\n<h3>{title}</h3>\n<p>{workload}</p>\n\
         <figure class=\"chart\" data-need=\"{i}\" data-verdict=\"{verdict}\" aria-label=\"{title}\">\n\
         <figcaption>{unit}</figcaption>\n</figure>\n\
         <details>\n<summary>The same as a table</summary>\n{table}</details>\n</article>\n",
        title = escaped(&need.title),
        workload = escaped(&need.workload),
        verdict = verdict(need).map_or("none", Verdict::name),
        unit = unit_in_words(need.unit),
        table = table(need),
    )
}

fn verdict(need: &Need) -> Option<Verdict> {
    need.advice.as_ref().map(|advice| Verdict::of(&advice.gains))
}

/// Formats a unit as in "million a second; more is better".
pub(super) fn unit_in_words(unit: Unit) -> String {
    let better = if unit.more_is_better() { "more is better" } else { "less is better" };
    format!("{}; {better}", unit.in_words())
}

/// Returns the origin of an entrant in a word.
pub(super) const fn whose(whose: Whose) -> &'static str {
    match whose {
        Whose::Ours => "throng",
        Whose::Method => "variant",
        Whose::Peer => "other",
    }
}

/// Returns the median, and below it the p99 of a call where that was measured.
fn numbers(cell: &Cell) -> String {
    let p99 = cell.latency.map(|latency| latency.p99_ns).filter(|ns| ns.is_finite());
    let p99 = p99.map(|ns| format!("<br><small>p99 {} us</small>", rough(ns / 1e3)));
    rough(cell.median) + &p99.unwrap_or_default()
}

/// Returns a table with a row for each entrant and a column for each number of threads.
fn table(need: &Need) -> String {
    let threads = need.threads();
    let mut cells = need.entrants.iter().flat_map(|entrant| &entrant.cells);
    let has_latency = cells.any(|cell| cell.latency.is_some());
    let mut table = format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table: {}\">\n<table>\n\
         <caption>Medians, {}{}</caption>\n<thead><tr><th scope=\"col\">threads</th>",
        escaped(&need.title),
        unit_in_words(need.unit),
        if has_latency { "; small: 99 of 100 calls take no longer, in microseconds" } else { "" },
    );
    for threads in &threads {
        let _ = write!(table, "<th scope=\"col\" class=\"number\">{threads}</th>");
    }
    table.push_str("</tr></thead>\n<tbody>\n");
    let pick = need.advice.as_ref().map(|advice| advice.pick.as_str());
    let for_pick = matches!(verdict(need), Some(Verdict::Pick | Verdict::Depends));
    for entrant in &need.entrants {
        let mark = match entrant.name.as_str() {
            name if Some(name) == pick && for_pick => " <small>recommended</small>",
            name if name == need.usual => " <small>the usual</small>",
            _ if entrant.whose == Whose::Method => " <small>variant</small>",
            _ => "",
        };
        let _ = write!(
            table,
            "<tr><th scope=\"row\">{}{mark}<br><code>{}</code></th>",
            escaped(&entrant.name),
            escaped(&entrant.code)
        );
        for &threads in &threads {
            let cell = entrant.on(threads).map_or(NONE.to_owned(), numbers);
            let _ = write!(table, "<td class=\"number\">{cell}</td>");
        }
        table.push_str("</tr>\n");
    }
    table + "</tbody>\n</table>\n</div>\n"
}
