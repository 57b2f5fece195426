//! The measured barriers: those of the library, and those that programs use today.

use std::sync::Arc;

use throng::Barrier;
use throng::machine::Native;
use throng::structures::barrier::{
    FanIn, Flags, Meeting, Member, Registered, Shape, methods, team,
};
use throng::structures::counter::ShapeError;
use throng::topology::Topology;

use super::witness::Witness;
use crate::bench::Origin;

/// One thread's handle of a barrier.
pub trait Party: Send {
    /// Waits until all threads have arrived.
    fn wait(&mut self);

    /// Makes `count` rounds behind one dynamic dispatch, checked by `witness`.
    fn rounds(&mut self, count: u64, witness: &mut Witness<'_>) {
        for _ in 0..count {
            witness.comes();
            self.wait();
            witness.leaves();
        }
    }
}

/// The parties of one barrier, by rank.
pub type Parties = Vec<Box<dyn Party>>;

impl<B: Meeting> Party for Member<B> {
    #[inline]
    fn wait(&mut self) {
        Member::wait(self);
    }
}

impl Party for throng::barrier::Member {
    #[inline]
    fn wait(&mut self) {
        throng::barrier::Member::wait(self);
    }
}

/// A barrier on lines of its own, so that it does not share a line with whatever the allocator puts
/// beside it.
#[repr(align(128))]
pub(super) struct Alone<B>(pub(super) B);

impl Party for Arc<Alone<Barrier>> {
    #[inline]
    fn wait(&mut self) {
        self.0.wait();
    }
}

impl Party for Arc<Alone<std::sync::Barrier>> {
    #[inline]
    fn wait(&mut self) {
        self.0.wait();
    }
}

impl Party for Arc<Alone<spin::Barrier>> {
    #[inline]
    fn wait(&mut self) {
        self.0.wait();
    }
}

/// Each handle is on lines of its own, since it is written to in every round.
impl Party for Alone<hurdles::Barrier> {
    #[inline]
    fn wait(&mut self) {
        self.0.wait();
    }
}

type Build = Box<dyn Fn(usize) -> Result<Parties, ShapeError>>;

/// A row of the table.
pub struct Row {
    /// Its name, as typed on a command line.
    pub name: &'static str,
    /// Whose it is.
    pub origin: Origin,
    /// The name to write in a program.
    pub code: String,
    /// Whether it spins without ever yielding.
    only_spins: bool,
    build: Build,
}

/// Most threads a core for a barrier that only spins. Beyond, a thread waits in each round for the
/// time slices of all others on its core, often several times.
const CROWD_OF_SPINNERS: usize = 2;

impl Row {
    fn new(
        name: &'static str,
        origin: Origin,
        code: impl Into<String>,
        build: impl Fn(usize) -> Result<Parties, ShapeError> + 'static,
    ) -> Self {
        Row { name, origin, code: code.into(), only_spins: false, build: Box::new(build) }
    }

    /// Returns the row of a barrier shared by reference.
    pub(super) fn shared<B: 'static>(
        name: &'static str,
        origin: Origin,
        code: &str,
        make: fn(usize) -> B,
    ) -> Self
    where
        Arc<Alone<B>>: Party,
    {
        Row::new(name, origin, code, move |threads| {
            Ok(copies(Arc::new(Alone(make(threads))), threads))
        })
    }

    /// Returns the row of a method of the library as a team.
    fn method(name: &'static str, method: Registered<Native>, flags: Flags) -> Self {
        let code = format!("throng::structures::barrier, {name}");
        Row::new(name, Origin::Method, code, move |threads| {
            let meeting = method.build(&shape(method.about.name, threads, flags))?;
            Ok(team(meeting).into_iter().map(|member| Box::new(member) as _).collect())
        })
    }

    /// Returns whether it can be measured on this number of threads in reasonable time.
    pub fn suits(&self, threads: usize, cores: usize) -> bool {
        !self.only_spins || threads <= CROWD_OF_SPINNERS * cores
    }

    /// Builds a new barrier for `threads` threads.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn build(&self, threads: usize) -> Result<Parties, ShapeError> {
        (self.build)(threads)
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.name.fmt(f)
    }
}

fn copies<P: Party + Clone + 'static>(party: P, threads: usize) -> Parties {
    (0..threads).map(|_| Box::new(party.clone()) as _).collect()
}

/// Returns the shape in which a method is measured. The default's method gets the machine's
/// topology, as in the default barrier; all others are as their authors have them.
fn shape(name: &str, threads: usize, flags: Flags) -> Shape {
    let usual = Shape::for_members(threads).flags(flags);
    if name == "shaped" {
        let topology = Topology::here().clone();
        return usual.fan_in(FanIn::Machine { most: threads.max(2), topology });
    }
    usual
}

/// The row that all others are compared with.
pub const REFERENCE: &str = "std";

/// Returns all rows, the reference first.
pub fn all() -> Vec<Row> {
    let mut rows = vec![
        Row::shared(REFERENCE, Origin::Peer, "std::sync::Barrier", std::sync::Barrier::new),
        Row::shared("barrier", Origin::Ours, "throng::Barrier", Barrier::new),
        Row::new("team", Origin::Ours, "throng::Barrier::team", |threads| {
            let team = Barrier::builder(threads).build_team()?;
            Ok(team.into_iter().map(|member| Box::new(member) as _).collect())
        }),
    ];
    for method in methods::<Native>() {
        let name = method.about.name;
        rows.push(Row::method(name, method, Flags::Packed));
        if name == "static-fway" {
            rows.push(Row::method("static-fway-padded", method, Flags::Padded));
        }
    }
    rows.push(Row::new("hurdles", Origin::Peer, "hurdles::Barrier", |threads| {
        let barrier = hurdles::Barrier::new(threads);
        Ok((0..threads).map(|_| Box::new(Alone(barrier.clone())) as _).collect())
    }));
    rows.push(Row {
        only_spins: true,
        ..Row::shared("spin", Origin::Peer, "spin::Barrier", spin::Barrier::new)
    });
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_row_is_built_with_a_party_for_each_thread() {
        let rows = all();
        assert_eq!(rows[0].name, REFERENCE);
        let names: HashSet<&str> = rows.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), rows.len(), "a name is taken twice");
        for row in rows {
            assert_eq!(row.build(3).unwrap().len(), 3, "{}", row.name);
        }
    }

    #[test]
    fn what_only_spins_is_not_measured_in_a_crowd() {
        for row in all() {
            assert!(row.suits(4, 2), "{}", row.name);
            assert_eq!(row.suits(5, 2), row.name != "spin", "{}", row.name);
        }
    }
}
