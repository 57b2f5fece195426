//! A barrier to be built in a run: a method, and what there is to say about its shape.

use std::fmt;
use std::sync::Arc;

use throng::barrier::{
    FanIn, Flags, Meeting, Registered, Reinit, Shape, ShapeError, WakeUp, methods,
};
use throng_sim::{MachineSpec, Sim};

use crate::error::Error;
use crate::simulated::topology::topology;

/// The largest fan-in where the machine decides, as the default has it.
const MOST: usize = 16;
/// The bounds of the search of GV93 Figure 5, as the paper had them on the KSR-1.
const FULLEST: FanIn = FanIn::Fullest { least: 3, most: 8 };

/// How many meet at a node, as typed on a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FanInChoice {
    /// So many.
    Fixed(usize),
    /// As GV93 Figure 5 chooses, up to 8.
    Fullest,
    /// By the groups of the machine, up to 16.
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

/// What there is to say about the shape of a barrier, where it should not be as in GV93. Displayed
/// as options of `throng simulate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BarrierTuning {
    /// How many meet at a node; what the method's authors advise where it is not said.
    pub fan_in: Option<FanInChoice>,
    /// Where arrival flags lie; packed where it is not said.
    pub flags: Option<Flags>,
    /// How those who wait learn that all have come; by one word where it is not said.
    pub wake_up: Option<WakeUp>,
    /// How flags are made ready for the next round; cleared where it is not said.
    pub reinit: Option<Reinit>,
}

impl BarrierTuning {
    /// The shape for so many members on this machine.
    #[must_use]
    pub fn shape(self, members: usize, machine: &MachineSpec) -> Shape {
        let usual = Shape::for_members(members);
        Shape {
            fan_in: self.fan_in.map_or(usual.fan_in, |fan_in| fan_in.on(machine)),
            flags: self.flags.unwrap_or(usual.flags),
            wake_up: self.wake_up.unwrap_or(usual.wake_up),
            reinit: self.reinit.unwrap_or(usual.reinit),
            ..usual
        }
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

/// As typed on a command line.
#[must_use]
pub fn flags_in_words(flags: Flags) -> &'static str {
    match flags {
        Flags::Packed => "packed",
        Flags::Padded => "padded",
    }
}

/// As typed on a command line.
#[must_use]
pub fn wake_up_in_words(wake_up: WakeUp) -> &'static str {
    match wake_up {
        WakeUp::Global => "global",
        WakeUp::Tree => "tree",
    }
}

/// As typed on a command line.
#[must_use]
pub fn reinit_in_words(reinit: Reinit) -> &'static str {
    match reinit {
        Reinit::Clear => "clear",
        Reinit::Count => "count",
    }
}

/// Which options change what a method does.
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

/// The options that the barrier of this name takes.
///
/// ```
/// use throng_lab::simulated::barrier::taken;
/// assert!(taken("static-fway").fan_in && !taken("central").fan_in);
/// ```
#[must_use]
pub fn taken(method: &str) -> Taken {
    let none = Taken::default();
    match method {
        "dissemination" => Taken { flags: true, ..none },
        "combining-tree" => Taken { fan_in: true, wake_up: true, ..none },
        // A node has one flag.
        "tournament" => Taken { wake_up: true, ..none },
        "mcs-tree" | "dynamic-fway" => Taken { reinit: false, ..ALL },
        "static-fway" => ALL,
        // One word for all; or the machine decides everything.
        _ => none,
    }
}

const ALL: Taken = Taken { fan_in: true, flags: true, wake_up: true, reinit: true };

impl Taken {
    /// What of `tuning` has an effect.
    #[must_use]
    pub fn of(self, tuning: BarrierTuning) -> BarrierTuning {
        BarrierTuning {
            fan_in: tuning.fan_in.filter(|_| self.fan_in),
            flags: tuning.flags.filter(|_| self.flags),
            wake_up: tuning.wake_up.filter(|_| self.wake_up),
            reinit: tuning.reinit.filter(|_| self.reinit),
        }
    }
}

/// How to build a barrier for so many members on a machine.
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
    /// What `throng simulate` must be told to build the same one, such as `--fan-in 4`.
    pub options: String,
    build: Build,
}

impl fmt::Debug for BarrierChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.options)
    }
}

impl BarrierChoice {
    /// A method of the library, as `tuning` says; else as in GV93.
    #[must_use]
    pub fn registered(method: Registered<Sim>, tuning: BarrierTuning) -> Self {
        let name = method.about.name;
        let told = taken(name).of(tuning);
        // The default's method shapes itself by the machine, whatever is said.
        let used = if name == "shaped" {
            BarrierTuning { fan_in: Some(FanInChoice::Machine), ..told }
        } else {
            told
        };
        let build =
            move |members, machine: &MachineSpec| method.build(&used.shape(members, machine));
        Self::custom(name, told.to_string(), build)
    }

    /// The method of this name, as `tuning` says; none if there is none.
    #[must_use]
    pub fn named(name: &str, tuning: BarrierTuning) -> Option<Self> {
        let method = methods::<Sim>().into_iter().find(|method| method.about.name == name)?;
        Some(Self::registered(method, tuning))
    }

    /// Any barrier. `options` are those of `throng simulate` that give the same one, and tell it
    /// from others of the same method.
    #[must_use]
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

    /// The barrier for so many members on this machine.
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
    use crate::simulated::barrier::BarrierRun;

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
