//! A pipeline of three stages: threads read, threads count, and a task adds up. The stages are
//! joined by channels. So a slow stage holds up the one before, and each stage ends when the one
//! before has ended.
//!
//! ```text
//! cargo run --release -p throng --example pipeline
//! ```

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use throng::channel::{self, Receiver, Sender};

const READERS: usize = 2;
const COUNTERS: usize = 3;
const LINES_A_READER: usize = 20_000;
const WORDS: [&str; 5] = ["balancer", "prism", "toggle", "token", "leaf"];

/// The number of occurrences of each word.
type Counts = BTreeMap<&'static str, usize>;

/// Returns line `number` of a synthetic text. It has `number % 7` words.
fn line(number: usize) -> Vec<&'static str> {
    (0..number % 7).map(|position| WORDS[number * (position + 2) % 11 % WORDS.len()]).collect()
}

/// Sends the lines of one reader. Ends early if all receivers have been dropped.
fn read(reader: usize, lines: &Sender<Vec<&'static str>>) {
    let first = reader * LINES_A_READER;
    for number in first..first + LINES_A_READER {
        if lines.send(line(number)).is_err() {
            return;
        }
    }
}

/// Counts the words of each line.
fn count(lines: Receiver<Vec<&'static str>>, counts: &Sender<Counts>) {
    for words in lines {
        let mut found = Counts::new();
        words.into_iter().for_each(|word| *found.entry(word).or_default() += 1);
        if counts.send(found).is_err() {
            return;
        }
    }
}

/// Adds up the counts. This is a task; in a program with a runtime it is spawned there.
async fn add_up(counts: Receiver<Counts>) -> Counts {
    let mut all = Counts::new();
    while let Ok(found) = counts.recv_async().await {
        found.into_iter().for_each(|(word, times)| *all.entry(word).or_default() += times);
    }
    all
}

/// Wakes a thread that runs a task.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a task on this thread: the smallest possible runtime.
fn block_on<F: Future>(task: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut task = pin!(task);
    loop {
        match task.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

fn main() {
    let (line_sender, lines) = channel::bounded(64);
    let (count_sender, counts) = channel::bounded(16);
    let all = thread::scope(|scope| {
        for reader in 0..READERS {
            let sender = line_sender.clone();
            scope.spawn(move || read(reader, &sender));
        }
        for _ in 0..COUNTERS {
            let (lines, sender) = (lines.clone(), count_sender.clone());
            scope.spawn(move || count(lines, &sender));
        }
        // The stages have the clones now. A stage ends when the last sender before it is dropped.
        drop((line_sender, lines, count_sender));
        block_on(add_up(counts))
    });

    let mut expected = Counts::new();
    for word in (0..READERS * LINES_A_READER).flat_map(line) {
        *expected.entry(word).or_default() += 1;
    }
    assert_eq!(all, expected);
    for (word, times) in &all {
        println!("{times:>7} {word}");
    }
    println!("{:>7} words in {} lines", all.values().sum::<usize>(), READERS * LINES_A_READER);
}
