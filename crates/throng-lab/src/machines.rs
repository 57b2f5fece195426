//! `throng machines`, and what `--machine` stands for: a machine that comes with the simulator, or
//! a TOML file of one's own.
//!
//! ```
//! use throng_lab::machines::Machine;
//!
//! let alewife = Machine::find("alewife")?;
//! assert_eq!(alewife.spec.processors, 256);
//! let error = Machine::find("alewive").unwrap_err();
//! assert!(error.to_string().contains("did you mean alewife?"), "{error}");
//! # Ok::<(), throng_lab::error::Error>(())
//! ```

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Serialize;
use throng_sim::MachineSpec;
use throng_sim::spec::presets;

use crate::cli::MachinesArguments;
use crate::error::Error;
use crate::names::suggestions;
use crate::output;
use crate::simulated::messages::Network;
use crate::table::{Align::Left, Align::Right, aligned};

/// The plainest machine: what an access costs there.
const IDEAL: &str = "ideal";
const IDEAL_ACCESS_CYCLES: u64 = 10;

/// No description of a machine is longer than this.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A machine, and how it was asked for.
#[derive(Clone, Debug)]
pub struct Machine {
    /// What it is made of.
    pub spec: MachineSpec,
    /// What must be typed to get it: a name or a file.
    pub argument: String,
    /// Its TOML file, with all comments.
    pub text: String,
}

impl Machine {
    /// The machine of this name, or the one described in a file of this name.
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
            return Err(Error::UnknownName {
                option: "machine",
                name: argument.to_owned(),
                kind: "machine",
                suggestions: suggestions(argument, names.iter().map(String::as_str)),
                hint: "`throng machines` shows all; the name of a TOML file is also allowed",
            });
        }
        Self::read(path)
    }

    fn read(path: &Path) -> Result<Self, Error> {
        let wrong = |why: String| Error::MachineFile { path: PathBuf::from(path), why };
        let text = read_text(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let spec = MachineSpec::from_toml(&text).map_err(|error| wrong(error.to_string()))?;
        Ok(Machine { spec, argument: path.display().to_string(), text })
    }

    fn named(name: &str, spec: MachineSpec, text: impl Into<String>) -> Self {
        Machine { spec, argument: name.to_owned(), text: text.into() }
    }
}

fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let length = File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if length as u64 > FILE_BYTES_MAX {
        let why = format!("it is longer than {FILE_BYTES_MAX} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(text)
}

/// Every machine that has a name.
#[must_use]
pub fn all() -> Vec<Machine> {
    let ideal = MachineSpec::ideal(IDEAL_ACCESS_CYCLES);
    let ideal_text = ideal.to_toml();
    let presets = presets().iter();
    presets
        .map(|preset| Machine::named(preset.name(), preset.spec(), preset.text()))
        .chain([Machine::named(IDEAL, ideal, ideal_text)])
        .collect()
}

/// Does `throng machines`.
///
/// # Errors
/// When there is no such machine, or standard output cannot be written.
pub fn show(typed: &MachinesArguments) -> Result<(), Error> {
    let text = match (&typed.name, typed.json) {
        (None, false) => list(&all()),
        (None, true) => {
            let machines = all().into_iter().map(|machine| machine.spec).collect();
            output::json(&Document { machines })
        }
        (Some(name), false) => Machine::find(name)?.text,
        (Some(name), true) => output::json(&Machine::find(name)?.spec),
    };
    output::print(&text)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Document {
    machines: Vec<MachineSpec>,
}

fn list(machines: &[Machine]) -> String {
    let heads = ["  name", "processors", "MHz", "network", "coherence", "what it is"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(machines.iter().map(|Machine { spec, .. }| {
        vec![
            format!("  {}", spec.name),
            spec.processors.to_string(),
            spec.clock_mhz.to_string(),
            spec.network.kind().to_owned(),
            spec.coherence.kind().to_owned(),
            spec.about.clone(),
        ]
    }));
    let table = aligned(&rows, &[Left, Right, Right, Left, Left, Left]);
    format!(
        "Simulated machines: each can be built with any number of processors\n\n{table}{MORE}{}",
        networks()
    )
}

/// The networks of messages, which only figures use.
fn networks() -> String {
    let row = |network: Network| vec![format!("  {network}"), network.about().to_owned()];
    let rows: Vec<Vec<String>> = Network::ALL.map(row).to_vec();
    let table = aligned(&rows, &[Left; 2]);
    format!(
        "\nSimulated networks of messages, for the figures DT96-18 to DT96-T2 and THRONG-5\n\n{table}"
    )
}

const MORE: &str = "
A machine of your own is a TOML file; one of these is a good start, and names its sources:
  throng machines alewife > my.toml
  throng simulate diffracting --machine my.toml
";

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
    fn the_list_has_a_line_for_each() {
        let text = list(&all());
        for Machine { spec, .. } in all() {
            let mut lines = text.lines().filter(|line| line.contains(&spec.about));
            let line = lines.next().unwrap_or_else(|| panic!("{} is not listed", spec.name));
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(words[0], spec.name);
            assert_eq!(words[1], spec.processors.to_string());
            assert_eq!(words[3..5], [spec.network.kind(), spec.coherence.kind()]);
        }
    }

    #[test]
    fn networks_are_listed_too() {
        let text = list(&all());
        for network in Network::ALL {
            assert!(text.contains(&format!("  {network} ")), "{text}");
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
