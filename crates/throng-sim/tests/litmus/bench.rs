//! The bench on which machines are tested: scripts of accesses that are issued at given times.

use std::sync::atomic::Ordering::SeqCst;

use throng::machine::{Cpu, Line, Place, Word};
use throng_sim::{End, MachineSpec, MemoryReport, Sim, SimCpu, SimWord, Simulation, Traffic};

/// What is done, and to which line. A line has two words; all but `WriteOther` use the first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Do {
    Read(usize),
    Write(usize),
    Swap(usize),
    /// Compares with a value that is not there.
    FailToExchange(usize),
    Add(usize),
    /// Writes the second word.
    WriteOther(usize),
    /// Waits until the first word is not 0.
    Wait(usize),
}

/// When an access is issued, by whom, and what it does.
pub(crate) type Step = (u64, usize, Do);

/// What came out.
#[derive(Debug)]
pub(crate) struct Run {
    /// For each step, how many cycles it took.
    pub(crate) took: Vec<u64>,
    pub(crate) memory: MemoryReport,
    pub(crate) accesses: u64,
}

impl Run {
    /// What happened to a line.
    pub(crate) fn line(&self, line: usize) -> Traffic {
        self.memory.lines[line].1
    }
}

type TwoWords = Line<[SimWord; 2]>;

fn act(lines: &[TwoWords], cpu: &SimCpu, what: Do) {
    match what {
        Do::Read(line) => drop(lines[line][0].load(SeqCst)),
        Do::Write(line) => lines[line][0].store(1, SeqCst),
        Do::Swap(line) => drop(lines[line][0].swap(1, SeqCst)),
        Do::FailToExchange(line) => {
            lines[line][0].compare_exchange(77, 78, SeqCst, SeqCst).unwrap_err();
        }
        Do::Add(line) => drop(lines[line][0].fetch_add(1, SeqCst)),
        Do::WriteOther(line) => lines[line][1].store(1, SeqCst),
        Do::Wait(line) => drop(lines[line][0].wait_while(cpu, SeqCst, |value| value == 0)),
    }
}

/// Runs a script on `processors` processors. Line `i` is at home near processor `homes[i]`.
pub(crate) fn run(spec: &MachineSpec, processors: usize, homes: &[usize], script: &[Step]) -> Run {
    let places: Vec<_> = homes.iter().map(|&id| Place::named("line").near(id)).collect();
    let setup = move || -> Vec<TwoWords> {
        let words = |spot: &_| [SimWord::new(0, spot), SimWord::new(0, spot)];
        places.iter().map(|&place| Line::new::<Sim>(place, words)).collect()
    };
    let steps = script.to_vec();
    let outcome = Simulation::new()
        .machine(spec.clone())
        .processors(processors)
        .ties_by_id()
        .run(setup, move |lines, cpu| {
            let mut took = Vec::new();
            for (number, &(at, who, what)) in steps.iter().enumerate() {
                if who != cpu.id() {
                    continue;
                }
                let now = cpu.clock();
                assert!(now <= at, "step {number} should begin at {at}, but it is {now} already");
                cpu.pause((at - now).try_into().unwrap());
                act(lines, cpu, what);
                took.push((number, cpu.clock() - at));
            }
            took
        })
        .unwrap();
    assert_eq!(outcome.end, End::Finished);
    let mut took: Vec<_> = outcome.results.into_iter().flatten().flatten().collect();
    took.sort_unstable();
    assert_eq!(took.len(), script.len(), "all steps have a processor");
    Run {
        took: took.into_iter().map(|(_, cycles)| cycles).collect(),
        memory: outcome.memory,
        accesses: outcome.accesses,
    }
}

/// The preset of this name.
pub(crate) fn preset(name: &str) -> MachineSpec {
    MachineSpec::preset(name).unwrap()
}
