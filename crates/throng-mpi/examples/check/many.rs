//! Several numbers by one call, checked by the specifications. All ranks are on one machine and
//! share its clock.

use crate::{Ranks, counters, gather};
use rustix::time::{ClockId, clock_gettime};
use std::thread;
use throng_check::history::Call;
use throng_check::spec;
use throng_mpi::{Counter, Options, Shape};

pub(crate) fn all(ranks: &Ranks) {
    for shape in counters::SHAPES {
        // The same number of calls in all, whatever the number of ranks.
        let each = 300 / ranks.count;
        ranks.test(&format!("{shape}, many at a time"), |ranks| draw(ranks, shape, 1, each));
        let name = format!("{shape}, many at a time, 3 threads a rank");
        ranks.test(&name, |ranks| draw(ranks, shape, 3, each / 3));
    }
    ranks.test("a million numbers by one call", a_million);
}

/// Fewer tests, for emulated hosts, on which all takes longer.
pub(crate) fn short(ranks: &Ranks) {
    for shape in counters::SHAPES {
        ranks.test(&format!("{shape}, many at a time"), |ranks| draw(ranks, shape, 2, 30));
    }
}

/// Start, end and number.
type Drawn = [u64; 3];

/// Every thread draws one number or several. The numbers of all ranks must keep the promises of the
/// shape.
fn draw(ranks: &Ranks, shape: Shape, threads: u32, each: u32) {
    let options = Options::new().threads(threads);
    let counter = Counter::with_options(&ranks.world, &shape, &options).expect("all are here");
    let drawn: Vec<Drawn> = thread::scope(|scope| {
        let draw = |thread| {
            let (counter, first) = (&counter, ranks.rank + thread);
            scope.spawn(move || draw_by(counter, first, each))
        };
        let threads: Vec<_> = (0..threads).map(draw).collect();
        threads.into_iter().flat_map(|its| its.join().expect("a panic ends the process")).collect()
    });
    counter.finish().expect("all leave");
    let calls: Vec<Call> = gather::all(&ranks.world, drawn.as_flattened())
        .as_chunks()
        .0
        .iter()
        .map(|&[started, ended, number]| Call::finished(started, ended, number))
        .collect();
    spec::check_counting(&calls).expect("it counts");
    if shape.is_linearizable() {
        spec::check_linearizable(&calls).expect("it is linearizable");
    }
}

fn draw_by(counter: &Counter, first: u32, each: u32) -> Vec<Drawn> {
    let mut drawn = Vec::new();
    for call in first..first + each {
        let count = [1, 2, 7, 40][call as usize % 4];
        let started = now_ns();
        let numbers = counter.next_many(count).expect("all answer");
        let ended = now_ns();
        assert_eq!(numbers.len(), count);
        assert!(numbers.range().is_some() || !counter.shape().is_linearizable(), "{numbers:?}");
        drawn.extend(numbers.into_iter().map(|number| [started, ended, number]));
        let started = now_ns();
        let number = counter.next().expect("all answer");
        drawn.push([started, now_ns(), number]);
    }
    drawn
}

fn a_million(ranks: &Ranks) {
    const MANY: u64 = 1_000_000;
    for shape in counters::SHAPES {
        let counter = Counter::new(&ranks.world, &shape).expect("all are here");
        assert!(counter.next_many(0).expect("nothing is asked for").is_empty());
        let numbers = counter.next_many(MANY).expect("all answer");
        counter.finish().expect("all leave");
        // Each number of all ranks once: their count is right, their sum is right, and so is that
        // of the squares.
        let (mut sum, mut squares) = (0_u64, 0_u64);
        for number in numbers {
            sum += number;
            squares = squares.wrapping_add(number * number);
        }
        let total =
            |mine| gather::all(&ranks.world, &[mine]).into_iter().fold(0, u64::wrapping_add);
        let (mut expected, mut of_squares) = (0_u64, 0_u64);
        for number in 0..MANY * u64::from(ranks.count) {
            expected += number;
            of_squares = of_squares.wrapping_add(number * number);
        }
        assert_eq!((total(sum), total(squares)), (expected, of_squares), "{shape}");
    }
}

fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
