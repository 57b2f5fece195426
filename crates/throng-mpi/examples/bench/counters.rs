//! Numbers a second, and the latency of one.

use crate::peer::Window;
use crate::{Ranks, Sheet, gather};
use mpi::traits::CommunicatorCollectives;
use std::fmt;
use std::thread;
use std::time::{Duration, Instant};
use throng_mpi::{Counter, Shape};

/// The ranks that ask during the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// All ranks, as fast as they can.
    All,
    /// The last rank. The others compute: they do not call MPI.
    One,
}

/// A counter that is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row {
    FetchAndOp,
    Ours(Shape),
}

pub(crate) fn rows(ranks: u32) -> Vec<Row> {
    let width = (ranks as usize / 2).next_power_of_two().max(2);
    vec![
        Row::FetchAndOp,
        Row::Ours(Shape::Central),
        Row::Ours(Shape::DiffractingTree { width }),
        Row::Ours(Shape::CombiningTree),
        Row::Ours(Shape::CountingNetwork { width }),
    ]
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Row::FetchAndOp => write!(f, "MPI_Fetch_and_op"),
            Row::Ours(shape) => write!(f, "{shape}"),
        }
    }
}

/// The measurements of one rank.
struct Drawn {
    numbers: Vec<u64>,
    took_ns: Vec<u64>,
    elapsed: Duration,
}

/// Runs one measurement, and checks that exactly 0..m-1 were given out.
pub(crate) fn run(ranks: &Ranks, row: Row, load: Load, time: Duration, sheet: &mut Sheet) {
    let drawn = match row {
        Row::FetchAndOp => {
            let Some(window) = Window::new(&ranks.world) else { return };
            window.sync();
            let drawn = draw(ranks, load, time, || window.next());
            gather::meet(&ranks.world);
            window.free();
            drawn
        }
        Row::Ours(shape) => {
            let counter = Counter::new(&ranks.world, &shape).expect("all are here");
            let drawn = draw(ranks, load, time, || counter.next().expect("all answer"));
            counter.finish().expect("all leave");
            drawn
        }
    };
    let all = gather::are_all_there(&ranks.world, &drawn.numbers).expect("0..m-1, each once");
    let elapsed = gather::largest(&ranks.world, drawn.elapsed.as_secs_f64());
    let mut took_ns = gather::all(&ranks.world, &drawn.took_ns);
    took_ns.sort_unstable();
    let part = |share: f64| match took_ns.len() {
        0 => 0.0,
        count => took_ns[((count - 1) as f64 * share) as usize] as f64 / 1e3,
    };
    let name = match load {
        Load::All => "all ask",
        Load::One => "one asks, the others compute",
    };
    sheet.add(
        "counter",
        &row.to_string(),
        name,
        "thousand numbers a second",
        all as f64 / elapsed / 1e3,
    );
    // As a share of an equal division.
    let least = -gather::largest(&ranks.world, -(drawn.numbers.len() as f64));
    let fair = all as f64 / f64::from(ranks.count);
    if load == Load::All {
        sheet.add(
            "counter",
            &row.to_string(),
            name,
            "% of its share got by the unluckiest rank",
            least / fair * 100.0,
        );
    }
    sheet.add("counter", &row.to_string(), name, "median us", part(0.5));
    sheet.add("counter", &row.to_string(), name, "99 % us", part(0.99));
}

fn draw(ranks: &Ranks, load: Load, time: Duration, mut next: impl FnMut() -> u64) -> Drawn {
    let mut drawn = Drawn { numbers: Vec::new(), took_ns: Vec::new(), elapsed: Duration::ZERO };
    ranks.world.barrier();
    let start = Instant::now();
    if load == Load::One && ranks.rank != ranks.count - 1 {
        // Computing, as far as MPI can tell, without taking the cores from the measured rank.
        thread::sleep(time);
    } else {
        let mut now = start;
        while now - start < time {
            drawn.numbers.push(next());
            let then = now;
            now = Instant::now();
            drawn.took_ns.push((now - then).as_nanos() as u64);
        }
    }
    drawn.elapsed = start.elapsed();
    drawn
}
