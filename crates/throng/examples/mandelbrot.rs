//! Sharing out work whose pieces differ: the rows of a picture of the Mandelbrot set.
//!
//! Rows through the middle of the set take a hundred times as long as those at the edge. So no
//! thread gets rows in advance: each takes the next ones whenever it is free, and all of them end
//! at about the same time. [`map_indices`] does that.
//!
//! ```text
//! cargo run --release -p throng --example mandelbrot -- [FILE] [WIDTH] [HEIGHT] [THREADS]
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use throng::loops::map_indices;

fn main() -> ExitCode {
    match Job::from_arguments(std::env::args().skip(1)).and_then(|job| job.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// The settings of a picture.
struct Job {
    path: String,
    width: u32,
    height: u32,
    threads: u32,
}

impl Job {
    fn from_arguments(mut typed: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let job = Job {
            path: path(typed.next())?,
            width: number("width", typed.next(), 1200, 20_000)?,
            height: number("height", typed.next(), 800, 20_000)?,
            threads: number("threads", typed.next(), cores.min(1024), 1024)?,
        };
        match typed.next() {
            Some(extra) => Err(format!("{extra:?} is one argument too many").into()),
            None => Ok(job),
        }
    }

    fn run(&self) -> Result<(), Box<dyn Error>> {
        // Opened first, so that a file that cannot be written is reported before the computation.
        let file = File::create(&self.path)
            .map_err(|error| format!("{} cannot be written: {error}", self.path))?;
        let start = Instant::now();
        // The heart of the example: the rows are drawn in any order and returned in theirs.
        let rows = map_indices(0..self.height as usize, self.threads as usize, |row| {
            (self.draw_row(row as u32), thread::current().id())
        });
        let elapsed_ms = start.elapsed().as_secs_f64() * 1e3;
        self.save(file, rows.iter().flat_map(|(greys, _)| greys))
            .map_err(|error| format!("{} cannot be written: {error}", self.path))?;
        let mut rows_by_thread = HashMap::new();
        for (_, thread) in &rows {
            *rows_by_thread.entry(thread).or_insert(0) += 1;
        }
        for (thread, rows) in rows_by_thread.values().enumerate() {
            println!("thread {thread}: {rows} rows");
        }
        let Job { path, width, height, .. } = self;
        println!("{path}: {width} x {height} in {elapsed_ms:.0} ms");
        Ok(())
    }

    fn draw_row(&self, row: u32) -> Vec<u8> {
        let units_a_pixel = 3.0 / f64::from(self.width);
        let y = (f64::from(row) - f64::from(self.height) / 2.0) * units_a_pixel;
        (0..self.width).map(|column| grey(f64::from(column) * units_a_pixel - 2.2, y)).collect()
    }

    fn save<'a>(
        &self,
        file: File,
        greys: impl Iterator<Item = &'a u8>,
    ) -> Result<(), Box<dyn Error>> {
        let pixels: Vec<u8> = greys.copied().collect();
        let mut encoder = png::Encoder::new(BufWriter::new(file), self.width, self.height);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&pixels)?;
        writer.finish()?;
        Ok(())
    }
}

const STEPS: u32 = 1000;

/// Maps the number of steps until a point escapes to a grey; points that never do are black.
fn grey(x: f64, y: f64) -> u8 {
    let (mut a, mut b) = (0.0_f64, 0.0_f64);
    for step in 0..STEPS {
        let (a2, b2) = (a * a, b * b);
        if a2 + b2 > 4.0 {
            // The logarithm spreads the few fast steps as widely as the many slow ones.
            let part = f64::from(step + 1).ln() / f64::from(STEPS).ln();
            return 255 - (part * 235.0) as u8;
        }
        (a, b) = (a2 - b2 + x, 2.0 * a * b + y);
    }
    0
}

/// Returns the file that was given, or one in the current directory.
fn path(typed: Option<String>) -> Result<String, String> {
    match typed {
        None => Ok("mandelbrot.png".to_owned()),
        Some(option) if option.starts_with('-') => Err(format!(
            "{option:?} is no file; usage: mandelbrot [FILE] [WIDTH] [HEIGHT] [THREADS]"
        )),
        Some(path) => Ok(path),
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
