//! Simulates one barrier and measures it: members run round after round, as in GV93 section 5.
//! (More than 500 lines, of which 140 are tests.)
//!
//! Measured is what `rounds` rounds *add*. Each run is made twice, with the warm-up alone and with
//! the rounds after it, and the difference is taken. So neither the first touch of a line nor the
//! beginning and the end of a run count.
//!
//! The paper has 30 000 rounds, because its machines have other load and a clock that ticks. Here
//! nothing but the run disturbs a round. Without work between rounds the same few rounds soon
//! repeat: 200 give the mean of 30 000 to three digits.
//!
//! Every round is checked: no member may leave before all have entered.
//!
//! ```
//! use throng_papers::workloads::barrier::{BarrierChoice, BarrierRun, BarrierTuning};
//! use throng_sim::MachineSpec;
//!
//! let barrier = BarrierChoice::named("dissemination", BarrierTuning::default()).unwrap();
//! let ksr1 = MachineSpec::preset("ksr1").unwrap();
//! let measured = BarrierRun { members: 16, ..BarrierRun::new(barrier, ksr1) }.measure()?;
//! // Four steps; in each, a flag goes there and is looked at.
//! assert_eq!(measured.round.critical_path, 4);
//! assert!(measured.cycles_a_round > 4.0 * 150.0);
//! # Ok::<(), throng_papers::error::Error>(())
//! ```

mod choice;
mod round;

use std::cell::RefCell;

use throng::machine::{Cpu, WayOut};
use throng::structures::barrier::Meeting;
use throng_sim::{End, Faults, MachineSpec, MemoryReport, Outcome, Sim, SimCpu, Simulation};

use super::{catching, chosen_in_words, idle, machine_in_words, quoted};
use crate::error::Error;

pub use choice::{
    BarrierChoice, BarrierTuning, FanInChoice, Taken, flags_in_words, reinit_in_words, taken,
    wake_up_in_words,
};
pub use round::Round;

/// Default number of measured rounds.
pub const ROUNDS: u64 = 200;
/// Default number of rounds before the measured ones.
pub const WARM_UP: u64 = 20;

/// Returns the step limit for `rounds` rounds of `members` members: many times what any barrier
/// that makes progress needs.
pub const fn usual_step_limit(members: usize, rounds: u64) -> u64 {
    100_000_000 + 20_000 * members as u64 * rounds
}

/// The lines on which members wait for the end of a round. Accesses to them do not count as
/// arrival.
const BELLS: [&str; 2] = ["bell", "over"];

/// A barrier run.
#[derive(Clone, Debug)]
pub struct BarrierRun {
    /// The barrier.
    pub barrier: BarrierChoice,
    /// The machine.
    pub machine: MachineSpec,
    /// The value of `throng simulate --machine` for the same machine: its name, or a file.
    pub machine_argument: String,
    /// Number of members.
    pub members: usize,
    /// Number of measured rounds.
    pub rounds: u64,
    /// Rounds before the measured ones; at least one.
    pub warm_up: u64,
    /// Upper bound of a member's idle time before each round, in cycles; the lower bound is 0.
    pub work: u32,
    /// Seed of everything random.
    pub seed: u64,
    /// Injected faults: delays, stalls, halts.
    pub faults: Faults,
    /// Number of steps after which the run is aborted.
    pub step_limit: u64,
}

/// The results of a barrier run. All numbers of a round are means.
#[derive(Clone, Debug)]
pub struct BarrierMeasured {
    /// Cycles from the end of a round to the end of the next.
    pub cycles_a_round: f64,
    /// Cycles from the arrival of the last member to the last return: the cost of the barrier
    /// itself, without the work between rounds.
    pub last_in_last_out_cycles: f64,
    /// Accesses that missed the processor's own cache: the papers' cache faults and transactions.
    pub misses_a_round: f64,
    /// Misses without those on the words that announce the end of the round.
    pub arrival_misses_a_round: f64,
    /// Cached copies that were invalidated.
    pub invalidations_a_round: f64,
    /// Messages of the network; on a bus, the number of times it was taken.
    pub messages_a_round: f64,
    /// Accesses to shared memory.
    pub accesses_a_round: f64,
    /// Cycles that misses waited in queues, summed over all processors.
    pub waited_cycles_a_round: f64,
    /// Cache lines of the barrier.
    pub lines: usize,
    /// The analysis of one round.
    pub round: Round,
    /// The memory's report on the measured rounds.
    pub memory: MemoryReport,
    /// Number of measured rounds.
    pub rounds: u64,
    /// Cycles of the whole run.
    pub cycles: u64,
    /// Accesses in the whole run.
    pub accesses: u64,
    /// Steps in the whole run.
    pub steps: u64,
    /// Hash of all accesses. Equal runs have equal hashes.
    pub trace_hash: u64,
}

