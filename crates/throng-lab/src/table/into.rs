//! Tables within other files, such as a README, between two comments:
//!
//! ```markdown
//! <!-- table: results/2026-11-16-survey/report.json -->
//! What `throng table` prints.
//! <!-- end of table -->
//! ```
//!
//! With `short table` instead of `table`, what `throng table --short` prints.
//!
//! The path is as seen from the file. Comments within a block of code, such as these, are left alone.

use std::path::{Path, PathBuf};

use throng_papers::files::{REPORT_BYTES_MAX, read_text, real};
use throng_papers::output::write_file;

use super::Form;
use crate::error::Error;
use crate::survey::read::read;

const BEGIN: &str = "<!-- table: ";
const BEGIN_SHORT: &str = "<!-- short table: ";
const BEGIN_END: &str = " -->";
const END: &str = "<!-- end of table -->";

/// Puts the table of a report into a file, at its place. The file is left as it is if anything is
/// wrong.
///
/// # Errors
/// When the report is none, the file cannot be read or written, or has no place for this report.
pub fn replace(report: &Path, file: &Path) -> Result<(), Error> {
    let survey = read(report)?;
    // A link stays a link, and its target is replaced.
    let (report, file) = (real(report), real(file));
    let text =
        read_text(&file, REPORT_BYTES_MAX).map_err(|source| wrong(&file, source.to_string()))?;
    let folder = folder_of(&file);
    let mut places = 0;
    let changed = rewritten(&text, |form, named| {
        let is_this = real(&folder.join(named)) == report;
        places += usize::from(is_this);
        Ok(is_this.then(|| form.of(&survey)))
    });
    let changed = changed.map_err(|error| error.in_file(&file))?;
    if places == 0 {
        let named = report.strip_prefix(&folder).unwrap_or(&report).display();
        return Err(wrong(
            &file,
            format!(
                "has no lines `{BEGIN}{named}{BEGIN_END}` and `{END}`: put them where the table should be"
            ),
        ));
    }
    Ok(write_file(&file, &changed)?)
}

/// Returns the text with every table in it regenerated, from reports named relative to `folder`.
///
/// # Errors
/// When a report cannot be read, or a table has no end.
pub fn refreshed(text: &str, folder: &Path) -> Result<String, Error> {
    let table = |form: Form, named: &str| Ok(Some(form.of(&read(&folder.join(named))?)));
    rewritten(text, table).map_err(|error| error.in_file(folder))
}

/// An error in a text with tables.
enum Wrong {
    /// A table, given by its first line, has no end.
    NoEnd(String),
    /// Another error.
    Other(Error),
}

impl Wrong {
    fn in_file(self, file: &Path) -> Error {
        match self {
            Wrong::NoEnd(begin) => wrong(file, format!("after `{begin}` there is no line `{END}`")),
            Wrong::Other(error) => error,
        }
    }
}

fn wrong(file: &Path, why: String) -> Error {
    Error::Into { path: file.to_owned(), why }
}

/// Returns the text with other tables. `table` returns the table of a report, or `None` where it
/// should stay.
fn rewritten(
    text: &str,
    mut table: impl FnMut(Form, &str) -> Result<Option<String>, Error>,
) -> Result<String, Wrong> {
    let mut changed = String::new();
    let mut in_code = false;
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        changed.push_str(line);
        in_code ^= line.trim_start().starts_with("```");
        let Some((form, named)) = report_named(line).filter(|_| !in_code) else { continue };
        let mut kept = String::new();
        let end = loop {
            match lines.next() {
                Some(line) if line.trim() == END => break line,
                Some(line) if report_named(line).is_none() => kept.push_str(line),
                _ => return Err(Wrong::NoEnd(line.trim().to_owned())),
            }
        };
        changed.push_str(&table(form, named).map_err(Wrong::Other)?.unwrap_or(kept));
        changed.push_str(end);
    }
    Ok(changed)
}

/// Returns the report and the form that this line names, if it is the first line of a table.
fn report_named(line: &str) -> Option<(Form, &str)> {
    let named = line.trim().strip_suffix(BEGIN_END)?;
    let of = |form, begin: &str| named.strip_prefix(begin).map(|named| (form, named.trim()));
    of(Form::Whole, BEGIN).or_else(|| of(Form::Short, BEGIN_SHORT))
}

fn folder_of(file: &Path) -> PathBuf {
    file.parent().map(Path::to_owned).unwrap_or_default()
}
