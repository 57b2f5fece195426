//! A pipeline with bounded queues: a crawler that fetches pages, parses them and indexes their words.
//!
//! ```text
//!              ┌──────────────── links not seen before ─────────────────┐
//!              v                                                        │
//!   frontier (unbounded) ──> fetch ──> fetched (bounded) ──> parse ──> parsed (bounded) ──> index
//! ```
//!
//! The bounded queues hold a fast stage back: a thread that finds the next queue full waits until
//! there is room, so that no more pages are in memory than fit in. But the way from parse back to
//! fetch makes a circle, and a circle of queues that are all bounded can deadlock: the fetchers
//! wait for room behind the parsers, and the parsers for room behind the fetchers. So the queue
//! that closes the circle, the frontier, has no bound. Then the waits form no circle: fetchers wait
//! only for parsers, parsers only for indexers, and indexers for no other stage. The frontier is
//! small. It holds a number for each page, and each page only once, since the set of visited pages
//! lets each in once.
//!
//! A counter says when every page that was put into the frontier has been parsed. Then the frontier
//! is closed, and each stage closes the queue behind it when its last thread ends.
//!
//! The pages are synthetic: the links of page p are computed from p and a seed, and fetching it
//! takes a little arithmetic.
//!
//! ```text
//! cargo run --release -p throng --example crawl -- [PAGES] [THREADS] [CAPACITY] [SEED]
//! ```

use std::collections::HashMap;
use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::AcqRel, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use throng::Queue;
use throng::machine::SplitMix64;

