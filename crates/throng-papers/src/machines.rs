//! What `--machine` stands for: a machine that comes with the simulator, or a TOML file of one's own.
//!
//! ```
//! use throng_papers::machines::Machine;
//!
//! let alewife = Machine::find("alewife")?;
//! assert_eq!(alewife.spec.processors, 256);
//! let error = Machine::find("alewive").unwrap_err();
//! assert!(error.to_string().contains("did you mean alewife?"), "{error}");
//! # Ok::<(), throng_papers::error::Error>(())
//! ```

use std::path::{Path, PathBuf};

use throng_sim::MachineSpec;
use throng_sim::spec::presets;

use crate::arguments::unknown_name;
use crate::error::Error;
use crate::files::read_text;

/// The simplest machine, where every access has the same cost.
const IDEAL: &str = "ideal";
const IDEAL_ACCESS_CYCLES: u64 = 10;

/// Largest size of a machine file in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A machine, and the argument that names it.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its description.
    pub spec: MachineSpec,
    /// The value of `--machine` for it: a name or a file.
    pub argument: String,
    /// Its TOML file, with all comments.
    pub text: String,
}

impl Machine {
    /// Returns the machine of this name, or the one described in a file of this name.
    ///
    /// # Errors
    /// When there is neither, or the file cannot be read or does not describe a machine.
    pub fn find(argument: &str) -> Result<Self, Error> {
        if let Some(known) = all().into_iter().find(|machine| machine.argument == argument) {
            return Ok(known);
        }
        let path = Path::new(argument);
        let meant_as_file = argument.contains(['.', '/', '\\']) || path.exists();
        if argument.is_empty() || !meant_as_file {
            let names: Vec<String> = all().into_iter().map(|machine| machine.argument).collect();
            return Err(unknown_name(
                "machine",
                argument,
                "machine",
                names.iter().map(String::as_str),
                "`throng machines` shows all; the name of a TOML file is also allowed",
            ));
        }
        Self::read(path)
    }

    fn read(path: &Path) -> Result<Self, Error> {
        let wrong = |why: String| Error::MachineFile { path: PathBuf::from(path), why };
        let text = read_text(path, FILE_BYTES_MAX)
            .map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let spec = MachineSpec::from_toml(&text).map_err(|error| wrong(error.to_string()))?;
        Ok(Machine { spec, argument: path.display().to_string(), text })
    }

    fn named(name: &str, spec: MachineSpec, text: impl Into<String>) -> Self {
        Machine { spec, argument: name.to_owned(), text: text.into() }
    }
}

/// Returns every machine that has a name.
pub fn all() -> Vec<Machine> {
    let ideal = MachineSpec::ideal(IDEAL_ACCESS_CYCLES);
    let ideal_text = ideal.to_toml();
    let presets = presets().iter();
    presets
        .map(|preset| Machine::named(preset.name(), preset.spec(), preset.text()))
        .chain([Machine::named(IDEAL, ideal, ideal_text)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_is_found_by_its_name_and_its_text_describes_it() {
        for machine in all() {
            let found = Machine::find(&machine.argument).unwrap();
            assert_eq!(found.spec, machine.spec);
            assert_eq!(MachineSpec::from_toml(&found.text).unwrap(), machine.spec);
            assert_eq!(machine.spec.name, machine.argument);
        }
    }

    #[test]
    fn what_is_neither_name_nor_file_is_refused() {
        let message = |name: &str| Machine::find(name).unwrap_err().to_string();
        assert!(message("KSR-1").contains("did you mean ksr1?"), "{}", message("KSR-1"));
        assert!(message("").starts_with("machine \"\": no such machine"), "{}", message(""));
        let missing = message("no/such/file.toml");
        assert!(missing.starts_with("machine no/such/file.toml: cannot be read: "), "{missing}");
        let folder = message(".");
        assert!(folder.starts_with("machine .: cannot be read: "), "{folder}");
    }
}
