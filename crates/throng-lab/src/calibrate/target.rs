//! Writes the machine file. An existing file stays until everything has succeeded.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use throng_papers::arguments::not_allowed;
use throng_papers::files;

use crate::error::Error;

/// The default name of the file.
const USUAL: &str = "throng-machine.toml";

/// The path of the machine file, checked before anything is measured.
#[derive(Debug)]
pub(crate) struct MachineTarget {
    /// As it was typed.
    path: PathBuf,
    /// With links resolved.
    real: PathBuf,
}

impl MachineTarget {
    /// Checks that the file can be written, without touching it.
    pub(crate) fn find(typed: Option<&Path>) -> Result<Self, Error> {
        let path = typed.unwrap_or(Path::new(USUAL)).to_owned();
        if path.as_os_str().is_empty() || path == Path::new("-") {
            return Err(
                not_allowed("--out", path.display().to_string(), "the name of a file").into()
            );
        }
        let real = files::real(&path);
        let target = MachineTarget { path, real };
        files::try_out(&target.path).map_err(|source| target.refused(source))?;
        Ok(target)
    }

    /// Checks that the other output is not the same file.
    pub(crate) fn is_not(&self, other: Option<&Path>) -> Result<(), Error> {
        let Some(other) = other else { return Ok(()) };
        let is_same = other == self.path
            || fs::canonicalize(other).is_ok_and(|real| real == self.real && real.is_file());
        match is_same {
            true => Err(not_allowed(
                "--json",
                other.display().to_string(),
                "another file than that of --out",
            )
            .into()),
            false => Ok(()),
        }
    }

    /// As it was typed.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the file's contents.
    pub(crate) fn write(&self, text: &str) -> Result<(), Error> {
        files::write_whole(&self.path, text).map_err(|source| self.refused(source))
    }

    fn refused(&self, source: io::Error) -> Error {
        throng_papers::error::Error::Folder { path: self.path.clone(), source }.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("throng-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = folder("replaced");
        let path = folder.join("a.toml");
        fs::write(&path, "old").unwrap();
        let target = MachineTarget::find(Some(&path)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old", "finding changes nothing");
        target.write("new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_is_kept_when_its_place_is_gone_in_the_meantime() {
        let folder = folder("kept");
        let path = folder.join("a.toml");
        fs::write(&path, "old").unwrap();
        let target = MachineTarget::find(Some(&path)).unwrap();
        // The path of the temporary file is taken by a folder.
        fs::create_dir(files::beside(&path)).unwrap();
        let error = target.write("new").unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        let null = Path::new("/dev/null");
        if null.exists() {
            let target = MachineTarget::find(Some(null)).unwrap();
            target.write("nothing").unwrap();
            assert!(!fs::metadata(null).unwrap().is_file());
        }
    }

    #[test]
    fn names_that_are_no_files_are_refused() {
        for wrong in ["", "-", ".", "no/such/folder/a.toml"] {
            let error = MachineTarget::find(Some(Path::new(wrong))).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{wrong}");
        }
    }
}
