//! The machine file: what was there stays there until all has gone well.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The file where nobody says otherwise.
const USUAL: &str = "throng-machine.toml";

/// Where the machine file goes; found to be possible before anything is measured.
#[derive(Debug)]
pub(super) struct MachineTarget {
    /// As it was typed.
    path: PathBuf,
    /// Where that leads to.
    real: PathBuf,
}

impl MachineTarget {
    /// Sees whether the file can be written. It is not touched yet.
    pub(super) fn find(typed: Option<&Path>) -> Result<Self, Error> {
        let path = typed.unwrap_or(Path::new(USUAL)).to_owned();
        if path.as_os_str().is_empty() || path == Path::new("-") {
            return Err(Error::Value {
                option: "--out",
                value: path.display().to_string(),
                allowed: "the name of a file".to_owned(),
            });
        }
        // A link stays one: what it leads to is replaced.
        let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        let target = MachineTarget { path, real };
        target.try_out().map_err(|source| target.refused(source))?;
        Ok(target)
    }

    /// Sees that the other output is not the same file.
    pub(super) fn is_not(&self, other: Option<&Path>) -> Result<(), Error> {
        let Some(other) = other else { return Ok(()) };
        let is_same = other == self.path
            || fs::canonicalize(other).is_ok_and(|real| real == self.real && real.is_file());
        match is_same {
            true => Err(Error::Value {
                option: "--json",
                value: other.display().to_string(),
                allowed: "another file than that of --out".to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// As it was typed.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the text in the place of what was there.
    pub(super) fn write(&self, text: &str) -> Result<(), Error> {
        let written = if self.is_replaced() {
            let beside = self.beside();
            let done = fs::write(&beside, text).and_then(|()| fs::rename(&beside, &self.real));
            if done.is_err() {
                let _ = fs::remove_file(&beside);
            }
            done
        } else {
            fs::write(&self.real, text)
        };
        written.map_err(|source| self.refused(source))
    }

    fn try_out(&self) -> io::Result<()> {
        if self.real.exists() {
            // Whatever it is, it must be such that it can be written to.
            OpenOptions::new().write(true).open(&self.real)?;
        }
        if self.is_replaced() {
            let beside = self.beside();
            fs::write(&beside, [])?;
            fs::remove_file(&beside)?;
        }
        Ok(())
    }

    /// Whether another file takes its place. What is no regular file (`/dev/null`, a pipe) is written to.
    fn is_replaced(&self) -> bool {
        fs::metadata(&self.real).map_or(true, |found| found.is_file())
    }

    /// A file in the same folder, of this process alone.
    fn beside(&self) -> PathBuf {
        let mut name = self.real.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.new", std::process::id()));
        self.real.with_file_name(name)
    }

    fn refused(&self, source: io::Error) -> Error {
        Error::Folder { path: self.path.clone(), source }
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
        // Where the new file would be written first, something else is.
        fs::create_dir(target.beside()).unwrap();
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
            assert!(!target.is_replaced());
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
