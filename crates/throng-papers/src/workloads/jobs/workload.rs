//! Workloads of a job pool: which processors create jobs, which do them, and what they are.

use std::sync::atomic::Ordering::Acquire;

use throng::machine::{Cpu, WayOut, Word};
use throng_sim::{Sim, SimCpu};

use super::book::Book;
use super::queens::{Board, MOST_ROWS};
use super::{Job, Shared, idle};
use crate::error::Error;

/// The program of the processors of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// DT96 Figure 13: each processor creates a job of 0 to `work` cycles, puts it in, takes one
    /// out and does it, until `jobs` jobs are done. Processors in the middle of a round then finish
    /// it.
    InTurns {
        /// Number of jobs.
        jobs: u64,
        /// Upper bound of a job's cycles; the lower bound is 0.
        work: u32,
    },
    /// RDT97 section 5.4.2: every other processor puts in a job and waits until it is consumed,
    /// which the consumer signals by a word of the producer. The other processors take jobs out,
    /// until there were `jobs`.
    Sparse {
        /// Number of jobs.
        jobs: u64,
    },
    /// RDT97 section 5.4.1: a job is a board with queens in its first rows. The processor that
    /// takes it puts in one job for each place in the next row that no queen attacks. The first
    /// processor puts in the empty board.
    Queens {
        /// Rows and columns of the board.
        side: u32,
        /// Cycles of work for each pair of a place in the next row and a queen on the board.
        comparison_cycles: u32,
    },
}

impl Workload {
    /// Checks that `processors` processors can run this workload.
    pub(super) fn check(self, processors: usize) -> Result<(), Error> {
        let wrong = |option: &'static str, value: String, allowed: &str| {
            Err(Error::Value { option, value, allowed: allowed.to_owned() })
        };
        match self {
            Workload::Sparse { .. } if processors < 2 => {
                wrong("processors", processors.to_string(), "at least 2")
            }
            Workload::Queens { side, .. } if !(1..=MOST_ROWS).contains(&side) => {
                wrong("side", side.to_string(), "from 1 to 14")
            }
            _ => Ok(()),
        }
    }

    /// Checks the result of the run.
    pub(super) fn check_result(self, book: &Book) -> Result<(), String> {
        let at_least = |jobs: u64| match book.done() {
            done if done < jobs => Err(format!("{done} of {jobs} jobs done")),
            _ => Ok(()),
        };
        match self {
            Workload::InTurns { jobs, .. } => at_least(jobs),
            Workload::Sparse { jobs } => at_least(jobs),
            Workload::Queens { side, .. } => {
                let expected = Board::EMPTY.count(side);
                let found = (book.done(), book.solutions);
                if found == expected {
                    Ok(())
                } else {
                    Err(format!("jobs and solutions were {found:?}, should be {expected:?}"))
                }
            }
        }
    }

    /// Runs the program of each processor.
    pub(super) fn body(self, shared: &Shared, cpu: &SimCpu) {
        match self {
            Workload::InTurns { jobs, work } => in_turns(shared, cpu, jobs, work),
            Workload::Sparse { jobs } if cpu.id().is_multiple_of(2) => produce(shared, cpu, jobs),
            Workload::Sparse { jobs } => consume(shared, cpu, jobs),
            Workload::Queens { side, comparison_cycles } => {
                place_queens(shared, cpu, side, comparison_cycles);
            }
        }
    }
}

impl Shared {
    fn put(&self, cpu: &SimCpu, content: u64) -> Job {
        let job = self.book.borrow_mut().make(content);
        let start = cpu.clock();
        self.pool.put_on(cpu, job);
        self.book.borrow_mut().put_cycles += cpu.clock() - start;
        job
    }

    /// Takes a job, or returns `None` when all is over.
    fn take(&self, cpu: &SimCpu) -> Option<Job> {
        let way_out = WayOut::<Sim>::none().alarm(&self.over, 1);
        let start = cpu.clock();
        let job = self.pool.take_on(cpu, &way_out)?;
        let mut book = self.book.borrow_mut();
        book.take_cycles += cpu.clock() - start;
        book.take(job);
        Some(job)
    }

    /// Records that a job is done; `is_last` tells from the records whether it was the last one.
    fn finish(&self, cpu: &SimCpu, is_last: impl FnOnce(&Book) -> bool) {
        let over = {
            let mut book = self.book.borrow_mut();
            book.finish();
            let over = book.finished_at.is_none() && is_last(&book);
            if over {
                book.finished_at = Some(cpu.clock());
            }
            over || book.is_wrong()
        };
        if over {
            self.over.signal(1);
        }
    }
}

fn in_turns(shared: &Shared, cpu: &SimCpu, jobs: u64, work: u32) {
    while shared.book.borrow().done() < jobs {
        shared.put(cpu, cpu.random_below(work as usize + 1) as u64);
        let Some(job) = shared.take(cpu) else { return };
        idle(cpu, job.content as u32);
        shared.finish(cpu, |book| book.done() == jobs);
    }
}

fn produce(shared: &Shared, cpu: &SimCpu, jobs: u64) {
    let me = cpu.id();
    while shared.book.borrow().made() < jobs && !shared.book.borrow().is_wrong() {
        let job = shared.put(cpu, me as u64);
        shared.consumed[me].wait_while(cpu, Acquire, |last| last != job.serial + 1);
    }
}

fn consume(shared: &Shared, cpu: &SimCpu, jobs: u64) {
    while let Some(job) = shared.take(cpu) {
        shared.finish(cpu, |book| book.done() == jobs);
        shared.consumed[job.content as usize].signal(job.serial + 1);
    }
}

fn place_queens(shared: &Shared, cpu: &SimCpu, side: u32, comparison_cycles: u32) {
    if cpu.id() == 0 {
        shared.put(cpu, Board::EMPTY.packed());
    }
    while let Some(job) = shared.take(cpu) {
        let board = Board::unpack(job.content);
        if board.queens() == side {
            shared.book.borrow_mut().solutions += 1;
        } else {
            idle(cpu, side * board.queens() * comparison_cycles);
            for next in (0..side).filter_map(|column| board.with(column)) {
                shared.put(cpu, next.packed());
            }
        }
        shared.finish(cpu, |book| book.done() == book.made());
    }
}
