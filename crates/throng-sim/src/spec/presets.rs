//! Machines that come with the crate. Each is a TOML file with a source for every number.

use super::MachineSpec;

/// A machine that comes with the crate.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    name: &'static str,
    text: &'static str,
}

impl Preset {
    /// Returns the name, as typed on a command line.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the file, with the sources of its numbers in the comments. It can be a start for a
    /// machine of your own.
    #[must_use]
    pub fn text(&self) -> &'static str {
        self.text
    }

    /// Returns the machine.
    #[must_use]
    pub fn spec(&self) -> MachineSpec {
        MachineSpec::from_toml(self.text).expect("presets are tested")
    }
}

macro_rules! preset {
    ($name:literal) => {
        Preset { name: $name, text: include_str!(concat!("../../machines/", $name, ".toml")) }
    };
}

/// Returns the machines that come with the crate.
#[must_use]
pub fn presets() -> &'static [Preset] {
    &[
        preset!("alewife"),
        preset!("ksr1"),
        preset!("sequent"),
        preset!("tc2000"),
        preset!("origin2000"),
        preset!("server"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_sound_named_as_their_files_and_can_be_written_and_read() {
        for preset in presets() {
            let spec = preset.spec();
            assert_eq!(spec.name, preset.name());
            assert_eq!(MachineSpec::from_toml(&spec.to_toml()), Ok(spec));
        }
    }
}