/// State shared by the members of a run.
struct Shared {
    barrier: Box<dyn Meeting<Sim>>,
    /// Borrowed only between two accesses, while no other processor runs.
    book: RefCell<Book>,
}

/// The record of which member entered which round.
#[derive(Debug)]
struct Book {
    /// For each round, the number of members that entered it.
    entered: Vec<usize>,
    /// For each member, the time it entered its last round.
    entered_at: Vec<u64>,
    /// For each round, the times of the last entry and of the last exit.
    last_in_out: Vec<(u64, u64)>,
    /// The first member that left a round too soon.
    too_soon: Option<TooSoon>,
}

/// A member left a round that not all had entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TooSoon {
    member: usize,
    round: u64,
    entered: usize,
}

impl Book {
    fn enters(&mut self, member: usize, round: u64, time: u64) {
        self.entered[round as usize] += 1;
        self.entered_at[member] = time;
        self.last_in_out[round as usize].0 = time;
    }

    fn leaves(&mut self, member: usize, round: u64, time: u64) {
        self.last_in_out[round as usize].1 = time;
        let entered = self.entered[round as usize];
        if entered < self.entered_at.len() {
            self.too_soon.get_or_insert(TooSoon { member, round, entered });
        }
    }
}

impl BarrierRun {
    /// Returns a run as in GV93: no work between rounds. It has seed 0, no faults, and as many
    /// members as the machine has processors.
    pub fn new(barrier: BarrierChoice, machine: MachineSpec) -> Self {
        BarrierRun {
            barrier,
            members: machine.processors,
            machine_argument: machine.name.clone(),
            machine,
            rounds: ROUNDS,
            warm_up: WARM_UP,
            work: 0,
            seed: 0,
            faults: Faults::none(),
            step_limit: 4_000_000_000,
        }
    }

    /// Returns the command that repeats the run.
    ///
    /// ```
    /// use throng_papers::workloads::barrier::{BarrierChoice, BarrierRun, BarrierTuning, FanInChoice};
    /// use throng_sim::MachineSpec;
    ///
    /// let tuning = BarrierTuning { fan_in: Some(FanInChoice::Fixed(3)), ..BarrierTuning::default() };
    /// let barrier = BarrierChoice::named("static-fway", tuning).unwrap();
    /// let run = BarrierRun { seed: 7, ..BarrierRun::new(barrier, MachineSpec::ideal(10)) };
    /// assert_eq!(
    ///     run.replay_command(),
    ///     "throng simulate --barrier static-fway --fan-in 3 --machine ideal --processors 64 \
    ///      --rounds 200 --work 0 --seed 7",
    /// );
    /// ```
    pub fn replay_command(&self) -> String {
        let mut words = vec![format!("throng simulate --barrier {}", self.barrier.method)];
        if !self.barrier.options.is_empty() {
            words.push(self.barrier.options.clone());
        }
        words.push(format!(
            "--machine {} --processors {} --rounds {} --work {} --seed {}",
            quoted(&self.machine_argument),
            self.members,
            self.rounds,
            self.work,
            self.seed
        ));
        if self.faults != Faults::none() {
            words.push(format!("--fault {}", quoted(&self.faults.to_string())));
        }
        words.join(" ")
    }

    /// Runs it, checks every round, and measures.
    ///
    /// # Errors
    /// When the barrier cannot be built or the simulation not be set up, when a fault halts a
    /// member (no round would ever be complete), or when the run failed: a member left too soon,
    /// the step limit was reached, or a panic.
    pub fn measure(&self) -> Result<BarrierMeasured, Error> {
        // Built once in advance: an impossible shape is reported here.
        self.barrier.build(self.members, &self.machine)?;
        let warm_up = self.warm_up.max(1);
        let short = self.run(warm_up, true)?;
        let long = self.run(warm_up + self.rounds, false)?;
        let memory = long.memory.since(&short.memory);
        let a_round = |count: u64| count as f64 / self.rounds.max(1) as f64;
        let at_bells: u64 = (memory.lines.iter())
            .filter(|(place, _)| BELLS.contains(&place.name))
            .map(|(_, traffic)| traffic.misses)
            .sum();
        let trace = short.trace.as_deref().unwrap_or_default();
        let since = &short.shared.book.borrow().entered_at;
        let last_in_out = &long.shared.book.borrow().last_in_out;
        let takes = |&(last_in, last_out): &(u64, u64)| last_out.saturating_sub(last_in);
        let last_in_last_out = last_in_out[warm_up as usize..].iter().map(takes).sum();
        Ok(BarrierMeasured {
            last_in_last_out_cycles: a_round(last_in_last_out),
            cycles_a_round: a_round(long.cycles.saturating_sub(short.cycles)),
            misses_a_round: a_round(memory.total.misses),
            arrival_misses_a_round: a_round(memory.total.misses.saturating_sub(at_bells)),
            invalidations_a_round: a_round(memory.total.invalidations),
            messages_a_round: a_round(memory.messages),
            accesses_a_round: a_round(memory.total.accesses()),
            waited_cycles_a_round: a_round(memory.total.waited_cycles),
            lines: memory.lines.len(),
            round: Round::of(&round::Window { trace, places: &short.places, since }),
            memory,
            rounds: self.rounds,
            cycles: long.cycles,
            accesses: long.accesses,
            steps: long.steps,
            trace_hash: long.trace_hash,
        })
    }

