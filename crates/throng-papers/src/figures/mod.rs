//! The figures of the papers, made again: each runs its workload on a simulated machine, draws
//! what came out, and judges what the paper claims about it.
//!
//! | module | what it does |
//! |---|---|
//! | [`dt96`], [`ss98`], [`rdt97`], [`st07`], [`gv93`] | one file a figure: workload, parameters, claims |
//! | [`ours`] | the same for the default counter and barrier, and for clusters: claims of our own |
//! | [`lab`] | runs, in parallel and none twice |
//! | [`curve`] | measured curves, and what can be said about their shape |
//! | [`claim`] | a claim, judged |
//! | [`draw`] | from findings to CSV, SVG, JSON and text |
//!
//! The simulator is calibrated from published machine latencies only, never from a claim. A claim
//! that does not hold is reported as such, with the reason found.

pub mod claim;
pub mod curve;
pub mod draw;
pub mod dt96;
pub mod gv93;
pub mod lab;
mod meetings;
mod networks;
pub mod ours;
mod pools;
pub mod rdt97;
pub mod ss98;
pub mod st07;
pub mod surges;

use std::path::PathBuf;

use crate::arguments::unknown_name;
use crate::chart::{Axis, Mark, Scale};
use crate::error::Error;
use crate::output;
use crate::table::{Align, aligned};
use claim::Claim;
use curve::Curve;
use lab::Lab;

/// A figure of a paper that can be made again.
pub struct Figure {
    /// The paper and the number, such as `DT96-8`; a figure that stands for several has their
    /// numbers with a stroke between them.
    pub id: &'static str,
    /// What is measured, in a few words.
    pub title: &'static str,
    /// Where it is in the paper.
    pub paper: &'static str,
    /// What the figure shows, in a sentence.
    pub shows: &'static str,
    find: fn(&Lab) -> Result<Findings, Error>,
}

/// What came out of a figure.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The circumstances, in a line.
    pub setup: String,
    /// The charts: most figures have one.
    pub panels: Vec<Panel>,
    /// What the paper claims, judged.
    pub claims: Vec<Claim>,
}

/// One chart of a figure.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The title of this chart where there are several; otherwise empty.
    pub title: String,
    /// The varied quantity.
    pub x: Axis,
    /// The measured quantity.
    pub y: Axis,
    /// In the order of the legend.
    pub series: Vec<Curve>,
    /// Places worth a line in the chart.
    pub marks: Vec<Mark>,
    /// Smallest x in the chart. Points to its left are in the numbers only.
    pub drawn_from: f64,
}

impl Panel {
    /// Returns the only chart of a figure.
    pub fn new(x: Axis, y: Axis, series: Vec<Curve>) -> Self {
        Panel {
            title: String::new(),
            x,
            y,
            series,
            marks: Vec::new(),
            drawn_from: f64::NEG_INFINITY,
        }
    }

    /// Sets the title.
    #[must_use]
    pub fn titled(self, title: impl Into<String>) -> Self {
        Panel { title: title.into(), ..self }
    }
}

fn processors_axis() -> Axis {
    Axis::new("processors", Scale::Linear)
}

fn throughput_axis() -> Axis {
    Axis::new("throughput (values per million cycles)", Scale::Linear)
}

/// A figure that has been made.
#[derive(Debug)]
pub struct Made {
    /// The figure.
    pub figure: &'static Figure,
    /// Its numbers and judged claims.
    pub findings: Findings,
}

impl std::fmt::Debug for Figure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

impl Figure {
    /// Returns whether `typed` is a name of this figure. `SS98-9/10` is also called `SS98-9`,
    /// `SS98-10` and, like its files, `SS98-9-10`. Case is ignored.
    fn is_called(&self, typed: &str) -> bool {
        let same = |name: &str| name.eq_ignore_ascii_case(typed.trim());
        let (paper, numbers) = self.id.split_once('-').unwrap_or((self.id, ""));
        let one_of = |number: &str| same(&format!("{paper}-{number}"));
        same(self.id) || same(&self.file_stem()) || numbers.split('/').any(one_of)
    }

    /// Returns the name of the figure's files, without extension.
    pub fn file_stem(&self) -> String {
        self.id.replace('/', "-")
    }

    /// Runs and judges the figure.
    ///
    /// # Errors When a run failed its check or could not be set up.
    pub fn make(&'static self, lab: &Lab) -> Result<Made, Error> {
        let mut findings = (self.find)(lab)?;
        if lab.smoke {
            findings.setup.insert_str(0, "a small test, good for nothing else: ");
        }
        Ok(Made { figure: self, findings })
    }
}

/// Returns all figures, paper by paper.
pub fn figures() -> &'static [Figure] {
    FIGURES
}