fn main() -> ExitCode {
    match Crawl::from_arguments(std::env::args().skip(1)) {
        Ok(crawl) => {
            crawl.run();
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// The settings of a crawl.
struct Crawl {
    pages: u32,
    /// The number of threads of each stage.
    threads: u32,
    /// The capacity of each bounded queue.
    capacity: u32,
    seed: u32,
}

/// A page as it was fetched: words and links, mixed.
struct Fetched {
    page: u32,
    text: Vec<u64>,
}

/// A page after parsing.
struct Parsed {
    page: u32,
    words: Vec<u32>,
}

/// The result of a crawl.
#[derive(Debug, PartialEq, Eq)]
struct Summary {
    pages: u64,
    links: u64,
    /// For each word, the number of its occurrences and the sum of the numbers of its pages.
    index: HashMap<u32, (u64, u64)>,
}

/// The number of words of a page.
const WORDS: u64 = 40;
const MOST_LINKS: u64 = 12;
/// The number of different words.
const VOCABULARY: u64 = 500;
/// The bit that marks a link.
const LINK: u64 = 1 << 40;
/// The rounds of arithmetic for a page.
const WORK: u32 = 2000;

/// A queue, and the largest length that was seen.
struct Channel<T: Send> {
    queue: Queue<T>,
    fullest: AtomicUsize,
}

impl<T: Send> Channel<T> {
    fn new(queue: Queue<T>) -> Self {
        Channel { queue, fullest: AtomicUsize::new(0) }
    }

    fn push(&self, item: T) {
        if self.queue.push(item).is_err() {
            unreachable!("a stage closes the queue behind it when its last thread ends");
        }
        self.fullest.fetch_max(self.queue.len(), Relaxed);
    }
}

/// The number of threads of a stage that have not ended.
struct Stage {
    running: AtomicU64,
}

impl Stage {
    fn of(threads: u32) -> Self {
        Stage { running: AtomicU64::new(threads.into()) }
    }

    /// Counts a thread that ends. Returns whether it was the last.
    fn loses_its_last(&self) -> bool {
        self.running.fetch_sub(1, AcqRel) == 1
    }
}

impl Crawl {
    fn from_arguments(mut typed: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let crawl = Crawl {
            pages: number("pages", typed.next(), 5000, 10_000_000)?,
            threads: number("threads", typed.next(), 2, 256)?,
            capacity: number("capacity", typed.next(), 32, 1_000_000)?,
            seed: number("seed", typed.next(), 1, u32::MAX)?,
        };
        match typed.next() {
            Some(extra) => Err(format!("{extra:?} is one argument too many").into()),
            None => Ok(crawl),
        }
    }

    fn run(&self) {
        let start = Instant::now();
        let (frontier, fetched, parsed) = self.channels();
        let Summary { pages, links, index } = self.crawl(&frontier, &fetched, &parsed);
        let elapsed_ms = start.elapsed().as_secs_f64() * 1e3;
        println!("{pages} pages of {} were found, with {links} links", self.pages);
        println!("{} different words", index.len());
        println!("fullest: frontier {}", frontier.fullest.load(Relaxed));
        for (name, fullest) in [("fetched", &fetched.fullest), ("parsed", &parsed.fullest)] {
            println!("fullest: {name} {} of {}", fullest.load(Relaxed), self.capacity);
        }
        println!("{elapsed_ms:.0} ms with {} threads a stage", self.threads);
    }

    fn channels(&self) -> (Channel<u32>, Channel<Fetched>, Channel<Parsed>) {
        let capacity = self.capacity as usize;
        (
            Channel::new(Queue::unbounded()),
            Channel::new(Queue::bounded(capacity)),
            Channel::new(Queue::bounded(capacity)),
        )
    }

    /// Crawls from page 0 on.
    fn crawl(
        &self,
        frontier: &Channel<u32>,
        fetched: &Channel<Fetched>,
        parsed: &Channel<Parsed>,
    ) -> Summary {
        let visited: Vec<AtomicBool> = (0..self.pages).map(|_| AtomicBool::new(false)).collect();
        // The number of pages that were put into the frontier and are not parsed yet.
        let outstanding = AtomicU64::new(0);
        let links = AtomicU64::new(0);
        let visit = |page: u32| {
            if !visited[page as usize].swap(true, Relaxed) {
                outstanding.fetch_add(1, AcqRel);
                frontier.push(page);
            }
        };
        visit(0);
        let (fetchers, parsers) = (Stage::of(self.threads), Stage::of(self.threads));
        let fetch = || {
            while let Some(page) = frontier.queue.pop() {
                fetched.push(self.fetch(page));
            }
            if fetchers.loses_its_last() {
                fetched.queue.close();
            }
        };
        let parse = || {
            while let Some(Fetched { page, text }) = fetched.queue.pop() {
                let (found, words): (Vec<u64>, Vec<u64>) =
                    text.into_iter().partition(|item| item & LINK != 0);
                links.fetch_add(found.len() as u64, Relaxed);
                parsed.push(Parsed { page, words: words.into_iter().map(|w| w as u32).collect() });
                found.into_iter().for_each(|link| visit((link & !LINK) as u32));
                // Counted down after its links were counted up, so it becomes zero only once.
                if outstanding.fetch_sub(1, AcqRel) == 1 {
                    frontier.queue.close();
                }
            }
            if parsers.loses_its_last() {
                parsed.queue.close();
            }
        };
        let index = || {
            let mut index = HashMap::new();
            let mut pages = 0;
            while let Some(Parsed { page, words }) = parsed.queue.pop() {
                pages += 1;
                for word in words {
                    let (count, page_sum) = index.entry(word).or_insert((0, 0));
                    *count += 1;
                    *page_sum += u64::from(page);
                }
            }
            (pages, index)
        };
        let parts = thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(fetch);
                scope.spawn(parse);
            }
            let indexers: Vec<_> = (0..self.threads).map(|_| scope.spawn(index)).collect();
            let joined = indexers.into_iter().map(|thread| thread.join());
            joined.map(|part| part.expect("indexing does not panic")).collect::<Vec<_>>()
        });
        let mut whole = Summary { pages: 0, links: links.into_inner(), index: HashMap::new() };
        for (pages, index) in parts {
            whole.pages += pages;
            for (word, (count, page_sum)) in index {
                let entry = whole.index.entry(word).or_insert((0, 0));
                *entry = (entry.0 + count, entry.1 + page_sum);
            }
        }
        whole
    }

    /// Makes a synthetic page: some arithmetic, words, and links to pages near and far.
    fn fetch(&self, page: u32) -> Fetched {
        let mut random =
            SplitMix64::from_state(SplitMix64::mix(u64::from(self.seed) << 32 | u64::from(page)));
        for _ in 0..WORK {
            random.draw();
        }
        let mut text: Vec<u64> = (0..WORDS).map(|_| random.below(VOCABULARY)).collect();
        let links = random.below(MOST_LINKS + 1);
        for _ in 0..links {
            // The smaller of two random numbers, so that some pages have many links to them.
            let pages = u64::from(self.pages);
            text.push(LINK | random.below(pages).min(random.below(pages)));
        }
        // A link to the next page, so that every page can be reached.
        text.push(LINK | u64::from((page + 1) % self.pages));
        Fetched { page, text }
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

    fn crawled(threads: u32, capacity: u32) -> Summary {
        let crawl = Crawl { pages: 300, threads, capacity, seed: 7 };
        let (frontier, fetched, parsed) = crawl.channels();
        let summary = crawl.crawl(&frontier, &fetched, &parsed);
        assert!(fetched.fullest.load(Relaxed) <= capacity as usize);
        assert!(parsed.fullest.load(Relaxed) <= capacity as usize);
        summary
    }

    #[test]
    fn every_page_is_found_however_many_crawl_and_however_little_room_there_is() {
        let alone = crawled(1, 100);
        assert_eq!(alone.pages, 300);
        assert_eq!(alone.index.values().map(|entry| entry.0).sum::<u64>(), 300 * WORDS);
        for (threads, capacity) in [(1, 1), (2, 1), (3, 4)] {
            assert_eq!(crawled(threads, capacity), alone, "{threads} threads, room for {capacity}");
        }
    }

    #[test]
    fn arguments_that_cannot_be_are_refused() {
        let typed = |words: &[&str]| Crawl::from_arguments(words.iter().map(|w| w.to_string()));
        let error = |words: &[&str]| typed(words).err().unwrap().to_string();
        assert_eq!(error(&["0"]), "pages \"0\": must be a whole number from 1 to 10000000");
        assert_eq!(
            error(&["9", "9", "0"]),
            "capacity \"0\": must be a whole number from 1 to 1000000"
        );
        assert_eq!(error(&["9", "9", "9", "9", "9"]), "\"9\" is one argument too many");
    }
}
