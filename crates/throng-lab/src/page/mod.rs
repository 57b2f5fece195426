//! The page of a survey: a single file that loads nothing.
//!
//! Rust writes all that can be read: advice, tables, explanations. What moves (charts, the map of the
//! cores, sorting) is added by the script, from the JSON that the page carries.
//!
//! | module | what it writes |
//! |---|---|
//! | `advice` | the headline, and a card for each need |
//! | `summary` | the table at the top: ours, the best of others, the usual choice |
//! | `needs` | a chart and a table for each need |
//! | `machine` | the cores as boxes, and how long lines take between them |
//! | `simulator` | simulated beside measured, and what more cores would bring |
//! | `numbers` | every single number |
//! | `method` | how it was measured |
//! | `gallery` | the figures of the papers |
//! | `figures` | reads those from their folder |
//! | `text` | what all of them need: text made harmless, numbers, the template |
//!
//! `page.html` is the frame, `page.css` the look; the scripts are `base.js`, `chart.js`, `heat.js`,
//! `table.js` and `start.js`, in this order.

mod advice;
mod figures;
mod gallery;
mod machine;
mod method;
mod needs;
mod numbers;
#[cfg(test)]
pub(crate) mod sample;
mod simulator;
mod summary;
#[cfg(test)]
mod tests;
mod text;

pub use figures::figures;

use crate::survey::document::Survey;

/// A figure of a paper that is shown on the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its name, such as `DT96-8`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// The picture.
    pub svg: String,
    /// The paper's claims and whether they hold, a line each.
    pub claims: Vec<String>,
}

const FRAME: &str = include_str!("page.html");
const LOOK: &str = include_str!("page.css");
const SCRIPTS: [&str; 5] = [
    include_str!("base.js"),
    include_str!("chart.js"),
    include_str!("heat.js"),
    include_str!("table.js"),
    include_str!("start.js"),
];

/// Returns the page, as one file of HTML.
///
/// All text of the survey is escaped. Numbers that are missing or not finite are shown as a dash.
///
/// ```
/// use throng_lab::{page, survey::read::read};
///
/// let survey = read("browser/sample.json".as_ref())?;
/// let page = page::html(&survey, &[]);
/// assert!(page.contains("What to use on this machine"));
/// # Ok::<(), throng_lab::error::Error>(())
/// ```
pub fn html(survey: &Survey, figures: &[Figure]) -> String {
    let parts = [
        ("title", text::escaped(&format!("throng on {}", survey.setup.processor))),
        ("look", LOOK.to_owned()),
        ("contents", contents(survey, figures)),
        ("head", advice::head(survey)),
        ("summary", summary::table(survey)),
        ("cards", advice::cards(survey)),
        ("needs", needs::sections(survey)),
        ("machine", machine::section(survey)),
        ("simulator", simulator::section(survey)),
        ("numbers", numbers::section(survey)),
        ("method", method::section(survey)),
        ("gallery", gallery::section(figures)),
        ("version", text::escaped(&survey.throng)),
        ("survey", text::json_for_script(survey)),
        ("script", SCRIPTS.concat()),
    ];
    text::filled(FRAME, &parts)
}

/// Returns links to the parts that this page has.
fn contents(survey: &Survey, figures: &[Figure]) -> String {
    let parts = [
        ("summary", "Table", survey.needs.iter().any(|need| need.advice.is_some())),
        ("advice", "Advice", true),
        ("needs", "Charts", !survey.needs.is_empty()),
        ("machine", "Machine", true),
        ("simulator", "Simulator", survey.validation.is_some()),
        ("numbers", "Numbers", true),
        ("method", "Method", true),
        ("gallery", "Papers", !figures.is_empty()),
    ];
    let link = |(id, name, _): &(&str, &str, bool)| format!("<a href=\"#{id}\">{name}</a>");
    parts.iter().filter(|(.., there)| *there).map(link).collect::<Vec<_>>().join("\n")
}
