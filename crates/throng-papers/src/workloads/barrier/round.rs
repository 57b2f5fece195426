//! Analyses one round: the writers of each word, and the longest chain of words from the first
//! arrival to the last exit. This is what GV93 Table 2 counts, and it does not depend on the cost
//! of an access.

use std::collections::{HashMap, HashSet};

use throng::machine::{Home, Place};
use throng_sim::{Access, Operation};

use super::BELLS;

/// What the accesses of one round show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Length of the longest chain of words from the first arrival to the last exit. Each word was
    /// written by a processor that had learned of the one before. Several processors that add to
    /// one word in turn are one link. The word that announces the end of the round is one, too.
    pub critical_path: u64,
    /// The largest number of processors that wrote one word.
    pub writers_a_word: usize,
    /// The largest number of processors that wrote words of one line.
    pub writers_a_line: usize,
    /// Words that were written, without those that announce the end of the round.
    pub words: usize,
    /// Lines with at least one such word.
    pub lines: usize,
    /// Writes of such words whose home is at another processor. Where every processor waits on
    /// local words, these are the messages of arrival.
    pub writes_elsewhere: u64,
}

/// The accesses of a round: what each processor did after it entered.
pub(super) struct Window<'a> {
    /// All accesses, in the order of time.
    pub(super) trace: &'a [Access],
    /// The place of each word.
    pub(super) places: &'a [Place],
    /// For each processor, when it entered the round. Accesses that take effect at that very time
    /// belong to the round before.
    pub(super) since: &'a [u64],
}

impl Round {
    pub(super) fn of(window: &Window<'_>) -> Self {
        let mut writers: HashMap<u32, HashSet<usize>> = HashMap::new();
        let mut line_writers: HashMap<String, HashSet<usize>> = HashMap::new();
        let mut chain = Chain::new(window.since.len());
        let mut writes_elsewhere = 0;
        for access in window.trace.iter().filter(|a| a.time > window.since[a.processor]) {
            chain.add(access);
            if access.written.is_none() {
                continue;
            }
            let place = window.places[access.word as usize];
            if BELLS.contains(&place.name) {
                continue;
            }
            writers.entry(access.word).or_default().insert(access.processor);
            line_writers.entry(place.to_string()).or_default().insert(access.processor);
            writes_elsewhere += u64::from(place.home != Home::Near(access.processor));
        }
        let most = |sizes: &mut dyn Iterator<Item = usize>| sizes.max().unwrap_or(0);
        Round {
            critical_path: chain.longest,
            writers_a_word: most(&mut writers.values().map(HashSet::len)),
            writers_a_line: most(&mut line_writers.values().map(HashSet::len)),
            words: writers.len(),
            lines: line_writers.len(),
            writes_elsewhere,
        }
    }
}

/// The length of the chain behind what each processor knows, and behind each word.
struct Chain {
    processors: Vec<u64>,
    words: HashMap<u32, u64>,
    longest: u64,
}

impl Chain {
    fn new(processors: usize) -> Self {
        Chain { processors: vec![0; processors], words: HashMap::new(), longest: 0 }
    }

    fn add(&mut self, access: &Access) {
        let known = &mut self.processors[access.processor];
        let found = self.words.get(&access.word).copied().unwrap_or(0);
        let reads = access.operation != Operation::Store;
        if access.written.is_some() {
            let next = *known + 1;
            // A read-modify-write continues the chain of the word it finds.
            let link = if reads { found.max(next) } else { next };
            self.words.insert(access.word, link);
            if reads {
                *known = link;
            }
        } else {
            *known = found.max(*known);
        }
        self.longest = self.longest.max(*known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(processor: usize, word: u32, operation: Operation) -> Access {
        let written = (operation != Operation::Load).then_some(1);
        Access { time: 5, processor, word, operation, found: 0, written }
    }

    #[test]
    fn a_chain_grows_with_each_word_and_not_with_each_who_adds() {
        use Operation::{FetchAdd, Load, Store};
        let places = [Place::named("count"), Place::named("over").near(2)];
        let trace = [
            access(0, 0, FetchAdd),
            access(1, 0, FetchAdd),
            access(2, 0, FetchAdd),
            access(2, 1, Store),
            access(0, 1, Load),
            access(1, 1, Load),
        ];
        let window = Window { trace: &trace, places: &places, since: &[0; 3] };
        let round = Round::of(&window);
        assert_eq!((round.critical_path, round.writers_a_word), (2, 3));
        assert_eq!((round.words, round.lines, round.writes_elsewhere), (1, 1, 3));
        let later = Window { since: &[0, 9, 9], ..window };
        assert_eq!(Round::of(&later).writers_a_word, 1, "only what is in the round counts");
    }

    #[test]
    fn neighbours_on_a_line_have_writers_together() {
        use Operation::Store;
        let places = [Place::named("flags").index(0); 3];
        let trace = [access(0, 0, Store), access(1, 1, Store), access(2, 2, Store)];
        let round = Round::of(&Window { trace: &trace, places: &places, since: &[0; 3] });
        assert_eq!((round.writers_a_word, round.writers_a_line), (1, 3));
        assert_eq!((round.words, round.lines), (3, 1));
    }
}
