//! The loads of a run: those of barriers, queues and loops.

use std::str::FromStr;
use std::time::Duration;

use throng_papers::numbers::grouped;

use crate::bench::loops::work::Shape;
use crate::bench::loops::work::Size;

/// A load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Threads meet at a barrier, round after round.
    Rounds {
        /// Work of each thread before each round, in nanoseconds.
        work_ns: u32,
    },
    /// One item goes from one thread to another through a queue, and back through a second queue.
    PingPong,
    /// Half of the threads push into a queue, the others pop.
    Stream {
        /// Work of a thread before each push, in nanoseconds.
        work_ns: u32,
    },
    /// The indices of a loop are shared out, loop after loop.
    Loop {
        /// The distribution of work over the indices.
        shape: Shape,
        /// Number of indices, and the work of all together.
        size: Size,
        /// Other work of the calling thread between two loops.
        gap: Duration,
    },
}

impl Load {
    /// Returns the load as text, for the command line of a process and for files.
    pub fn text(self) -> String {
        match self {
            Load::Rounds { work_ns } => format!("rounds:{work_ns}"),
            Load::PingPong => "ping-pong".to_owned(),
            Load::Stream { work_ns } => format!("stream:{work_ns}"),
            Load::Loop { shape, size, gap } => format!(
                "loop:{}:{}:{}:{}",
                shape.name(),
                size.indices,
                size.microseconds,
                gap.as_micros()
            ),
        }
    }

    /// Returns the load of this text, or [`None`] if there is none.
    pub fn of(text: &str) -> Option<Load> {
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            ["rounds", work_ns] => Some(Load::Rounds { work_ns: number(work_ns)? }),
            ["ping-pong"] => Some(Load::PingPong),
            ["stream", work_ns] => Some(Load::Stream { work_ns: number(work_ns)? }),
            ["loop", shape, indices, microseconds, gap] => Some(Load::Loop {
                shape: Shape::ALL.into_iter().find(|known| known.name() == shape)?,
                size: Size { indices: number(indices)?, microseconds: number(microseconds)? },
                gap: Duration::from_micros(number(gap)?),
            }),
            _ => None,
        }
    }

    /// Describes the load, for the line above a table.
    pub fn in_words(self) -> String {
        match self {
            Load::Rounds { work_ns: 0 } => "rounds with nothing in between".to_owned(),
            Load::Rounds { work_ns } => {
                format!("rounds with {} ns of work in between", grouped(work_ns.into()))
            }
            Load::PingPong => "ping-pong: one item to another thread and back".to_owned(),
            Load::Stream { work_ns } => format!(
                "stream: half of the threads push, after {} ns of work each time, the others pop",
                grouped(work_ns.into())
            ),
            Load::Loop { shape, size, gap } => {
                let indices = grouped(size.indices as u64);
                let work = grouped(size.microseconds as u64);
                let gap = match gap.as_micros() {
                    0 => String::new(),
                    gap => format!(", {} us between two loops", grouped(gap as u64)),
                };
                format!("{} loop, {indices} indices, {work} us of work{gap}", shape.name())
            }
        }
    }

    /// Returns the name of one operation.
    pub const fn operation(self) -> &'static str {
        match self {
            Load::Rounds { .. } => "round",
            Load::PingPong => "way there and back",
            Load::Stream { .. } => "item",
            Load::Loop { .. } => "loop",
        }
    }

    /// Returns the numbers of threads in `asked` on which it can be measured.
    pub fn threads(self, asked: &[usize]) -> Vec<usize> {
        match self {
            Load::PingPong => vec![2],
            Load::Stream { .. } => asked.iter().copied().filter(|&n| n >= 2).collect(),
            Load::Rounds { .. } | Load::Loop { .. } => asked.to_vec(),
        }
    }
}

fn number<N: FromStr>(text: &str) -> Option<N> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_found_again_from_its_text() {
        let size = Size { indices: 1000, microseconds: 200 };
        for load in [
            Load::Rounds { work_ns: 0 },
            Load::Rounds { work_ns: 50_000 },
            Load::PingPong,
            Load::Stream { work_ns: 7 },
            Load::Loop { shape: Shape::Growing, size, gap: Duration::from_micros(30) },
        ] {
            assert_eq!(Load::of(&load.text()), Some(load));
        }
        for text in ["", "rounds", "rounds:-1", "loop:round:1:1:0", "ping-pong:3"] {
            assert_eq!(Load::of(text), None, "{text}");
        }
    }

    #[test]
    fn two_threads_play_ping_pong_and_a_stream_has_two_ends() {
        assert_eq!(Load::PingPong.threads(&[4, 8]), [2]);
        assert_eq!(Load::Stream { work_ns: 0 }.threads(&[1, 2, 5]), [2, 5]);
        assert_eq!(Load::Rounds { work_ns: 0 }.threads(&[1, 2]), [1, 2]);
    }
}
