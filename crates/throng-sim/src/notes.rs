//! Notes of algorithms about themselves ([`Cpu::note`](throng::machine::Cpu::note)).

/// The largest number of windows of time that are kept.
const WINDOWS: usize = 256;
/// The first length of a window, as a power of two.
const FIRST_SHIFT: u32 = 6;
/// The largest value that is counted by itself. Larger ones are counted as this one.
const VALUES: usize = 1 << 17;

/// The notes about one thing: their numbers by value and by time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The name of the note.
    pub what: &'static str,
    /// For each value 0, 1, 2, ... the number of times that it was noted. All values from 2^17 on
    /// are counted as 2^17.
    pub counts: Vec<u64>,
    windows: Vec<Window>,
}

/// The notes of one window of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Window {
    count: u64,
    sum: u64,
}

/// All notes of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notes {
    notes: Vec<Note>,
    /// A window is 2^shift cycles long.
    shift: u32,
}

/// The notes of one stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// The time when it begins, in cycles.
    pub start_cycle: u64,
    /// The number of notes.
    pub count: u64,
    /// The mean of the values noted, however large, up to a sum of 2^64 - 1 in a stretch. NaN if
    /// there are none.
    pub mean: f64,
}

impl Default for Notes {
    fn default() -> Self {
        Notes { notes: Vec::new(), shift: FIRST_SHIFT }
    }
}

impl Notes {
    pub(crate) fn add(&mut self, what: &'static str, value: u64, time: u64) {
        while (time >> self.shift) as usize >= WINDOWS {
            self.widen();
        }
        let window = (time >> self.shift) as usize;
        let note = self.find(what);
        let value_index = usize::try_from(value).map_or(VALUES, |value| value.min(VALUES));
        if note.counts.len() <= value_index {
            note.counts.resize(value_index + 1, 0);
        }
        note.counts[value_index] += 1;
        if note.windows.len() <= window {
            note.windows.resize(window + 1, Window::default());
        }
        note.windows[window].count += 1;
        let sum = &mut note.windows[window].sum;
        *sum = sum.saturating_add(value);
    }

    fn find(&mut self, what: &'static str) -> &mut Note {
        let known = self.notes.iter().position(|note| note.what == what);
        let index = known.unwrap_or_else(|| {
            self.notes.push(Note { what, counts: Vec::new(), windows: Vec::new() });
            self.notes.len() - 1
        });
        &mut self.notes[index]
    }

    /// Makes every window twice as long.
    fn widen(&mut self) {
        self.shift += 1;
        for note in &mut self.notes {
            let pair = |pair: &[Window]| Window {
                count: pair.iter().map(|w| w.count).sum(),
                sum: pair.iter().fold(0, |sum, w| sum.saturating_add(w.sum)),
            };
            note.windows = note.windows.chunks(2).map(pair).collect();
        }
    }

    /// Returns the note about `what`, or `None` if none was made.
    #[must_use]
    pub fn get(&self, what: &str) -> Option<&Note> {
        self.notes.iter().find(|note| note.what == what)
    }

    /// Returns the number of times that `what` was noted with `value`; with 2^17, with that value
    /// or more.
    #[must_use]
    pub fn count(&self, what: &str, value: usize) -> u64 {
        self.get(what).and_then(|note| note.counts.get(value)).copied().unwrap_or(0)
    }

    /// Returns the notes about `what` over time, in stretches of equal length.
    #[must_use]
    pub fn over_time(&self, what: &str) -> Vec<Stretch> {
        let windows = self.get(what).map_or(&[][..], |note| &note.windows);
        let stretch = |(i, window): (usize, &Window)| Stretch {
            start_cycle: (i as u64) << self.shift,
            count: window.count,
            mean: window.sum as f64 / window.count as f64,
        };
        windows.iter().enumerate().map(stretch).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_counted_by_value_and_time_however_long_it_takes() {
        let mut notes = Notes::default();
        for time in 0..100_000_u64 {
            notes.add("depth", if time < 50_000 { 2 } else { 4 }, time);
        }
        notes.add("other", 1 << 60, 0);
        assert_eq!(notes.count("depth", 2), 50_000);
        assert_eq!(notes.count("depth", 3), 0);
        assert_eq!(notes.count("nothing", 0), 0);
        let stretches = notes.over_time("depth");
        assert!(stretches.len() <= WINDOWS);
        assert_eq!(stretches.iter().map(|s| s.count).sum::<u64>(), 100_000);
        assert_eq!((stretches[0].start_cycle, stretches[0].mean), (0, 2.0));
        assert_eq!(stretches.last().unwrap().mean, 4.0);
    }

    #[test]
    fn the_largest_values_are_counted_as_one_and_their_sum_does_not_overflow() {
        let mut notes = Notes::default();
        let long = 1 << 40;
        for time in [0, 0, 1 << FIRST_SHIFT, long] {
            notes.add("much", u64::MAX, time);
        }
        notes.add("much", VALUES as u64, long);
        assert_eq!(notes.count("much", VALUES), 5);
        assert_eq!(notes.over_time("much")[0].mean, u64::MAX as f64 / 3.0);
    }
}
