//! Jobs that make jobs: counting the ways to place n queens on a board so that none attacks
//! another.
//!
//! A job is a board with queens in its first rows. A thread that takes one puts a job for each
//! place in the next row back into the queue. The queue has no bound. Threads that make jobs while
//! they do others must never wait for room, since all of them might then wait for each other.
//!
//! An empty queue does not mean that all jobs are done: a thread may be about to put one in. So the
//! threads count the jobs that were made and are not done yet, and the thread that brings that
//! number to zero closes the queue.
//!
//! ```text
//! cargo run --release -p throng --example nqueens -- [N] [THREADS]
//! ```

use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::AcqRel};
use std::thread;
use std::time::Instant;

use throng::Queue;

fn main() -> ExitCode {
    match Search::from_arguments(std::env::args().skip(1)) {
        Ok(search) => {
            search.run();
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// The settings of a search.
struct Search {
    side: u32,
    threads: u32,
}

/// The first rows of a board, as the columns and diagonals that their queens attack: one bit each.
#[derive(Clone, Copy, Default)]
struct Board {
    rows: u32,
    columns: u32,
    /// Diagonals that fall to the left, shifted so that bit c is the place in column c of the next row.
    left: u32,
    /// Diagonals that fall to the right, shifted in the same way.
    right: u32,
}

/// The work of one thread.
#[derive(Default)]
struct Share {
    jobs: u64,
    solutions: u64,
}

impl Search {
    fn from_arguments(mut typed: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let search = Search {
            side: number("n", typed.next(), 11, 16)?,
            threads: number("threads", typed.next(), cores.min(1024), 1024)?,
        };
        match typed.next() {
            Some(extra) => Err(format!("{extra:?} is one argument too many").into()),
            None => Ok(search),
        }
    }

    fn run(&self) {
        let start = Instant::now();
        let shares = self.count();
        let elapsed_ms = start.elapsed().as_secs_f64() * 1e3;
        for (thread, share) in shares.iter().enumerate() {
            println!("thread {thread}: {} jobs, {} solutions", share.jobs, share.solutions);
        }
        let sum = |number: fn(&Share) -> u64| shares.iter().map(number).sum::<u64>();
        println!(
            "{} queens: {} solutions, {} jobs in {elapsed_ms:.0} ms",
            self.side,
            sum(|share| share.solutions),
            sum(|share| share.jobs)
        );
    }

    /// Does all jobs and returns the work of each thread.
    fn count(&self) -> Vec<Share> {
        let jobs = Queue::unbounded();
        let outstanding = AtomicU64::new(0);
        let put = |board: Board| {
            outstanding.fetch_add(1, AcqRel);
            jobs.push(board).expect("it is closed only when no job is outstanding");
        };
        put(Board::default());
        let do_jobs = || -> Share {
            let mut share = Share::default();
            // Ends when the queue is closed and empty.
            while let Some(board) = jobs.pop() {
                share.jobs += 1;
                if board.rows == self.side {
                    share.solutions += 1;
                }
                board.successors(self.side).for_each(put);
                // Counted down after its successors were counted up, so it becomes zero only once.
                if outstanding.fetch_sub(1, AcqRel) == 1 {
                    jobs.close();
                }
            }
            share
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads).map(|_| scope.spawn(do_jobs)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("placing queens does not panic"))
                .collect()
        })
    }
}

impl Board {
    /// Returns the boards with one more queen, or none if all rows have one.
    fn successors(self, side: u32) -> impl Iterator<Item = Board> {
        let attacked = self.columns | self.left | self.right;
        let columns = if self.rows == side { 0..0 } else { 0..side };
        columns.map(|column| 1 << column).filter(move |place| attacked & place == 0).map(
            move |place| Board {
                rows: self.rows + 1,
                columns: self.columns | place,
                left: (self.left | place) >> 1,
                right: (self.right | place) << 1,
            },
        )
    }
}

/// Parses an argument, or returns `default` if there is none.
fn number(what: &str, typed: Option<String>, default: u32, most: u32) -> Result<u32, String> {
    let Some(typed) = typed else {
        return Ok(default);
    };
    match typed.parse() {
        Ok(value) if (1..=most).contains(&value) => Ok(value),
        _ => Err(format!("{what} {typed:?}: must be a whole number from 1 to {most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_solutions_are_the_known_ones() {
        for (side, solutions) in [(1, 1), (2, 0), (4, 2), (6, 4), (8, 92)] {
            for threads in [1, 3] {
                let shares = Search { side, threads }.count();
                let found: u64 = shares.iter().map(|share| share.solutions).sum();
                assert_eq!(found, solutions, "{side} queens, {threads} threads");
            }
        }
    }

    #[test]
    fn arguments_that_cannot_be_are_refused() {
        let typed = |words: &[&str]| Search::from_arguments(words.iter().map(|w| w.to_string()));
        let error = |words: &[&str]| typed(words).err().unwrap().to_string();
        assert_eq!(error(&["0"]), "n \"0\": must be a whole number from 1 to 16");
        assert_eq!(
            error(&["8", "many"]),
            "threads \"many\": must be a whole number from 1 to 1024"
        );
        assert_eq!(error(&["8", "2", "x"]), "\"x\" is one argument too many");
        assert!(typed(&["8", "2"]).is_ok());
    }
}