    /// Runs and checks `rounds` rounds.
    fn run(&self, rounds: u64, record_trace: bool) -> Result<Outcome<Shared, ()>, Error> {
        let outcome = catching(|| self.simulate(rounds, record_trace))
            .map_err(|message| self.failed(format!("it panicked: {message}")))?
            .map_err(|source| Error::Simulation { source })?;
        if let Some(&member) = outcome.halted.first() {
            let why = format!("member {member} was halted, and the others wait for it for ever");
            return Err(Error::Faults { why });
        }
        self.check(&outcome, rounds)?;
        Ok(outcome)
    }

    fn check(&self, outcome: &Outcome<Shared, ()>, rounds: u64) -> Result<(), Error> {
        let book = outcome.shared.book.borrow();
        if let Some(TooSoon { member, round, entered }) = book.too_soon {
            let of = self.members;
            return Err(self.failed(format!(
                "member {member} left round {round} when {entered} of {of} had entered it"
            )));
        }
        let complete = book.entered.iter().filter(|&&entered| entered == self.members).count();
        match &outcome.end {
            End::Finished => Ok(()),
            end @ (End::Stuck { .. } | End::TimeLimit { .. }) => {
                Err(self.failed(format!("{end}, {complete} of {rounds} rounds complete")))
            }
            &End::StepLimit { limit, unfinished } => Err(Error::StepLimit {
                method: self.barrier.method,
                machine: self.machine_in_words(),
                limit,
                unfinished,
                done: format!("{complete} of {rounds} rounds complete"),
                replay: self.replay_command(),
            }),
        }
    }

    /// Returns the machine's name, with its file where it has one: a file may reuse the name of
    /// another machine.
    pub fn machine_in_words(&self) -> String {
        machine_in_words(&self.machine, &self.machine_argument)
    }

    fn simulate(
        &self,
        rounds: u64,
        record_trace: bool,
    ) -> Result<Outcome<Shared, ()>, throng_sim::SimError> {
        let (barrier, machine) = (self.barrier.clone(), self.machine.clone());
        let (members, work) = (self.members, self.work);
        Simulation::new()
            .machine(self.machine.clone())
            .processors(members)
            .seed(self.seed)
            .faults(self.faults.clone())
            .step_limit(self.step_limit)
            .record_trace(record_trace)
            .run(
                move || Shared {
                    barrier: barrier.build(members, &machine).expect("built once already"),
                    book: RefCell::new(Book {
                        entered: vec![0; rounds as usize],
                        entered_at: vec![0; members],
                        last_in_out: vec![(0, 0); rounds as usize],
                        too_soon: None,
                    }),
                },
                move |shared, cpu| meet(shared, cpu, rounds, work),
            )
    }

    fn failed(&self, what: String) -> Error {
        let what = what + &chosen_in_words(&self.faults, self.members, self.seed);
        Error::SimulatedRun {
            method: self.barrier.method,
            machine: self.machine_in_words(),
            processors: self.members,
            seed: self.seed,
            what,
            replay: self.replay_command(),
        }
    }
}

