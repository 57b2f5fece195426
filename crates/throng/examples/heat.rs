//! Threads that meet after every step: heat spreads over a plate.
//!
//! In each step every cell becomes the mean of its four neighbours; cells at the edge keep their
//! temperature. Each thread has a band of rows to itself, and needs one row of each neighbour. So
//! after each step it posts its first and its last row where the neighbours can read them, waits at
//! the barrier, and copies the rows that they have posted:
//!
//! ```text
//! thread 0   ............
//!            ============  posted for thread 1
//! thread 1   ============  posted for thread 0
//!            ............
//! ```
//!
//! ```text
//! cargo run --release -p throng --example heat -- [FILE] [SIZE] [STEPS] [THREADS]
//! ```

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::mem;
use std::process::ExitCode;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Instant;

use throng::Barrier;

fn main() -> ExitCode {
    match Job::from_arguments(std::env::args().skip(1)).and_then(|job| job.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// The settings of a computation.
struct Job {
    path: String,
    size: usize,
    steps: usize,
    threads: usize,
}

impl Job {
    fn from_arguments(mut typed: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let path = path(typed.next())?;
        let size = number("size", typed.next(), 400, 3..=10_000)?;
        let steps = number("steps", typed.next(), 10_000, 0..=100_000_000)?;
        // Each thread has at least one row.
        let most = (size - 2).min(1024);
        let threads = number("threads", typed.next(), cores.min(most), 1..=most)?;
        match typed.next() {
            Some(extra) => Err(format!("{extra:?} is one argument too many").into()),
            None => Ok(Job { path, size, steps, threads }),
        }
    }

    fn run(&self) -> Result<(), Box<dyn Error>> {
        let Job { path, size, steps, threads } = self;
        // Opened first, so that a file that cannot be written is reported before the computation.
        let file =
            File::create(path).map_err(|error| format!("{path} cannot be written: {error}"))?;
        let start = Instant::now();
        let plate = Plate::new(*size).after(*steps, *threads);
        let seconds = start.elapsed().as_secs_f64();
        plate.save(file).map_err(|error| format!("{path} cannot be written: {error}"))?;
        println!(
            "{path}: {size} x {size} cells, {steps} steps on {threads} threads in {:.0} ms, {:.2} us \
             a step",
            seconds * 1e3,
            seconds * 1e6 / (*steps).max(1) as f64
        );
        Ok(())
    }
}

/// A square plate, row by row.
#[derive(Clone, Debug, PartialEq)]
struct Plate {
    size: usize,
    cells: Vec<f32>,
}

const HOT: f32 = 100.0;

impl Plate {
    /// Returns a plate that is cold except for its upper edge and a spot in the middle.
    fn new(size: usize) -> Self {
        let spot = size * 3 / 8..size * 5 / 8;
        let is_hot = |row, column| row == 0 || spot.contains(&row) && spot.contains(&column);
        let cell = |index| if is_hot(index / size, index % size) { HOT } else { 0.0 };
        Plate { size, cells: (0..size * size).map(cell).collect() }
    }

    /// Returns the plate after `steps` steps.
    fn after(&self, steps: usize, threads: usize) -> Plate {
        let board = &Board::new(threads, self.size);
        let bands: Vec<Band> = thread::scope(|scope| {
            let running: Vec<_> = Barrier::team(threads)
                .into_iter()
                .map(|mut member| {
                    scope.spawn(move || {
                        let mut band = Band::new(self, member.rank(), threads);
                        for step in 0..steps {
                            band.relax();
                            band.put_up(board, step);
                            // The heart of the example: no thread continues before all rows have
                            // been posted.
                            member.wait();
                            band.copy_neighbours(board, step);
                        }
                        band
                    })
                })
                .collect();
            let joined = running.into_iter().map(|thread| thread.join());
            joined.map(|band| band.expect("heat does not panic")).collect()
        });
        let mut cells = self.cells[..self.size].to_vec();
        for band in &bands {
            cells.extend(&band.now[self.size..band.now.len() - self.size]);
        }
        cells.extend(&self.cells[self.cells.len() - self.size..]);
        Plate { size: self.size, cells }
    }

    fn save(&self, file: File) -> Result<(), Box<dyn Error>> {
        let pixels: Vec<u8> = self.cells.iter().flat_map(|&cell| colour(cell / HOT)).collect();
        let size = self.size as u32;
        let mut encoder = png::Encoder::new(BufWriter::new(file), size, size);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&pixels)?;
        writer.finish()?;
        Ok(())
    }
}

/// Maps heat to black, red, yellow and white, like glowing iron.
fn colour(heat: f32) -> [u8; 3] {
    [0.0, 1.0, 2.0].map(|from| (255.0 * (3.0 * heat - from).clamp(0.0, 1.0)) as u8)
}

/// The rows of one thread, with one more above and below: as they are now, and as they will be.
struct Band {
    rank: usize,
    size: usize,
    now: Vec<f32>,
    next: Vec<f32>,
}

impl Band {
    fn new(plate: &Plate, rank: usize, bands: usize) -> Self {
        let (size, rows) = (plate.size, plate.size - 2);
        let (first, end) = (rank * rows / bands, (rank + 1) * rows / bands);
        let now = plate.cells[first * size..(end + 2) * size].to_vec();
        Band { rank, size, next: now.clone(), now }
    }

    /// Computes one step.
    fn relax(&mut self) {
        let size = self.size;
        let next = self.next[size..].chunks_exact_mut(size);
        for (rows, next) in self.now.windows(3 * size).step_by(size).zip(next) {
            let (above, row, below) = (&rows[..size], &rows[size..2 * size], &rows[2 * size..]);
            let upright = above[1..size - 1].iter().zip(&below[1..size - 1]);
            let across = row.iter().zip(&row[2..]);
            for ((next, (up, down)), (left, right)) in
                next[1..size - 1].iter_mut().zip(upright).zip(across)
            {
                *next = 0.25 * ((up + down) + (left + right));
            }
        }
        mem::swap(&mut self.now, &mut self.next);
    }

    fn put_up(&self, board: &Board, step: usize) {
        let end = self.now.len() - self.size;
        let [first, last] = board.of(self.rank, step);
        first.put_up(&self.now[self.size..2 * self.size]);
        last.put_up(&self.now[end - self.size..end]);
    }

    fn copy_neighbours(&mut self, board: &Board, step: usize) {
        let end = self.now.len() - self.size;
        if self.rank > 0 {
            board.of(self.rank - 1, step)[1].copy_to(&mut self.now[..self.size]);
        }
        if self.rank + 1 < board.bands.len() {
            board.of(self.rank + 1, step)[0].copy_to(&mut self.now[end..]);
        }
    }
}

/// The rows that threads post: one place for even steps, one for odd ones.
///
/// Two are enough: a thread that posts a row of step t + 2 has met the others after step t + 1, and
/// they had copied the row of step t before they came.
struct Board {
    bands: Vec<[[Posted; 2]; 2]>,
}

impl Board {
    fn new(bands: usize, size: usize) -> Self {
        let row = || Posted((0..size).map(|_| AtomicU32::new(0)).collect());
        let pair = || [row(), row()];
        Board { bands: (0..bands).map(|_| [pair(), pair()]).collect() }
    }

    fn of(&self, rank: usize, step: usize) -> &[Posted; 2] {
        &self.bands[rank][step % 2]
    }
}

/// A row that other threads may read. Relaxed accesses are enough: the reader has met the writer at
/// the barrier.
struct Posted(Vec<AtomicU32>);

impl Posted {
    fn put_up(&self, row: &[f32]) {
        for (place, cell) in self.0.iter().zip(row) {
            place.store(cell.to_bits(), Relaxed);
        }
    }

    fn copy_to(&self, row: &mut [f32]) {
        for (place, cell) in self.0.iter().zip(row) {
            *cell = f32::from_bits(place.load(Relaxed));
        }
    }
}

/// Returns the file that was given, or one in the current directory.
fn path(typed: Option<String>) -> Result<String, String> {
    match typed {
        None => Ok("heat.png".to_owned()),
        Some(option) if option.starts_with('-') => {
            Err(format!("{option:?} is no file; usage: heat [FILE] [SIZE] [STEPS] [THREADS]"))
        }
        Some(path) => Ok(path),
    }
}

/// Parses an argument, or returns `default` if there is none.
fn number(
    what: &str,
    typed: Option<String>,
    default: usize,
    allowed: std::ops::RangeInclusive<usize>,
) -> Result<usize, String> {
    let Some(typed) = typed else {
        return Ok(default);
    };
    match typed.parse() {
        Ok(value) if allowed.contains(&value) => Ok(value),
        _ => Err(format!(
            "{what} {typed:?}: must be a whole number from {} to {}",
            allowed.start(),
            allowed.end()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the same on one thread, cell by cell, as in a textbook.
    fn by_the_book(plate: &Plate, steps: usize) -> Plate {
        let size = plate.size;
        let mut now = plate.clone();
        for _ in 0..steps {
            let old = now.cells.clone();
            for row in 1..size - 1 {
                for column in 1..size - 1 {
                    let at = row * size + column;
                    let (upright, across) =
                        (old[at - size] + old[at + size], old[at - 1] + old[at + 1]);
                    now.cells[at] = 0.25 * (upright + across);
                }
            }
        }
        now
    }

    #[test]
    fn threads_compute_what_the_book_says() {
        for (size, threads) in [(3, 1), (8, 1), (8, 2), (8, 6), (21, 4), (40, 3)] {
            let plate = Plate::new(size);
            for steps in [0, 1, 2, 50] {
                let expected = by_the_book(&plate, steps);
                assert_eq!(plate.after(steps, threads), expected, "{size}, {threads}, {steps}");
            }
        }
    }

    fn refusal(typed: &[&str]) -> String {
        let job = Job::from_arguments(typed.iter().map(|&text| text.to_owned()));
        job.err().expect("refused").to_string()
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(refusal(&["a.png", "2"]), "size \"2\": must be a whole number from 3 to 10000");
        assert_eq!(
            refusal(&["a.png", "8", "1", "7"]),
            "threads \"7\": must be a whole number from 1 to 6"
        );
        assert!(refusal(&["--help"]).contains("usage: heat"));
        assert!(refusal(&["a", "8", "1", "1", "x"]).contains("one argument too many"));
    }

    #[test]
    fn iron_glows() {
        assert_eq!([0.0, 0.5, 1.0].map(colour), [[0, 0, 0], [255, 127, 0], [255, 255, 255]]);
    }
}
