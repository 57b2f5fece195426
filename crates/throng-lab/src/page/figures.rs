//! The figures of a folder, as `throng figures` has written them.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::Figure;
use crate::error::Error;
use crate::papers;
use crate::papers::claim::Claim;

/// What the page needs of a figure's JSON.
#[derive(Deserialize)]
struct Kept {
    id: String,
    title: String,
    claims: Vec<Claim>,
}

/// The figures in this folder, in the order of `throng figures`.
///
/// A figure that has not been made is left out; one of which a file is broken is an error.
///
/// # Errors
/// When there is no figure in the folder, or a file of one cannot be read.
pub fn figures(folder: &Path) -> Result<Vec<Figure>, Error> {
    let made = papers::figures().iter().map(|figure| folder.join(figure.file_stem() + ".json"));
    let found: Vec<Figure> =
        made.filter(|json| json.exists()).map(|json| one(&json)).collect::<Result<_, _>>()?;
    if found.is_empty() {
        return Err(Error::Value {
            option: "--figures",
            value: folder.display().to_string(),
            allowed: "a folder that `throng figures --out DIR` has filled".to_owned(),
        });
    }
    Ok(found)
}

/// One figure, from its JSON and the picture beside it.
fn one(json: &Path) -> Result<Figure, Error> {
    let read = |path: &Path| {
        fs::read_to_string(path)
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

/// A claim in a line.
fn line(claim: &Claim) -> String {
    format!("{}: {} (measured: {})", claim.verdict(), claim.text, claim.measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_the_repository_are_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/2026-11-15-figures");
        let found = figures(&folder).unwrap();
        assert_eq!(found.len(), papers::figures().len());
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
