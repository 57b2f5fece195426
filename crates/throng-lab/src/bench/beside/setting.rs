//! The processes beside a measurement: a number of busy ones, or a copy of what is measured.

use std::fmt;

use serde::{Serialize, Serializer};
use throng_papers::arguments::number;

use super::neighbours::MOST;
use crate::error::Error;
use crate::threads::cores;

/// The processes beside a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// This many processes that compute without end.
    Busy(usize),
    /// A second process that does the same as the measured one.
    Copy,
}

/// The list that stands for the default one.
const USUAL: &str = "usual";
const COPY: &str = "copy";

impl Setting {
    /// Returns the settings of a typed list: numbers in ascending order, each once, and then the
    /// copy.
    ///
    /// # Errors
    /// When an item is neither a number of neighbours nor `copy`.
    pub fn list(typed: &str) -> Result<Vec<Setting>, Error> {
        if typed == USUAL {
            return Ok(Setting::usual(cores()));
        }
        let allowed = format!("whole numbers from 0 to {MOST} and {COPY}, separated by commas");
        let (copies, numbers): (Vec<&str>, Vec<&str>) =
            typed.split(',').map(str::trim).partition(|&item| item == COPY);
        let counts = numbers.iter().map(|item| number("--neighbours", item, 0..=MOST, &allowed));
        let counts: Vec<usize> = counts.collect::<Result<_, _>>()?;
        Ok(Setting::of(counts, !copies.is_empty()))
    }

    /// Returns the default settings.
    fn usual(cores: usize) -> Vec<Setting> {
        Setting::of(vec![0, cores / 4, cores / 2, cores, (2 * cores).min(MOST)], true)
    }

    fn of(mut counts: Vec<usize>, copy: bool) -> Vec<Setting> {
        counts.sort_unstable();
        counts.dedup();
        counts.into_iter().map(Setting::Busy).chain(copy.then_some(Setting::Copy)).collect()
    }

    /// Describes the setting, as in "beside 3 busy neighbours".
    pub fn in_words(self) -> String {
        match self {
            Setting::Busy(0) => "beside no neighbour".to_owned(),
            Setting::Copy => "beside a copy of itself".to_owned(),
            Setting::Busy(_) => format!("beside {}", self.head().replace(' ', " busy ")),
        }
    }

    /// Returns the head of its column, such as "3 neighbours".
    pub fn head(self) -> String {
        match self {
            Setting::Busy(count) => throng_papers::numbers::counted(count as u64, "neighbour"),
            Setting::Copy => "a copy".to_owned(),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Busy(count) => count.fmt(f),
            Setting::Copy => COPY.fmt(f),
        }
    }
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(settings: &[Setting]) -> Vec<String> {
        settings.iter().map(Setting::to_string).collect()
    }

    #[test]
    fn a_list_is_sorted_and_each_setting_taken_once() {
        let settings = Setting::list("copy, 8,0,8,4,copy").unwrap();
        assert_eq!(texts(&settings), ["0", "4", "8", "copy"]);
    }

    #[test]
    fn the_usual_settings_go_with_the_cores() {
        assert_eq!(texts(&Setting::usual(16)), ["0", "4", "8", "16", "32", "copy"]);
        assert_eq!(texts(&Setting::usual(2)), ["0", "1", "2", "4", "copy"]);
        assert_eq!(Setting::list(USUAL).unwrap(), Setting::usual(cores()));
    }

    #[test]
    fn mistakes_are_answered_with_what_is_allowed() {
        let allowed = "must be whole numbers from 0 to 1024 and copy, separated by commas";
        for (typed, shown) in [("-1", "-1"), ("2,many", "many"), ("", "\"\""), ("4,2000", "2000")] {
            let error = Setting::list(typed).unwrap_err();
            assert_eq!(error.to_string(), format!("--neighbours {shown}: {allowed}"));
        }
    }

    #[test]
    fn settings_have_words() {
        assert_eq!(Setting::Busy(1).in_words(), "beside 1 busy neighbour");
        assert_eq!(Setting::Busy(3).in_words(), "beside 3 busy neighbours");
        assert_eq!(Setting::Busy(0).in_words(), "beside no neighbour");
        assert_eq!(Setting::Copy.in_words(), "beside a copy of itself");
    }
}