static FIGURES: &[Figure] = &[
    dt96::figure_7::FIGURE,
    dt96::figure_8::FIGURE,
    dt96::figure_8b::FIGURE,
    dt96::figure_9::FIGURE,
    dt96::figure_10::FIGURE,
    dt96::figure_11::FIGURE,
    dt96::figure_12::FIGURE,
    dt96::figure_14_15::FIGURE,
    dt96::figure_18::FIGURE,
    dt96::figure_19::FIGURE,
    dt96::figure_20::FIGURE,
    dt96::figure_21::FIGURE,
    dt96::figure_22::FIGURE,
    dt96::figure_23::FIGURE,
    dt96::figure_24::FIGURE,
    dt96::table_2::FIGURE,
    ss98::figure_9_10::FIGURE,
    ss98::figure_11::FIGURE,
    ss98::figure_12::FIGURE,
    ss98::model::FIGURE,
    ss98::validation::FIGURE,
    rdt97::figure_1::FIGURE,
    rdt97::figure_5_6::FIGURE,
    rdt97::figure_7_8_9::FIGURE,
    rdt97::figure_10::FIGURE,
    rdt97::figure_11::FIGURE,
    rdt97::figure_12::FIGURE,
    rdt97::figure_13::FIGURE,
    st07::figure_13::FIGURE,
    st07::figure_14::FIGURE,
    st07::figure_15::FIGURE,
    st07::policy::FIGURE,
    gv93::table_2::FIGURE,
    gv93::figure_8::FIGURE,
    gv93::figure_9::FIGURE,
    gv93::figure_10::FIGURE,
    gv93::figure_11::FIGURE,
    gv93::fan_in::FIGURE,
    gv93::figure_6::FIGURE,
    ours::figure_1::FIGURE,
    ours::figure_2::FIGURE,
    ours::figure_3::FIGURE,
    ours::figure_4::FIGURE,
    ours::figure_5::FIGURE,
];

/// Returns the list of all figures as text.
pub fn list() -> String {
    let row = |figure: &Figure| vec![format!("  {}", figure.id), figure.title.to_owned()];
    let rows: Vec<Vec<String>> = figures().iter().map(row).collect();
    format!("Figures:\n{}", aligned(&rows, &[Align::Left; 2]))
}

/// Returns the figure of this name.
///
/// ```
/// assert_eq!(throng_papers::figures::find("ss98-10").unwrap().id, "SS98-9/10");
/// let error = throng_papers::figures::find("DT96-80").unwrap_err();
/// assert!(error.to_string().starts_with("figure DT96-80: no such figure; did you mean DT96-8"));
/// ```
///
/// # Errors
/// When there is none.
pub fn find(typed: &str) -> Result<&'static Figure, Error> {
    figures().iter().find(|figure| figure.is_called(typed)).ok_or_else(|| {
        let known = figures().iter().map(|figure| figure.id);
        unknown_name("figure", typed, "figure", known, "`throng figures --help` shows all")
    })
}

/// The resolved arguments of `throng figure` or `throng figures`.
#[derive(Debug)]
pub struct FiguresPlan {
    /// The figures, in the order of the list.
    pub figures: Vec<&'static Figure>,
    /// Size, first seed and threads.
    pub lab: Lab,
    /// The folder for files; it exists and is writable.
    pub out: PathBuf,
    /// Whether standard output carries JSON alone.
    pub json: bool,
    /// Whether there is also a summary of all, and the JSON is a list.
    pub all_in_one: bool,
}

/// Makes figures, writes their files and prints the outcome.
///
/// # Errors When a run fails its check or a file cannot be written. A claim that does not hold is
/// no error.
pub fn run(plan: &FiguresPlan) -> Result<(), Error> {
    let mut made = Vec::new();
    let mut files = 0;
    let with_summary = plan.all_in_one || plan.out.join(draw::SUMMARY).exists();
    for figure in &plan.figures {
        let one = figure.make(&plan.lab)?;
        files += draw::write_files(&one, &plan.out)?;
        if with_summary {
            // Written after each figure, so that an interrupted run leaves a true summary.
            draw::write_summary(&plan.out)?;
        }
        if !plan.json {
            output::print(&draw::text(&one))?;
        }
        made.push(one);
    }
    files += usize::from(with_summary);
    if plan.json {
        output::print(&draw::json(&made, plan.all_in_one))?;
    }
    output::say(&format!("{files} files written to {}\n", plan.out.display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_different_and_make_different_files() {
        let names: HashSet<&str> = figures().iter().map(|figure| figure.id).collect();
        let files: HashSet<String> =
            figures().iter().map(|figure| figure.file_stem().to_lowercase()).collect();
        assert_eq!((names.len(), files.len()), (figures().len(), figures().len()));
        for figure in figures() {
            assert!(figure.file_stem().chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
            assert_eq!(find(figure.id).unwrap().id, figure.id);
        }
    }

    #[test]
    fn a_figure_answers_to_each_of_its_numbers() {
        for typed in ["SS98-9/10", "SS98-9", "SS98-10", "ss98-9", "SS98-9-10", " ss98-9/10 "] {
            assert_eq!(find(typed).unwrap().id, "SS98-9/10", "{typed}");
        }
        assert_eq!(find("dt96-8B").unwrap().id, "DT96-8b");
        assert_eq!(find("DT96-8").unwrap().id, "DT96-8");
    }

    #[test]
    fn what_is_unknown_is_answered_with_what_is_near() {
        let error = find("SS98-9/11").unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("SS98-9/10"), "{error}");
        for typed in ["", "/", "DT96", "DT96-", "figure"] {
            assert!(find(typed).is_err(), "{typed}");
        }
    }
}
