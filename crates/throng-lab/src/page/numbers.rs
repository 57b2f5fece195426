//! Writes every single number, as it is in the JSON.

use std::fmt::Write as _;

use super::needs::whose;
use super::text::{NONE, escaped, exact};
use crate::survey::document::{Cell, Survey};

/// The columns: name, and whether it has numbers.
const COLUMNS: [(&str, bool); 12] = [
    ("need", false),
    ("entrant", false),
    ("of", false),
    ("threads", true),
    ("median", true),
    ("min", true),
    ("max", true),
    ("runs", true),
    ("unit", false),
    ("p50 ns", true),
    ("p99 ns", true),
    ("p99.9 ns", true),
];

/// Returns the table of all numbers.
pub(super) fn section(survey: &Survey) -> String {
    let mut text = "<section id=\"numbers\" aria-labelledby=\"numbers-title\">\n\
                    <h2 id=\"numbers-title\">Every number</h2>\n\
                    <p>As in the JSON, to the last digit. throng: a structure this library recommends. variant: another \
                    structure of this library, or another way to call one. other: another library or language. The last three columns are the latency of a push \
                    or a pop, sampled in separate runs.</p>\n"
        .to_owned();
    text.push_str(
        "<p class=\"filters\" id=\"filters\" hidden><label>Need <select id=\"filter-need\">",
    );
    text.push_str("<option value=\"\">all</option>");
    for (i, need) in survey.needs.iter().enumerate() {
        let _ = write!(text, "<option value=\"{i}\">{}</option>", escaped(&need.title));
    }
    text.push_str(
        "</select></label> <label>Entrant <input id=\"filter-text\" type=\"search\" autocomplete=\"off\"></label> \
         <output id=\"filter-count\"></output></p>\n\
         <div class=\"wide tall\" tabindex=\"0\" role=\"region\" aria-label=\"Every number\">\n\
         <table id=\"raw\">\n<caption class=\"unseen\">Every number</caption>\n<thead><tr>",
    );
    for (name, is_number) in COLUMNS {
        let class = if is_number { " class=\"number\"" } else { "" };
        let _ = write!(text, "<th scope=\"col\"{class}>{name}</th>");
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for (i, need) in survey.needs.iter().enumerate() {
        for entrant in &need.entrants {
            for cell in &entrant.cells {
                let _ = writeln!(
                    text,
                    "<tr data-need=\"{i}\"><td>{}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td>\
                     <td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
                     <td class=\"number\">{}</td><td>{}</td>{}</tr>",
                    escaped(&need.name),
                    escaped(&entrant.name),
                    whose(entrant.whose),
                    cell.threads,
                    exact(cell.median),
                    exact(cell.min),
                    exact(cell.max),
                    cell.runs.len(),
                    need.unit.in_words(),
                    latency(cell),
                );
            }
        }
    }
    text + "</tbody>\n</table>\n</div>\n</section>"
}

/// Returns the latency of a call, in three columns.
fn latency(cell: &Cell) -> String {
    let percentiles = match cell.latency {
        Some(at) => [at.p50_ns, at.p99_ns, at.p999_ns].map(exact),
        None => [NONE; 3].map(str::to_owned),
    };
    percentiles.map(|number| format!("<td class=\"number\">{number}</td>")).concat()
}