/// Runs the program of one member.
fn meet(shared: &Shared, cpu: &SimCpu, rounds: u64, work: u32) {
    let member = cpu.id();
    for round in 0..rounds {
        if work > 0 {
            idle(cpu, cpu.random_below(work as usize + 1) as u32);
        }
        shared.book.borrow_mut().enters(member, round, cpu.clock());
        let met = shared.barrier.meet_on(cpu, member, round, &WayOut::none());
        assert!(met.is_ok(), "there is no way out");
        shared.book.borrow_mut().leaves(member, round, cpu.clock());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng::machine::{Line, Place, Word};
    use throng::structures::barrier::{Broken, Flags, methods};

    /// A barrier that lets every member through at once.
    struct Open(usize);

    impl Meeting<Sim> for Open {
        fn members(&self) -> usize {
            self.0
        }

        fn meet_on(
            &self,
            cpu: &SimCpu,
            rank: usize,
            _: u64,
            _: &WayOut<'_, Sim>,
        ) -> Result<(), Broken> {
            cpu.pause(1 + rank as u32);
            Ok(())
        }
    }

    /// A barrier that lets no member through.
    struct Shut(Line<<Sim as throng::machine::Machine>::Word>);

    impl Meeting<Sim> for Shut {
        fn members(&self) -> usize {
            3
        }

        fn meet_on(
            &self,
            cpu: &SimCpu,
            _: usize,
            _: u64,
            _: &WayOut<'_, Sim>,
        ) -> Result<(), Broken> {
            self.0.wait_while(cpu, std::sync::atomic::Ordering::Acquire, |value| value == 0);
            Ok(())
        }
    }

    fn small(barrier: BarrierChoice) -> BarrierRun {
        let run = BarrierRun::new(barrier, MachineSpec::ideal(10));
        BarrierRun { members: 3, rounds: 5, warm_up: 2, seed: 4, ..run }
    }

    fn named(name: &str) -> BarrierChoice {
        BarrierChoice::named(name, BarrierTuning::default()).unwrap()
    }

    #[test]
    fn who_leaves_too_soon_is_found_and_the_command_is_named() {
        let open =
            BarrierChoice::custom("open", "--fan-in 9", |members, _| Ok(Box::new(Open(members))));
        let error = small(open).measure().unwrap_err();
        assert_eq!(
            error.to_string(),
            "open failed on ideal with 3 processors and seed 4: \
             member 0 left round 1 when 1 of 3 had entered it; to see it again: \
             throng simulate --barrier open --fan-in 9 --machine ideal --processors 3 --rounds 5 \
             --work 0 --seed 4"
        );
        assert_eq!(error.exit_code(), 1);
    }

    #[test]
    fn a_barrier_that_never_opens_is_a_failure() {
        let shut = BarrierChoice::custom("shut", "", |_, _| {
            Ok(Box::new(Shut(Line::word::<Sim>(0, Place::named("door")))))
        });
        let error = small(shut).measure().unwrap_err().to_string();
        assert!(error.contains("stuck, 3 processors wait: processor 0 for door"), "{error}");
        assert!(error.contains("1 of 2 rounds complete"), "{error}");
    }

    #[test]
    fn limits_and_halts_are_answered_with_what_to_do() {
        let run = BarrierRun { step_limit: 20, ..small(named("central")) };
        let error = run.measure().unwrap_err();
        assert!(error.to_string().contains("not over after 20 steps, with "), "{error}");
        assert_eq!(error.exit_code(), 2);
        let faults = Faults::none().halt_before(1, 2);
        let error = BarrierRun { faults, ..small(named("central")) }.measure().unwrap_err();
        assert_eq!(
            error.to_string(),
            "--fault: member 1 was halted, and the others wait for it for ever"
        );
    }

    #[test]
    fn every_method_meets_on_every_machine_however_it_is_disturbed() {
        for machine in ["ksr1", "sequent", "tc2000", "server", "alewife"] {
            for method in methods::<Sim>() {
                let barrier = BarrierChoice::registered(method, BarrierTuning::default());
                let run = BarrierRun {
                    members: 11,
                    rounds: 6,
                    warm_up: 2,
                    work: 300,
                    faults: Faults::none().random_delays(5, 900),
                    ..BarrierRun::new(barrier, MachineSpec::preset(machine).unwrap())
                };
                let (once, again) = (run.measure().unwrap(), run.measure().unwrap());
                assert_eq!(once.trace_hash, again.trace_hash, "{}", method.about.name);
                assert!(once.cycles_a_round > 0.0);
            }
        }
    }

    #[test]
    fn few_rounds_are_enough() {
        for name in ["static-fway", "dynamic-fway", "combining-tree"] {
            let ksr1 = MachineSpec::preset("ksr1").unwrap();
            let run = BarrierRun { members: 33, ..BarrierRun::new(named(name), ksr1) };
            let few = run.measure().unwrap().cycles_a_round;
            let many = BarrierRun { rounds: 3000, ..run }.measure().unwrap().cycles_a_round;
            assert!((few / many - 1.0).abs() < 0.002, "{name}: {few} against {many}");
        }
    }

    #[test]
    fn rounds_are_counted_without_what_comes_first() {
        let ksr1 = MachineSpec::preset("ksr1").unwrap();
        let padded = BarrierTuning { flags: Some(Flags::Padded), ..BarrierTuning::default() };
        let tournament = BarrierChoice::named("tournament", padded).unwrap();
        let run = BarrierRun { members: 16, ..BarrierRun::new(tournament, ksr1) };
        let measured = run.measure().unwrap();
        // Each flag is written once and read once. Each waiting member reads the bell, and one
        // writes it.
        assert_eq!(measured.arrival_misses_a_round, 30.0);
        assert_eq!(measured.misses_a_round, 30.0 + 16.0);
        assert_eq!((measured.lines, measured.round.lines), (16, 15));
        assert_eq!((measured.round.critical_path, measured.round.writers_a_line), (5, 1));
    }
}
