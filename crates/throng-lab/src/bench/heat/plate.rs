//! Heat that spreads over a plate, step by step: each cell becomes the mean of its four neighbours.
//! Cells at the edge keep their temperature.
//!
//! There are three ways to compute the same result, bit for bit: on one thread; in bands of rows,
//! one a thread, with a barrier after each step; and with one parallel loop a step on the threads
//! of rayon.
//!
//! # Bands
//! A thread owns two copies of its rows: the present and the next step. Only the first and the last
//! row of a band matter to other threads. After each step the thread publishes them on a board.
//! After the barrier its neighbours copy the rows they need:
//!
//! ```text
//! band 0   ............
//!          ============ published for band 1
//! band 1   ============ published for band 0
//!          ............
//! ```
//!
//! There are two places for each such row, for even and odd steps. A thread that publishes a row of
//! step t + 2 has passed the barrier after step t + 1. So the neighbours have copied the row of
//! step t.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::bench::barriers::rows::Party;

/// A square plate.
#[derive(Clone, Debug, PartialEq)]
pub struct Plate {
    size: usize,
    /// Row by row.
    cells: Vec<f32>,
}

/// The smallest plate with cells that change.
pub const LEAST_SIZE: usize = 3;

impl Plate {
    /// Returns a cold plate with a hot upper edge and a hot spot in the middle.
    pub fn new(size: usize) -> Self {
        let size = size.max(LEAST_SIZE);
        let spot = size * 3 / 8..size * 5 / 8;
        let is_hot = |row, column| row == 0 || spot.contains(&row) && spot.contains(&column);
        let cell = |index| if is_hot(index / size, index % size) { 100.0 } else { 0.0 };
        Plate { size, cells: (0..size * size).map(cell).collect() }
    }

    /// Returns its number of cells on a side.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the number of its rows that change.
    pub fn inner_rows(&self) -> usize {
        self.size - 2
    }

    /// Returns the plate after `steps`, computed on the calling thread, and the measured time.
    pub fn after(&self, steps: Steps) -> (Plate, Duration) {
        let (mut now, mut next) = (self.clone(), self.clone());
        let mut clock = Clock::new(steps);
        for step in 0..steps.all() {
            clock.look(step);
            relax_rows(&now.cells, &mut next.cells[self.size..], self.size);
            std::mem::swap(&mut now, &mut next);
        }
        (now, clock.time())
    }

    /// Computes the same with one parallel loop a step.
    pub fn after_with_rayon(&self, steps: Steps, pool: &rayon::ThreadPool) -> (Plate, Duration) {
        pool.install(|| {
            let (mut now, mut next) = (self.clone(), self.clone());
            let (size, inner) = (self.size, self.size..self.cells.len() - self.size);
            let rows = self.inner_rows().div_ceil(pool.current_num_threads());
            let mut clock = Clock::new(steps);
            for step in 0..steps.all() {
                clock.look(step);
                let bands = next.cells[inner.clone()].par_chunks_mut(rows * size);
                bands.enumerate().for_each(|(band, next)| {
                    let above = band * rows * size;
                    relax_rows(&now.cells[above..above + next.len() + 2 * size], next, size);
                });
                std::mem::swap(&mut now, &mut next);
            }
            (now, clock.time())
        })
    }
}

/// Numbers of steps: for warm-up, and measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Steps of warm-up.
    pub warm_up: usize,
    /// Measured steps.
    pub measured: usize,
}

impl Steps {
    fn all(self) -> usize {
        self.warm_up + self.measured
    }
}

/// Times the steps after the warm-up.
struct Clock {
    steps: Steps,
    start: Instant,
}

impl Clock {
    fn new(steps: Steps) -> Self {
        Clock { steps, start: Instant::now() }
    }

    /// Reads the clock at the first measured step. Called before each step.
    fn look(&mut self, step: usize) {
        if step == self.steps.warm_up {
            self.start = Instant::now();
        }
    }

    fn time(&self) -> Duration {
        self.start.elapsed()
    }
}

/// Makes one step of the rows in `now` that have a row above and below, into `next`.
fn relax_rows(now: &[f32], next: &mut [f32], size: usize) {
    for (rows, next) in now.windows(3 * size).step_by(size).zip(next.chunks_exact_mut(size)) {
        let (above, rest) = rows.split_at(size);
        let (row, below) = rest.split_at(size);
        relax(above, row, below, next);
    }
}

/// Makes one step of one row; its first and last cell stay.
fn relax(above: &[f32], row: &[f32], below: &[f32], next: &mut [f32]) {
    let inner = 1..row.len() - 1;
    let upright = above[inner.clone()].iter().zip(&below[inner.clone()]);
    let across = row.iter().zip(&row[2..]);
    for ((next, (up, down)), (left, right)) in next[inner].iter_mut().zip(upright).zip(across) {
        *next = 0.25 * ((up + down) + (left + right));
    }
}

