//! Who sleeps until which word is written.
//!
//! One list for each word, linked both ways through the processors, so that a write wakes all
//! sleepers and a time-out takes one out, each without searching.

const NOBODY: u32 = u32::MAX;
const AWAKE: u32 = u32::MAX;

/// A processor's place in the list of the word it sleeps on.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// The word it sleeps on, or `AWAKE`.
    word: u32,
    before: u32,
    after: u32,
}

/// The sleeping processors.
#[derive(Debug)]
pub(crate) struct Sleepers {
    /// For each word the first of its list, or `NOBODY`.
    first: Vec<u32>,
    /// For each processor.
    links: Vec<Link>,
}

impl Sleepers {
    /// All awake, and no words yet.
    pub(crate) fn new(processors: usize) -> Self {
        let awake = Link { word: AWAKE, before: NOBODY, after: NOBODY };
        Sleepers { first: Vec::new(), links: vec![awake; processors] }
    }

    /// Makes room for one more word.
    pub(crate) fn add_word(&mut self) {
        self.first.push(NOBODY);
    }

    /// The word that `processor` sleeps on.
    pub(crate) fn word_of(&self, processor: usize) -> Option<u32> {
        let word = self.links[processor].word;
        (word != AWAKE).then_some(word)
    }

    /// `processor`, which is awake, goes to sleep on `word`.
    pub(crate) fn insert(&mut self, processor: usize, word: u32) {
        let first = &mut self.first[word as usize];
        let after = std::mem::replace(first, processor as u32);
        self.links[processor] = Link { word, before: NOBODY, after };
        if after != NOBODY {
            self.links[after as usize].before = processor as u32;
        }
    }

    /// Wakes `processor`; tells whether it was asleep.
    pub(crate) fn remove(&mut self, processor: usize) -> bool {
        let Link { word, before, after } = self.links[processor];
        if word == AWAKE {
            return false;
        }
        self.links[processor].word = AWAKE;
        match before {
            NOBODY => self.first[word as usize] = after,
            _ => self.links[before as usize].after = after,
        }
        if after != NOBODY {
            self.links[after as usize].before = before;
        }
        true
    }

    /// Wakes one of those that sleep on `word`.
    #[inline]
    pub(crate) fn wake_one(&mut self, word: u32) -> Option<usize> {
        match self.first[word as usize] {
            NOBODY => None,
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
            sleepers.add_word();
            sleepers.add_word();
            for processor in 0..4 {
                sleepers.insert(processor, 1);
            }
            sleepers.insert(4, 0);
            assert_eq!(sleepers.word_of(leaver), Some(1));
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
