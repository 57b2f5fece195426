//! Which run is shown: a structure, a machine, and what decides all that is random.

use std::fmt;

use throng::ShapeError;
use throng::structures::barrier::{self, Meeting};
use throng::structures::counter::reactive::{Policy, ReactiveShape, ReactiveTree};
use throng::structures::counter::{self, Counting};
use throng_papers::arguments::{not_allowed, unknown_name};
use throng_papers::error::Error;
use throng_papers::machines::{self, Machine};
use throng_sim::Sim;

/// More processors would be too small in the picture.
pub const MAX_PROCESSORS: usize = 32;
/// Most calls of each processor.
pub const MAX_CALLS: usize = 100;
/// Few enough to follow each of them.
const PROCESSORS: usize = 8;
/// Where all accesses cost the same.
pub const MACHINE: &str = "ideal";

/// When the reactive tree changes its shape: as in its paper, with times that fit eight processors of the ideal machine,
/// and fewer calls in a row, so that it changes within a picture's time.
pub const REACTIVE: Policy = Policy::PAPER.run(4).unfold_above(150).fold_below(60);

/// A structure that can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// A counter, by its name.
    Counter(&'static str),
    /// A barrier, by its name.
    Barrier(&'static str),
}

impl Structure {
    /// Returns every structure.
    pub fn all() -> Vec<Structure> {
        let counters = counter::methods::<Sim>();
        let barriers = barrier::methods::<Sim>();
        let counters = counters.iter().map(|method| Structure::Counter(method.about.name));
        counters
            .chain(barriers.iter().map(|method| Structure::Barrier(method.about.name)))
            .collect()
    }

    /// Finds the counter of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn counter(name: &str) -> Result<Self, Error> {
        let names = counter::methods::<Sim>().into_iter().map(|method| method.about.name);
        find("--counter", "counter", name, names.collect()).map(Structure::Counter)
    }

    /// Finds the barrier of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn barrier(name: &str) -> Result<Self, Error> {
        let names = barrier::methods::<Sim>().into_iter().map(|method| method.about.name);
        find("--barrier", "barrier", name, names.collect()).map(Structure::Barrier)
    }

    /// Returns its kind, which is its key in an address.
    pub fn kind(self) -> &'static str {
        match self {
            Structure::Counter(_) => "counter",
            Structure::Barrier(_) => "barrier",
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Structure::Counter(name) | Structure::Barrier(name) => name,
        }
    }

    /// Returns what it is, in one line, and the paper that it is from.
    pub fn about(self) -> (&'static str, &'static str) {
        let found = match self {
            Structure::Counter(name) => counter::methods::<Sim>()
                .iter()
                .find(|method| method.about.name == name)
                .map(|method| (method.about.summary, method.about.paper)),
            Structure::Barrier(name) => barrier::methods::<Sim>()
                .iter()
                .find(|method| method.about.name == name)
                .map(|method| (method.about.summary, method.about.paper)),
        };
        found.unwrap_or_default()
    }

    /// Returns whether it changes its shape with the load.
    pub fn changes_shape(self) -> bool {
        matches!(self, Structure::Counter(name)
            if name == "reactive" || name == "counter" || name.starts_with("self-tuning"))
    }

    fn calls(self) -> usize {
        match self {
            Structure::Barrier(_) => 3,
            Structure::Counter(_) if self.changes_shape() => 12,
            Structure::Counter(_) => 4,
        }
    }
}

fn find(
    option: &'static str,
    kind: &'static str,
    name: &str,
    known: Vec<&'static str>,
) -> Result<&'static str, Error> {
    let found = known.iter().copied().find(|&other| other == name);
    found.ok_or_else(|| unknown_name(option, name, kind, known, "`throng list` shows all"))
}

/// A run: the same choice gives the same run, step by step.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The structure.
    pub structure: Structure,
    /// The simulated machine.
    pub machine: Machine,
    /// The number of processors.
    pub processors: usize,
    /// The number of calls of each processor; of a barrier, the number of rounds.
    pub calls: usize,
    /// What decides all that is random.
    pub seed: u64,
}

impl Choice {
    /// Returns the usual run of a structure.
    ///
    /// # Errors
    /// If there is no machine to run it on.
    pub fn of(structure: Structure) -> Result<Self, Error> {
        let machine = Machine::find(MACHINE)?;
        let calls = structure.calls();
        Ok(Choice { structure, machine, processors: PROCESSORS, calls, seed: 1 })
    }

