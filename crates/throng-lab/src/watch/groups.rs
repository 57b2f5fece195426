//! Finds the words of groups among the words of a simulated memory.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use throng::machine::Home;
use throng_sim::{MemoryReport, Traffic};

/// Returns, for each group of this height that has a processor, its first location and the traffic
/// of its word.
///
/// A word's place tells where its group begins, but not its height. Where groups of two heights
/// begin, two words are in use. The one whose traffic is more like that of the neighbouring groups
/// is the lower.
pub(super) fn words_of_groups(
    memory: &MemoryReport,
    heights: &[u32],
    height: u32,
    processors: usize,
) -> Vec<(usize, Traffic)> {
    let mut words: BTreeMap<usize, Vec<Traffic>> = BTreeMap::new();
    for &(place, traffic) in &memory.lines {
        if let ("open batch", Home::Near(first)) = (place.name, place.home) {
            words.entry(first).or_default().push(traffic);
        }
    }
    let in_use = |first: usize| {
        let mut words = words.get(&first).cloned().unwrap_or_default();
        words.sort_by_key(|traffic| Reverse(traffic.accesses()));
        words
    };
    let begin_here =
        |first: usize| heights.iter().filter(|&&h| first.is_multiple_of(1 << h)).count();
    let lowest = heights.iter().min().map_or(1, |&lowest| 1 << lowest);
    let beside: Vec<u64> = (0..processors)
        .step_by(lowest)
        .filter(|&first| begin_here(first) == 1)
        .map(|first| in_use(first).first().map_or(0, Traffic::accesses))
        .collect();
    let usual = beside.iter().sum::<u64>() / (beside.len() as u64).max(1);
    let above = heights.iter().filter(|&&lower| lower < height).count();
    let word = |first: usize| {
        let mut words = in_use(first);
        words.truncate(begin_here(first));
        if !beside.is_empty() {
            words.sort_by_key(|traffic| traffic.accesses().abs_diff(usual));
        }
        (first, words.get(above).copied().unwrap_or_default())
    };
    (0..processors).step_by(1 << height).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng::machine::Place;

    /// Returns a word with this number of accesses.
    fn word(first: usize, accesses: u64) -> (Place, Traffic) {
        let mut traffic = Traffic::default();
        traffic.misses = accesses;
        (Place::named("open batch").near(first), traffic)
    }

    #[test]
    fn the_words_of_two_heights_are_told_apart() {
        let mut memory = MemoryReport::default();
        // Words of heights 1 and 3: the first two, and the two at 8, begin at the same place. The
        // last is a word that is no longer in use.
        memory.lines = vec![
            (Place::named("root"), Traffic::default()),
            word(0, 500),
            word(0, 100),
            word(0, 0),
            word(2, 100),
            word(4, 110),
            word(6, 90),
            word(8, 100),
            word(8, 30),
            word(10, 100),
        ];
        let accesses = |height| {
            let words = words_of_groups(&memory, &[1, 3], height, 12);
            words.into_iter().map(|(first, word)| (first, word.accesses())).collect::<Vec<_>>()
        };
        assert_eq!(accesses(1), [(0, 100), (2, 100), (4, 110), (6, 90), (8, 100), (10, 100)]);
        assert_eq!(accesses(3), [(0, 500), (8, 30)]);
    }
}
