//! Writes simulated results beside measured ones, and predictions for more cores.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::text::{NONE, escaped, median, rough, times};
use crate::calibrate::{Compared, Prospect, Validation};
use crate::survey::document::Survey;

/// Returns the part about the simulator's errors on this machine, and its predictions.
pub(super) fn section(survey: &Survey) -> String {
    let Some(validation) = &survey.validation else { return String::new() };
    let mut text = format!(
        "<section id=\"simulator\" aria-labelledby=\"simulator-title\">\n\
         <h2 id=\"simulator-title\">How far the simulator may be trusted</h2>\n\
         <p>A simulated machine was made from the times above alone, and did the same work. {}</p>\n",
        trust(validation),
    );
    if !validation.rows.is_empty() {
        text.push_str(&compared(survey, validation));
    }
    if !validation.prospects.is_empty() {
        text.push_str(&prospects(survey, validation));
    }
    text + "</section>"
}

/// Describes the difference of simulated numbers from measured ones in a sentence or two.
fn trust(validation: &Validation) -> String {
    let Some(middle) = median(validation.rows.iter().map(Compared::off)) else {
        return "Nothing of that can be compared with a measurement.".to_owned();
    };
    let sound = validation.rows.iter().filter(|row| row.off().is_finite());
    let worst = sound.max_by(|a, b| a.off().total_cmp(&b.off()));
    let mut text = format!("Half of the numbers are off by a factor of {} or less", rough(middle));
    if let Some(row) = worst {
        let _ = write!(
            text,
            "; the worst, {} on {}, by {}. Its predictions for larger machines are no better than that.",
            escaped(&row.entrant),
            throng_papers::numbers::counted(row.threads as u64, "thread"),
            rough(row.off()),
        );
    }
    text
}

/// Returns the title and the unit of a need by its name, or the name itself where there is no such
/// need.
fn need_in_words(survey: &Survey, name: &str) -> (String, &'static str) {
    match survey.needs.iter().find(|need| need.name == name) {
        Some(need) => (escaped(&need.title), need.unit.in_words()),
        None => (escaped(name), NONE),
    }
}

fn compared(survey: &Survey, validation: &Validation) -> String {
    let mut table = "<div class=\"wide tall\" tabindex=\"0\" role=\"region\" aria-label=\"Simulated and measured\">\n\
                     <table id=\"validation\">\n<caption>Simulated and measured; a factor above 1: simulated too \
                     large</caption>\n<thead><tr><th scope=\"col\">need</th><th scope=\"col\">entrant</th>\
                     <th scope=\"col\" class=\"number\">threads</th><th scope=\"col\" class=\"number\">measured</th>\
                     <th scope=\"col\" class=\"number\">simulated</th><th scope=\"col\">unit</th>\
                     <th scope=\"col\" class=\"number\">factor</th></tr></thead>\n<tbody>\n"
        .to_owned();
    for row in &validation.rows {
        let (_, unit) = need_in_words(survey, &row.need);
        let _ = writeln!(
            table,
            "<tr><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td>{unit}</td><td class=\"number\">{}</td></tr>",
            escaped(&row.need),
            escaped(&row.entrant),
            row.threads,
            rough(row.measured),
            rough(row.simulated),
            times(row.factor()),
        );
    }
    table + "</tbody>\n</table>\n</div>\n"
}

/// Returns a table for each need, with a row for each entrant and a column for each number of
/// processors.
fn prospects(survey: &Survey, validation: &Validation) -> String {
    let mut text = "<h3>If this machine had more cores</h3>\n\
                    <p>Simulated, not measured: the same machine, made larger.</p>\n"
        .to_owned();
    let mut needs: Vec<&str> = Vec::new();
    for prospect in &validation.prospects {
        if !needs.contains(&prospect.need.as_str()) {
            needs.push(&prospect.need);
        }
    }
    for need in needs {
        let of_need = || validation.prospects.iter().filter(|one| one.need == need);
        let processors: BTreeSet<usize> = of_need().map(|one| one.processors).collect();
        let mut entrants: Vec<&str> = Vec::new();
        for one in of_need() {
            if !entrants.contains(&one.entrant.as_str()) {
                entrants.push(&one.entrant);
            }
        }
        let (title, unit) = need_in_words(survey, need);
        let _ = write!(
            text,
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Simulated: {title}\">\n\
             <table class=\"prospects\">\n<caption>{title}: simulated, {unit}</caption>\n\
             <thead><tr><th scope=\"col\">processors</th>"
        );
        for processors in &processors {
            let _ = write!(text, "<th scope=\"col\" class=\"number\">{processors}</th>");
        }
        text.push_str("</tr></thead>\n<tbody>\n");
        for entrant in entrants {
            let _ = write!(text, "<tr><th scope=\"row\">{}</th>", escaped(entrant));
            for &processors in &processors {
                let here = |one: &&Prospect| one.entrant == entrant && one.processors == processors;
                let cell = of_need().find(here).map_or(NONE.to_owned(), |one| rough(one.simulated));
                let _ = write!(text, "<td class=\"number\">{cell}</td>");
            }
            text.push_str("</tr>\n");
        }
        text.push_str("</tbody>\n</table>\n</div>\n");
    }
    text
}
