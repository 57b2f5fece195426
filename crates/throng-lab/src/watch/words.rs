//! Describes what is seen in a sentence or two.

use super::state::{About, Load, Snapshot};

/// The command suggested where there are too few cores for groups.
const TRY: &str = "throng watch --machine server --processors 192";

/// Number of cores up to which one word is hardly ever too slow.
const FEW_CORES: usize = 8;

/// The page's text for the present moment.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Words {
    /// What is seen.
    pub headline: String,
    /// The reason.
    pub why: String,
    /// A command to try.
    pub try_this: Option<&'static str>,
}

impl Words {
    /// Chooses the text.
    pub fn of(about: &About, load: Load, seen: &Snapshot) -> Self {
        let try_this = (!about.simulated && about.cores <= FEW_CORES).then_some(TRY);
        let say = |headline: String, why: String| Words { headline, why, try_this };
        if let Some(trouble) = &seen.trouble {
            return say("It has stopped.".to_owned(), format!("{}.", capital(trouble)));
        }
        if load.callers == 0 {
            let why = "Move the slider, and watch the counter change its shape.".to_owned();
            return say("No caller takes numbers.".to_owned(), why);
        }
        let who = callers(load.callers, about.callers);
        let take = if load.callers == 1 { "takes" } else { "take" };
        let rate = large(seen.per_second);
        let headline = match seen.groups_of.as_slice() {
            [] => format!("One word: {who} {take} {rate} numbers a second."),
            [one] => format!("Groups of {one}: {who} {take} {rate} numbers a second."),
            [small, .., large] => {
                format!(
                    "Groups of {small} in groups of {large}: {who} {take} {rate} numbers a second."
                )
            }
        };
        say(headline, why(about, load, seen))
    }
}

fn why(about: &About, load: Load, seen: &Snapshot) -> String {
    if !seen.groups_of.is_empty() {
        let who = match seen.groups_of.len() {
            1 => "One caller of each group fetches numbers for the whole group",
            _ => "One caller of each group asks for all in it, one of each larger group for those",
        };
        let about = if seen.estimated { "about " } else { "" };
        let batch = large(seen.batch);
        return format!("{who}: a visit to the root brings {about}{batch} numbers.");
    }
    let tried = match seen.changes / 2 {
        0 => String::new(),
        1 => " It has tried groups, and came back.".to_owned(),
        _ => format!(" It has changed its shape {} times, trials included.", seen.changes),
    };
    if load.callers == 1 {
        return format!("Alone, a number is one atomic addition; nothing is faster.{tried}");
    }
    if !about.simulated && about.cores <= FEW_CORES {
        let cores = callers(about.cores, "cores");
        return format!(
            "With {cores} that is right: an addition takes less time than asking another core to \
             do it, so groups would be slower here.{tried}"
        );
    }
    if seen.root.waiting < 1.0 {
        return format!("Hardly any caller waits at it: groups would be slower here.{tried}");
    }
    let waiting = large(seen.root.waiting);
    format!(
        "{waiting} of them wait at a time. The counter tries groups when many wait, and keeps them \
         if numbers then come faster.{tried}"
    )
}

fn callers(count: usize, plural: &str) -> String {
    let singular = plural.trim_end_matches('s');
    // One processor is "processor".
    format!("{count} {}", if count == 1 { singular } else { plural })
}

fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or(String::new(), |first| first.to_uppercase().chain(rest).collect())
}

/// Formats a number as in "43 million".
fn large(number: f64) -> String {
    let digits = |number: f64| match number {
        _ if number >= 99.5 => format!("{number:.0}"),
        _ if number >= 9.95 || number == number.trunc() => format!("{number:.0}"),
        _ => format!("{number:.1}"),
    };
    match number {
        _ if number >= 999.5e6 => format!("{} billion", digits(number / 1e9)),
        _ if number >= 999.5e3 => format!("{} million", digits(number / 1e6)),
        _ if number >= 9_950.0 => format!("{} thousand", digits(number / 1e3)),
        _ => digits(number),
    }
}

#[cfg(test)]
mod tests {
    use super::super::state::tests::{LOAD, about};
    use super::super::state::{Heat, Snapshot};
    use super::*;

    fn seen(groups_of: &[usize]) -> Snapshot {
        Snapshot {
            groups_of: groups_of.to_vec(),
            per_second: 43.2e6,
            batch: 7.25,
            root: Heat { waiting: 0.4, visits_per_second: 43.2e6 },
            ..Snapshot::default()
        }
    }

    fn headline(callers: usize, groups_of: &[usize]) -> String {
        Words::of(&about(false), Load { callers, ..LOAD }, &seen(groups_of)).headline
    }

    #[test]
    fn the_shape_is_told_in_words() {
        assert_eq!(headline(4, &[]), "One word: 4 threads take 43 million numbers a second.");
        assert_eq!(headline(1, &[]), "One word: 1 thread takes 43 million numbers a second.");
        assert_eq!(headline(9, &[8]), "Groups of 8: 9 threads take 43 million numbers a second.");
        assert!(headline(9, &[8, 64]).starts_with("Groups of 8 in groups of 64: 9 threads"));
        assert_eq!(headline(0, &[]), "No caller takes numbers.");
    }

    #[test]
    fn on_few_cores_it_says_why_one_word_is_right_and_what_to_try() {
        let words = Words::of(&about(false), LOAD, &seen(&[]));
        assert!(words.why.starts_with("With 2 cores that is right"), "{words:?}");
        assert_eq!(words.try_this, Some(TRY));
        assert_eq!(Words::of(&about(true), LOAD, &seen(&[])).try_this, None);
    }

    #[test]
    fn estimates_are_called_such() {
        let counted = Words::of(&about(true), LOAD, &seen(&[8])).why;
        assert!(counted.ends_with("a visit to the root brings 7.2 numbers."), "{counted}");
        let estimated = Snapshot { estimated: true, ..seen(&[8, 64]) };
        let why = Words::of(&about(false), LOAD, &estimated).why;
        assert!(why.ends_with("brings about 7.2 numbers."), "{why}");
    }

    #[test]
    fn trouble_comes_before_all_else() {
        let broken = Snapshot { trouble: Some("it broke".to_owned()), ..seen(&[]) };
        let words = Words::of(&about(true), LOAD, &broken);
        assert_eq!((words.headline.as_str(), words.why.as_str()), ("It has stopped.", "It broke."));
    }

    #[test]
    fn numbers_are_short() {
        let numbers = [0.0, 7.25, 12.3, 950.0, 12_345.0, 1.04e6, 999.7e6, 7.2e9].map(large);
        assert_eq!(numbers, {
            ["0", "7.2", "12", "950", "12 thousand", "1.0 million", "1.0 billion", "7.2 billion"]
        });
    }
}