    /// Builds the counter.
    ///
    /// # Errors
    /// If it cannot be built for this number of processors.
    pub fn build_counter(&self, name: &'static str) -> Result<Box<dyn Counting<Sim>>, Error> {
        let width = if self.processors <= 12 { 4 } else { 8 };
        let refused = |source| Error::Shape { method: name, source };
        if name == "reactive" {
            let depth = usize::ilog2(width);
            let tree = ReactiveTree::on_machine(&ReactiveShape::of_depth(depth).policy(REACTIVE));
            return tree.map(|tree| Box::new(tree) as Box<dyn Counting<Sim>>).map_err(refused);
        }
        let is_tree = name.starts_with("diffracting") || name.starts_with("self-tuning");
        let width = match name {
            "funnel" => Some(self.processors.div_ceil(4)),
            _ if is_tree || name.starts_with("counting-network") => Some(width),
            _ => None,
        };
        let shape = counter::Shape::for_processors(self.processors).width(width);
        let methods = counter::methods::<Sim>();
        let method = methods.iter().find(|method| method.about.name == name);
        built(method.map(|method| method.build(&shape))).map_err(refused)
    }

    /// Builds the barrier.
    ///
    /// # Errors
    /// If it cannot be built for this number of members.
    pub fn build_barrier(&self, name: &'static str) -> Result<Box<dyn Meeting<Sim>>, Error> {
        let fan_in = barrier::FanIn::Fixed(if self.processors <= 4 { 2 } else { 4 });
        let shape = barrier::Shape::for_members(self.processors);
        let shape = if name == "shaped" { shape } else { shape.fan_in(fan_in) };
        let methods = barrier::methods::<Sim>();
        let method = methods.iter().find(|method| method.about.name == name);
        let refused = |source| Error::Shape { method: name, source };
        built(method.map(|method| method.build(&shape))).map_err(refused)
    }

    /// Reads the part of an address behind the `?`. What it leaves out is as in `self`, or usual for a structure that
    /// it names. Returns the step as well.
    ///
    /// # Errors
    /// A sentence about what is wrong.
    pub fn read(&self, query: &str) -> Result<(Self, Option<usize>), String> {
        let mut choice = self.clone();
        let mut step = None;
        let pairs: Vec<(&str, &str)> = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .collect();
        for &(key, value) in &pairs {
            let structure = match key {
                "counter" => Structure::counter(value),
                "barrier" => Structure::barrier(value),
                _ => continue,
            };
            let structure = structure.map_err(|error| format!("{error}."))?;
            if structure != self.structure {
                choice.structure = structure;
                choice.calls = structure.calls();
            }
        }
        for (key, value) in pairs {
            match key {
                "counter" | "barrier" => {}
                "seed" => choice.seed = whole(key, value, 0, u64::MAX)?,
                "processors" => {
                    choice.processors = whole(key, value, 1, MAX_PROCESSORS as u64)? as usize;
                }
                "calls" => choice.calls = whole(key, value, 1, MAX_CALLS as u64)? as usize,
                "step" => step = Some(whole(key, value, 0, u64::from(u32::MAX))? as usize),
                "machine" if value == encoded(&self.machine.argument) => {}
                // Names only: an address must not make this program read files.
                "machine" => {
                    let named = machines::all().into_iter().find(|known| known.argument == value);
                    choice.machine =
                        named.ok_or_else(|| format!("machine {value}: no such machine."))?;
                }
                _ => return Err(format!("{key}: the address has no such part.")),
            }
        }
        Ok((choice, step))
    }
}

/// The part of an address that leads to the run.
impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Choice { structure, machine, processors, calls, seed } = self;
        let (kind, name) = (structure.kind(), structure.name());
        let machine = encoded(&machine.argument);
        write!(
            f,
            "{kind}={name}&seed={seed}&processors={processors}&calls={calls}&machine={machine}"
        )
    }
}

/// Returns the text with all characters encoded that mean something in an address.
fn encoded(text: &str) -> String {
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || b"-._~/".contains(&c);
    let one = |c: u8| if is_plain(c) { char::from(c).to_string() } else { format!("%{c:02X}") };
    text.bytes().map(one).collect()
}

fn built<T>(built: Option<Result<T, ShapeError>>) -> Result<T, ShapeError> {
    built.expect("a structure is made from a known name only")
}

fn whole(key: &str, value: &str, least: u64, most: u64) -> Result<u64, String> {
    let number = value.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("{key}={value}: must be a whole number from {least} to {most}."))
}

/// Returns the machine of `--machine`.
///
/// # Errors
/// If there is no such machine, or it stands for real threads.
pub fn simulated(argument: &str) -> Result<Machine, Error> {
    if ["native", "real", "this", "threads"].contains(&argument) {
        return Err(not_allowed(
            "--machine",
            argument,
            "a simulated machine: recording each step of real threads would change what they do. \
             `throng watch` without --counter and --barrier shows threads of this machine",
        ));
    }
    Machine::find(argument)
}
