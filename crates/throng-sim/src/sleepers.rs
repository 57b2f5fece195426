//! The processors that sleep until a line is written.
//!
//! There is one list for each line, linked both ways through the processors. So a write wakes all
//! sleepers and a time-out removes one, each without searching.

use crate::memory::LineId;

const NO_PROCESSOR: u32 = u32::MAX;
const AWAKE: LineId = u32::MAX;

/// A processor's place in the list of the line on which it sleeps.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// The line it sleeps on, or `AWAKE`.
    line: LineId,
    /// The word on that line that it looks at.
    word: u32,
    before: u32,
    after: u32,
}

/// The sleeping processors.
#[derive(Debug)]
pub(crate) struct Sleepers {
    /// For each line the first of its list, or `NO_PROCESSOR`.
    first: Vec<u32>,
    /// One for each processor.
    links: Vec<Link>,
}

impl Sleepers {
    /// Returns a state without lines, in which all processors are awake.
    pub(crate) fn new(processors: usize) -> Self {
        let awake = Link { line: AWAKE, word: 0, before: NO_PROCESSOR, after: NO_PROCESSOR };
        Sleepers { first: Vec::new(), links: vec![awake; processors] }
    }

    /// Adds a line.
    pub(crate) fn add_line(&mut self) {
        self.first.push(NO_PROCESSOR);
    }

    /// Returns whether `processor` sleeps on `line`.
    #[inline]
    pub(crate) fn sleeps_on(&self, processor: usize, line: LineId) -> bool {
        self.links[processor].line == line
    }

    /// Returns the word on which `processor` sleeps.
    pub(crate) fn word_of(&self, processor: usize) -> Option<u32> {
        let link = self.links[processor];
        (link.line != AWAKE).then_some(link.word)
    }

    /// Puts `processor`, which must be awake, to sleep on `line`, looking at `word`.
    pub(crate) fn insert(&mut self, processor: usize, line: LineId, word: u32) {
        let first = &mut self.first[line as usize];
        let after = std::mem::replace(first, processor as u32);
        self.links[processor] = Link { line, word, before: NO_PROCESSOR, after };
        if after != NO_PROCESSOR {
            self.links[after as usize].before = processor as u32;
        }
    }

    /// Wakes `processor`. Returns whether it was asleep.
    pub(crate) fn remove(&mut self, processor: usize) -> bool {
        let Link { line, before, after, .. } = self.links[processor];
        if line == AWAKE {
            return false;
        }
        self.links[processor].line = AWAKE;
        match before {
            NO_PROCESSOR => self.first[line as usize] = after,
            _ => self.links[before as usize].after = after,
        }
        if after != NO_PROCESSOR {
            self.links[after as usize].before = before;
        }
        true
    }

    /// Wakes one of the processors that sleep on `line`.
    #[inline]
    pub(crate) fn wake_one(&mut self, line: LineId) -> Option<usize> {
        match self.first[line as usize] {
            NO_PROCESSOR => None,
            sleeper => {
                self.remove(sleeper as usize);
                Some(sleeper as usize)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anyone_can_leave_and_a_write_wakes_the_rest() {
        for leaver in 0..4 {
            let mut sleepers = Sleepers::new(5);
            sleepers.add_line();
            sleepers.add_line();
            for processor in 0..4 {
                sleepers.insert(processor, 1, 11);
            }
            sleepers.insert(4, 0, 10);
            assert_eq!(sleepers.word_of(leaver), Some(11));
            assert!(sleepers.sleeps_on(leaver, 1) && !sleepers.sleeps_on(leaver, 0));
            assert!(sleepers.remove(leaver));
            assert!(!sleepers.remove(leaver), "it is awake already");
            assert_eq!(sleepers.word_of(leaver), None);

            let mut woken: Vec<_> = std::iter::from_fn(|| sleepers.wake_one(1)).collect();
            woken.sort_unstable();
            let rest: Vec<_> = (0..4).filter(|&p| p != leaver).collect();
            assert_eq!(woken, rest);
            assert_eq!(sleepers.wake_one(0), Some(4));
            assert_eq!(sleepers.wake_one(0), None);
        }
    }
}
