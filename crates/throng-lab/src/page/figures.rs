//! Reads the figures of a folder, as `throng figures` has written them.

use std::path::Path;

use serde::Deserialize;
use throng_papers::arguments::not_allowed;
use throng_papers::figures;
use throng_papers::figures::claim::Claim;
use throng_papers::files::{self, REPORT_BYTES_MAX};

use super::Figure;
use crate::error::Error;

/// The fields of a figure's JSON that the page needs.
#[derive(Deserialize)]
struct Kept {
    id: String,
    title: String,
    claims: Vec<Claim>,
}

/// Returns the figures in this folder, in the order of `throng figures`.
///
/// A figure that has not been made is left out. One with a broken file is an error.
///
/// # Errors
/// When there is no figure in the folder, or a file of one cannot be read.
pub fn figures(folder: &Path) -> Result<Vec<Figure>, Error> {
    let made = figures::figures().iter().map(|figure| folder.join(figure.file_stem() + ".json"));
    let found: Vec<Figure> =
        made.filter(|json| json.exists()).map(|json| one(&json)).collect::<Result<_, _>>()?;
    if found.is_empty() {
        return Err(not_allowed(
            "--figures",
            folder.display().to_string(),
            "a folder that `throng figures --out DIR` has filled",
        )
        .into());
    }
    Ok(found)
}

/// Reads one figure, from its JSON and the picture beside it.
fn one(json: &Path) -> Result<Figure, Error> {
    let read = |path: &Path| {
        files::read_text(path, REPORT_BYTES_MAX)
            .map_err(|error| Error::Report { path: path.to_owned(), why: error.to_string() })
    };
    let kept: Kept = serde_json::from_str(&read(json)?).map_err(|error| Error::Report {
        path: json.to_owned(),
        why: format!("not what `throng figures` writes: {error}"),
    })?;
    Ok(Figure {
        id: kept.id,
        title: kept.title,
        svg: read(&json.with_extension("svg"))?,
        claims: kept.claims.iter().map(line).collect(),
    })
}

/// Formats a claim in a line.
fn line(claim: &Claim) -> String {
    format!("{}: {} (measured: {})", claim.verdict(), claim.text, claim.measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_the_repository_are_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/2026-11-20-figures");
        let found = figures(&folder).unwrap();
        assert_eq!(found.len(), figures::figures().len());
        assert!(
            found.iter().all(|figure| figure.svg.contains("</svg>") && !figure.claims.is_empty())
        );
    }

    #[test]
    fn a_folder_without_figures_is_refused() {
        let error = figures(Path::new("no/such/folder")).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let said = error.to_string();
        assert!(said.starts_with("--figures \"no/such/folder\": must be a folder that"), "{said}");
    }
}
