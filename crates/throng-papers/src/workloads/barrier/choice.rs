//! The barrier of a run: a method and its shape.

use std::fmt;
use std::sync::Arc;

use throng::structures::barrier::{
    FanIn, Flags, Meeting, Registered, Reinit, Shape, ShapeError, WakeUp, methods,
};
use throng_sim::{MachineSpec, Sim};

use crate::error::Error;
use crate::workloads::topology::topology;

/// Largest fan-in that `FanInChoice::Machine` chooses, as in the default barrier.
const MOST: usize = 16;
/// The bounds of the search of GV93 Figure 5, as the paper had them on the KSR-1.
const FULLEST: FanIn = FanIn::Fullest { least: 3, most: 8 };

/// How the fan-in of a barrier's nodes is chosen, as typed on a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FanInChoice {
    /// This fan-in.
    Fixed(usize),
    /// The fan-in that GV93 Figure 5 chooses, up to 8.
    Fullest,
    /// By the groups of processors of the machine, up to 16.
    Machine,
}

impl FanInChoice {
    fn on(self, machine: &MachineSpec) -> FanIn {
        match self {
            FanInChoice::Fixed(fan_in) => FanIn::Fixed(fan_in),
            FanInChoice::Fullest => FULLEST,
            FanInChoice::Machine => FanIn::Machine { most: MOST, topology: topology(machine) },
        }
    }
}

impl fmt::Display for FanInChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FanInChoice::Fixed(fan_in) => write!(f, "{fan_in}"),
            FanInChoice::Fullest => f.write_str("fullest"),
            FanInChoice::Machine => f.write_str("machine"),
        }
    }
}

/// Options for the shape of a barrier; `None` means as in GV93. Displayed as options of `throng
/// simulate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BarrierTuning {
    /// Fan-in of a node. `None`: what the method's authors advise.
    pub fan_in: Option<FanInChoice>,
    /// Where arrival flags are. `None`: packed.
    pub flags: Option<Flags>,
    /// How waiting members learn that all have arrived. `None`: by one word.
    pub wake_up: Option<WakeUp>,
    /// How flags are made ready for the next round. `None`: cleared.
    pub reinit: Option<Reinit>,
}

impl BarrierTuning {
    /// Returns the shape for `members` members on this machine.
    pub fn shape(self, members: usize, machine: &MachineSpec) -> Shape {
        let mut shape = Shape::for_members(members);
        if let Some(fan_in) = self.fan_in {
            shape.fan_in = fan_in.on(machine);
        }
        shape.flags = self.flags.unwrap_or(shape.flags);
        shape.wake_up = self.wake_up.unwrap_or(shape.wake_up);
        shape.reinit = self.reinit.unwrap_or(shape.reinit);
        shape
    }
}

impl fmt::Display for BarrierTuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fan_in = self.fan_in.map(|fan_in| format!("--fan-in {fan_in}"));
        let flags = self.flags.map(|flags| format!("--flags {}", flags_in_words(flags)));
        let wake_up =
            self.wake_up.map(|wake_up| format!("--wake-up {}", wake_up_in_words(wake_up)));
        let reinit = self.reinit.map(|reinit| format!("--reinit {}", reinit_in_words(reinit)));
        let all = [fan_in, flags, wake_up, reinit];
        f.write_str(&all.into_iter().flatten().collect::<Vec<_>>().join(" "))
    }
}

/// Returns the flags' layout as typed on a command line.
pub fn flags_in_words(flags: Flags) -> &'static str {
    match flags {
        Flags::Packed => "packed",
        Flags::Padded => "padded",
    }
}

/// Returns the wake-up as typed on a command line.
pub fn wake_up_in_words(wake_up: WakeUp) -> &'static str {
    match wake_up {
        WakeUp::Global => "global",
        WakeUp::Tree => "tree",
    }
}

/// Returns the reinitialisation as typed on a command line.
pub fn reinit_in_words(reinit: Reinit) -> &'static str {
    match reinit {
        Reinit::Clear => "clear",
        Reinit::Count => "count",
    }
}

/// The options that change what a method does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// `--fan-in`.
    pub fan_in: bool,
    /// `--flags`.
    pub flags: bool,
    /// `--wake-up`.
    pub wake_up: bool,
    /// `--reinit`.
    pub reinit: bool,
}

/// Returns the options that the barrier of this name takes.
///
/// ```
/// use throng_papers::workloads::barrier::taken;
/// assert!(taken("static-fway").fan_in && !taken("central").fan_in);
/// ```
pub fn taken(method: &str) -> Taken {
    let none = Taken::default();
    match method {
        "dissemination" => Taken { flags: true, ..none },
        "combining-tree"
        | "combining-tree-locked"
        | "mcs-tree-bytes"
        | "dynamic-fway-bytes"
        | "dynamic-fway-all-go-on" => Taken { fan_in: true, wake_up: true, ..none },
        // A node has one flag.
        "tournament" => Taken { wake_up: true, ..none },
        "mcs-tree" | "dynamic-fway" => Taken { reinit: false, ..ALL },
        "static-fway" => ALL,
        // Central barriers have one word; for `shaped` the machine decides everything.
        _ => none,
    }
}