/// A row published for a neighbour, on lines of its own.
type Posted = Vec<PostedLine>;

/// Some cells of a published row.
#[derive(Debug, Default)]
#[repr(align(128))]
struct PostedLine([AtomicU32; 32]);

fn post(row: &[f32], posted: &Posted) {
    for (cell, place) in row.iter().zip(posted.iter().flat_map(|line| &line.0)) {
        place.store(cell.to_bits(), Relaxed);
    }
}

fn copy(posted: &Posted, row: &mut [f32]) {
    for (cell, place) in row.iter_mut().zip(posted.iter().flat_map(|line| &line.0)) {
        *cell = f32::from_bits(place.load(Relaxed));
    }
}

/// The rows published by all bands, for even and odd steps.
///
/// # Memory ordering
/// Relaxed: a barrier is between publishing a row and copying it, and orders what was done before
/// with what is done after.
pub struct Board {
    /// By band: its first and its last row, for even steps and for odd ones.
    bands: Vec<[[Posted; 2]; 2]>,
}

impl Board {
    /// Returns the board of `bands` bands of a plate of this size.
    pub fn new(bands: usize, size: usize) -> Self {
        let row = || (0..size.div_ceil(32)).map(|_| PostedLine::default()).collect();
        let pair = || [row(), row()];
        Board { bands: (0..bands).map(|_| [pair(), pair()]).collect() }
    }
}

/// The rows of one thread.
pub struct Band {
    rank: usize,
    size: usize,
    /// Its rows, and one above and below.
    now: Vec<f32>,
    next: Vec<f32>,
}

impl Band {
    /// Returns band `rank` of `bands`, none of which may be empty.
    pub fn new(plate: &Plate, rank: usize, bands: usize) -> Self {
        let rows = plate.inner_rows();
        let (first, end) = (rank * rows / bands, (rank + 1) * rows / bands);
        let now = plate.cells[first * plate.size..(end + 2) * plate.size].to_vec();
        Band { rank, size: plate.size, next: now.clone(), now }
    }

    /// Computes its rows, and waits at the barrier after each step. Returns the measured time.
    pub fn run(&mut self, steps: Steps, board: &Board, party: &mut dyn Party) -> Duration {
        let mut clock = Clock::new(steps);
        for step in 0..steps.all() {
            clock.look(step);
            let size = self.size;
            relax_rows(&self.now, &mut self.next[size..], size);
            std::mem::swap(&mut self.now, &mut self.next);
            let [first, last] = &board.bands[self.rank][step % 2];
            let end = self.now.len() - size;
            post(&self.now[size..2 * size], first);
            post(&self.now[end - size..end], last);
            party.wait();
            if let Some(above) = self.rank.checked_sub(1) {
                copy(&board.bands[above][step % 2][1], &mut self.now[..size]);
            }
            if let Some(below) = board.bands.get(self.rank + 1) {
                copy(&below[step % 2][0], &mut self.now[end..]);
            }
        }
        clock.time()
    }

    /// Joins the bands, in order, to a plate.
    pub fn join(plate: &Plate, bands: &[Band]) -> Plate {
        let mut cells = plate.cells[..plate.size].to_vec();
        for band in bands {
            cells.extend(&band.now[band.size..band.now.len() - band.size]);
        }
        cells.extend(&plate.cells[plate.cells.len() - plate.size..]);
        Plate { size: plate.size, cells }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::barriers::rows;
    use std::thread;

    const STEPS: Steps = Steps { warm_up: 3, measured: 20 };

    #[test]
    fn one_step_by_hand() {
        let plate = Plate { size: 3, cells: vec![9.0, 1.0, 9.0, 2.0, 50.0, 3.0, 9.0, 4.0, 9.0] };
        let (after, _) = plate.after(Steps { warm_up: 0, measured: 1 });
        assert_eq!(after.cells, [9.0, 1.0, 9.0, 2.0, 2.5, 3.0, 9.0, 4.0, 9.0]);
    }

    #[test]
    fn bands_compute_what_one_thread_computes() {
        for (size, threads) in [(3, 1), (9, 2), (17, 4), (40, 7)] {
            let plate = Plate::new(size);
            let board = &Board::new(threads, size);
            let mut bands: Vec<Band> =
                (0..threads).map(|rank| Band::new(&plate, rank, threads)).collect();
            let mut parties = rows::all().remove(0).build(threads).unwrap();
            thread::scope(|scope| {
                for (band, party) in bands.iter_mut().zip(&mut parties) {
                    scope.spawn(move || band.run(STEPS, board, &mut **party));
                }
            });
            assert_eq!(Band::join(&plate, &bands), plate.after(STEPS).0, "{size} {threads}");
        }
    }

    #[test]
    fn rayon_computes_what_one_thread_computes() {
        for (size, threads) in [(3, 2), (33, 4)] {
            let plate = Plate::new(size);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(plate.after_with_rayon(STEPS, &pool).0, plate.after(STEPS).0);
        }
    }
}
