//! The page of a survey: one file that needs no other, and no network.
//!
//! Rust writes all that can be read: advice, tables, explanations. What moves (charts, the map of the
//! cores, sorting) is added by the script, from the JSON that the page carries.
//!
//! | module | what it writes |
//! |---|---|
//! | `advice` | the headline, and a card for each need |
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
#[cfg(test)]
mod tests;
mod text;

use std::fs;
use std::path::{Path, PathBuf};

pub use figures::figures;

use crate::cli::PageArguments;
use crate::error::Error;
use crate::output;
use crate::survey::document::Survey;
use crate::survey::read::read;

/// A figure of a paper that is shown on the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its name, such as `DT96-8`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// The picture.
    pub svg: String,
    /// What the paper claims and whether it holds, a line each.
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

/// The page, as one file of HTML.
///
/// All text of the survey is made harmless, and numbers that are missing or not finite are shown as a dash.
///
/// ```
/// use throng_lab::{page, survey::read::read};
///
/// let survey = read("browser/sample.json".as_ref())?;
/// let page = page::html(&survey, &[]);
/// assert!(page.contains("What to use on this machine"));
/// # Ok::<(), throng_lab::error::Error>(())
/// ```
#[must_use]
pub fn html(survey: &Survey, figures: &[Figure]) -> String {
    let parts = [
        ("title", text::escaped(&format!("throng on {}", survey.setup.processor))),
        ("look", LOOK.to_owned()),
        ("contents", contents(survey, figures)),
        ("head", advice::head(survey)),
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

/// Links to the parts that this page has.
fn contents(survey: &Survey, figures: &[Figure]) -> String {
    let parts = [
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

/// Does `throng page`: the page of a survey that was written as JSON.
///
/// # Errors
/// When the file is none of a survey, or the page cannot be written.
pub fn make(typed: &PageArguments) -> Result<(), Error> {
    let survey = read(&typed.report)?;
    let figures = match &typed.figures {
        Some(folder) => figures(folder)?,
        None => Vec::new(),
    };
    let to = typed.html.clone().unwrap_or_else(|| beside(&typed.report));
    if to == typed.report {
        return Err(Error::Value {
            option: "--html",
            value: to.display().to_string(),
            allowed: "another file than the report".to_owned(),
        });
    }
    fs::write(&to, html(&survey, &figures))
        .map_err(|source| Error::Write { to: to.display().to_string(), source })?;
    output::print(&format!("{}\n", to.display()))
}

/// The page beside its report.
fn beside(report: &Path) -> PathBuf {
    report.with_extension("html")
}
