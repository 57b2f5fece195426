//! The processors that have copies of a line.
//!
//! Most lines have few copies, so a few ids are kept in place. A line that many processors read
//! gets a bit for each processor until it is written again.

use std::ops::Range;

/// The number of ids that are kept in place.
const FEW: usize = 6;

/// The processors that have copies of a line. A copy is exclusive if its holder may write.
#[derive(Debug)]
pub(super) struct Copies(Holders);

#[derive(Debug)]
enum Holders {
    Few { count: u8, exclusive: bool, ids: [u16; FEW] },
    Many(Box<Bits>),
}

#[derive(Debug)]
struct Bits {
    count: usize,
    words: Box<[u64]>,
}

impl Bits {
    fn holds(&self, id: usize) -> bool {
        self.words[id / 64] >> (id % 64) & 1 == 1
    }

    fn add(&mut self, id: usize) {
        debug_assert!(!self.holds(id));
        self.words[id / 64] |= 1 << (id % 64);
        self.count += 1;
    }

    fn first_other(&self, range: Range<usize>, who: usize) -> Option<usize> {
        let first_in = |word: usize| {
            let (low, high) = (word * 64, word * 64 + 64);
            let mut bits = self.words[word];
            if range.start > low {
                bits &= u64::MAX << (range.start - low);
            }
            if range.end < high {
                bits &= u64::MAX >> (high - range.end);
            }
            if who / 64 == word {
                bits &= !(1 << (who % 64));
            }
            (bits != 0).then(|| low + bits.trailing_zeros() as usize)
        };
        if range.is_empty() {
            return None;
        }
        (range.start / 64..range.end.div_ceil(64)).find_map(first_in)
    }
}

impl Copies {
    pub(super) const fn none() -> Self {
        Copies(Holders::Few { count: 0, exclusive: false, ids: [0; FEW] })
    }

    pub(super) fn count(&self) -> usize {
        match &self.0 {
            Holders::Few { count, .. } => (*count).into(),
            Holders::Many(bits) => bits.count,
        }
    }

    #[inline]
    pub(super) fn holds(&self, id: usize) -> bool {
        match &self.0 {
            Holders::Few { count, ids, .. } => ids[..*count as usize].contains(&(id as u16)),
            Holders::Many(bits) => bits.holds(id),
        }
    }

    /// Returns the processor that may write, if there is one.
    #[inline]
    pub(super) fn owner(&self) -> Option<usize> {
        match &self.0 {
            Holders::Few { ids, exclusive: true, .. } => Some(ids[0].into()),
            _ => None,
        }
    }

    /// Returns one of these processors that has a copy and is not `who`.
    pub(super) fn first_other(&self, range: Range<usize>, who: usize) -> Option<usize> {
        match &self.0 {
            Holders::Few { count, ids, .. } => {
                let ids = ids[..*count as usize].iter().map(|&id| usize::from(id));
                ids.into_iter().find(|id| range.contains(id) && *id != who)
            }
            Holders::Many(bits) => bits.first_other(range, who),
        }
    }

    /// Adds a copy; no processor may write any more. Returns the number of additional copies: 0 if
    /// the processor had one.
    pub(super) fn share(&mut self, id: usize, processors: usize) -> usize {
        if let Holders::Few { exclusive, .. } = &mut self.0 {
            *exclusive = false;
        }
        if self.holds(id) {
            return 0;
        }
        match &mut self.0 {
            Holders::Few { count, ids, .. } if usize::from(*count) < FEW => {
                ids[usize::from(*count)] = id as u16;
                *count += 1;
            }
            Holders::Few { ids, .. } => {
                let words = vec![0; processors.div_ceil(64)].into();
                let mut bits = Box::new(Bits { count: 0, words });
                ids.iter().for_each(|&few| bits.add(few.into()));
                bits.add(id);
                self.0 = Holders::Many(bits);
            }
            Holders::Many(bits) => bits.add(id),
        }
        1
    }

    /// Makes this processor the only one with a copy, which may write. The other holders must have
    /// been notified.
    pub(super) fn own(&mut self, id: usize) {
        let mut ids = [0; FEW];
        ids[0] = id as u16;
        *self = Copies(Holders::Few { count: 1, exclusive: true, ids });
    }

    /// Removes all copies. Their holders must have been notified.
    pub(super) fn clear(&mut self) {
        *self = Copies::none();
    }

    /// Calls `f` with each holder except `who`: in the order in which they came if they are few,
    /// otherwise in ascending order. Returns the number of calls.
    pub(super) fn for_others(&self, who: usize, mut f: impl FnMut(usize)) -> usize {
        let mut others = 0;
        let mut tell = |id: usize| {
            if id != who {
                others += 1;
                f(id);
            }
        };
        match &self.0 {
            Holders::Few { count, ids, .. } => {
                ids[..*count as usize].iter().for_each(|&id| tell(id.into()));
            }
            Holders::Many(bits) => {
                for (i, &word) in bits.words.iter().enumerate() {
                    let mut rest = word;
                    while rest != 0 {
                        tell(i * 64 + rest.trailing_zeros() as usize);
                        rest &= rest - 1;
                    }
                }
            }
        }
        others
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn few_and_many_agree_with_a_plain_set() {
        let mut copies = Copies::none();
        let mut plain = BTreeSet::new();
        for step in 0..200_usize {
            let id = step * 37 % 150;
            let more = copies.share(id, 150);
            assert_eq!(more == 1, plain.insert(id), "step {step}");
            assert_eq!(copies.count(), plain.len());
            assert_eq!(copies.owner(), None);
            for range in [0..150, 10..20, 60..70, 0..64, 64..128, 5..5] {
                let expected = plain.iter().any(|other| range.contains(other) && *other != id);
                let found = copies.first_other(range.clone(), id);
                assert_eq!(found.is_some(), expected, "{range:?}");
                assert!(found.is_none_or(|other| plain.contains(&other) && other != id));
                assert!(found.is_none_or(|other| range.contains(&other)));
            }
            let mut seen = BTreeSet::new();
            let others = copies.for_others(id, |other| assert!(seen.insert(other)));
            assert_eq!(others, plain.len() - 1);
            seen.insert(id);
            assert_eq!(seen, plain);
            if step % 50 == 49 {
                copies.own(7);
                plain = BTreeSet::from([7]);
                assert_eq!((copies.owner(), copies.count()), (Some(7), 1));
                assert!(copies.holds(7) && !copies.holds(8));
            }
        }
        copies.clear();
        assert_eq!((copies.count(), copies.holds(7), copies.owner()), (0, false, None));
    }
}