const ALL: Taken = Taken { fan_in: true, flags: true, wake_up: true, reinit: true };

impl Taken {
    /// Keeps the options of `tuning` that have an effect.
    pub fn of(self, tuning: BarrierTuning) -> BarrierTuning {
        BarrierTuning {
            fan_in: tuning.fan_in.filter(|_| self.fan_in),
            flags: tuning.flags.filter(|_| self.flags),
            wake_up: tuning.wake_up.filter(|_| self.wake_up),
            reinit: tuning.reinit.filter(|_| self.reinit),
        }
    }
}

/// Builds a barrier for a number of members on a machine.
type Build = Arc<
    dyn Fn(usize, &MachineSpec) -> Result<Box<dyn Meeting<Sim>>, ShapeError>
        + Send
        + Sync
        + 'static,
>;

/// A barrier to be built in a run.
#[derive(Clone)]
pub struct BarrierChoice {
    /// The method, as typed on a command line.
    pub method: &'static str,
    /// The options of `throng simulate` that build the same barrier, such as `--fan-in 4`.
    pub options: String,
    build: Build,
}

impl fmt::Debug for BarrierChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.options)
    }
}

impl BarrierChoice {
    /// Returns a method of the library with the options of `tuning`; otherwise as in GV93.
    pub fn registered(method: Registered<Sim>, tuning: BarrierTuning) -> Self {
        let name = method.about.name;
        let told = taken(name).of(tuning);
        // The default's method takes its shape from the machine and ignores all options.
        let used = if name == "shaped" {
            BarrierTuning { fan_in: Some(FanInChoice::Machine), ..told }
        } else {
            told
        };
        let build =
            move |members, machine: &MachineSpec| method.build(&used.shape(members, machine));
        Self::custom(name, told.to_string(), build)
    }

    /// Returns the method of this name with the options of `tuning`, or `None` if there is none.
    pub fn named(name: &str, tuning: BarrierTuning) -> Option<Self> {
        let method = methods::<Sim>().into_iter().find(|method| method.about.name == name)?;
        Some(Self::registered(method, tuning))
    }

    /// Returns a barrier built by `build`. `options` are those of `throng simulate` that give the
    /// same barrier. They distinguish it from others of the same method.
    pub fn custom(
        method: &'static str,
        options: impl Into<String>,
        build: impl Fn(usize, &MachineSpec) -> Result<Box<dyn Meeting<Sim>>, ShapeError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        BarrierChoice { method, options: options.into(), build: Arc::new(build) }
    }

    /// Builds the barrier for `members` members on this machine.
    ///
    /// # Errors
    /// When the method cannot be built in this shape.
    pub fn build(
        &self,
        members: usize,
        machine: &MachineSpec,
    ) -> Result<Box<dyn Meeting<Sim>>, Error> {
        (self.build)(members, machine)
            .map_err(|source| Error::Shape { method: self.method, source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::barrier::BarrierRun;

    #[test]
    fn an_option_is_taken_where_it_changes_the_run() {
        for method in methods::<Sim>() {
            let name = method.about.name;
            let hash = |tuning| {
                let barrier = BarrierChoice::registered(method, tuning);
                let machine = MachineSpec::preset("ksr1").unwrap();
                let run = BarrierRun::new(barrier, machine);
                BarrierRun { members: 16, rounds: 5, ..run }.measure().unwrap().trace_hash
            };
            let none = BarrierTuning::default();
            let usual = hash(none);
            let fan_ins = [2, 3].map(FanInChoice::Fixed);
            let changes = Taken {
                fan_in: fan_ins
                    .iter()
                    .any(|&f| hash(BarrierTuning { fan_in: Some(f), ..none }) != usual),
                flags: hash(BarrierTuning { flags: Some(Flags::Padded), ..none }) != usual,
                wake_up: hash(BarrierTuning { wake_up: Some(WakeUp::Tree), ..none }) != usual,
                reinit: hash(BarrierTuning { reinit: Some(Reinit::Count), ..none }) != usual,
            };
            assert_eq!(taken(name), changes, "{name}");
        }
    }

    #[test]
    fn options_are_displayed_as_they_are_typed() {
        let tuning = BarrierTuning {
            fan_in: Some(FanInChoice::Fullest),
            flags: Some(Flags::Padded),
            wake_up: Some(WakeUp::Tree),
            reinit: Some(Reinit::Count),
        };
        let options = |name| BarrierChoice::named(name, tuning).unwrap().options;
        assert_eq!(
            options("static-fway"),
            "--fan-in fullest --flags padded --wake-up tree --reinit count"
        );
        assert_eq!(options("central"), "");
        assert!(BarrierChoice::named("gate", tuning).is_none());
    }
}
