//! Faults as a text that people write and read.
//!
//! A part is written in one of a few [`FORMS`]: words in small letters stand for themselves, words
//! in capitals for numbers. The list serves the parser and its messages.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use super::{Faults, Part, Stop};

/// The script without faults.
const NONE: &str = "none";

/// A form of a part, and its meaning; the numbers are in the order of the text.
struct Form {
    text: &'static str,
    part: fn(&[u64]) -> Part,
}

const FORMS: [Form; 9] = [
    Form {
        text: "delay 1 in ACCESSES up to CYCLES",
        part: |n| Part::Delays { one_in: n[0], cycles_max: n[1] },
    },
    Form {
        text: "stall PROCESSOR at ACCESS for CYCLES",
        part: |n| stop(n[0], n[1], Stop::Stall(n[2])),
    },
    Form {
        text: "stall any COUNT within ACCESSES up to CYCLES",
        part: |n| random_stops(n[0], n[1], Stop::Stall(n[2])),
    },
    Form {
        text: "preempt PROCESSOR from CYCLE for CYCLES",
        part: |n| Part::Preempt { processor: n[0] as usize, cycle: n[1], cycles: n[2] },
    },
    Form {
        text: "preempt all every CYCLES for CYCLES",
        part: |n| Part::RandomPreemptions { every_cycles_mean: n[0], cycles: n[1] },
    },
    Form { text: "halt PROCESSOR before ACCESS", part: |n| stop(n[0], n[1], Stop::HaltBefore) },
    Form { text: "halt PROCESSOR after ACCESS", part: |n| stop(n[0], n[1], Stop::HaltAfter) },
    Form {
        text: "halt any COUNT within ACCESSES",
        part: |n| random_stops(n[0], n[1], Stop::HaltBefore),
    },
    Form {
        text: "slow PROCESSOR by FACTOR",
        part: |n| Part::Slow { processor: n[0] as usize, factor: n[1] },
    },
];

fn stop(processor: u64, access: u64, stop: Stop) -> Part {
    Part::Stop { processor: processor as usize, access, stop }
}

fn random_stops(count: u64, access_max: u64, stop: Stop) -> Part {
    Part::RandomStops { count: count as usize, access_max, stop }
}

/// The error of a part of a script that cannot be parsed. It names the part, and how it can be
/// written.
///
/// ```
/// use throng_sim::Faults;
/// let error = "slow 1 by 2; slow 2".parse::<Faults>().unwrap_err();
/// assert_eq!(error.to_string(), "fault \"slow 2\": write \"slow PROCESSOR by FACTOR\"");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    part: String,
    problem: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fault {:?}: {}", self.part, self.problem)
    }
}

impl Error for ScriptError {}

impl FromStr for Faults {
    type Err = ScriptError;

    /// Parses a script; see [the grammar](Faults#scripts).
    fn from_str(script: &str) -> Result<Self, ScriptError> {
        let without_comment = |line| str::split(line, '#').next().unwrap_or_default();
        let texts = script.lines().map(without_comment).flat_map(|line| line.split(';'));
        let texts = texts.map(str::trim).filter(|text| !text.is_empty() && *text != NONE);
        let parse = |text: &str| {
            parse_part(text).map_err(|problem| ScriptError { part: text.to_owned(), problem })
        };
        Ok(Faults { parts: texts.map(parse).collect::<Result<_, _>>()? })
    }
}

fn parse_part(text: &str) -> Result<Part, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match FORMS.iter().find(|form| form.fits(&words)) {
        Some(form) => Ok((form.part)(&form.numbers(&words)?)),
        None => Err(advice(words[0])),
    }
}

impl Form {
    fn words(&self) -> impl Iterator<Item = &'static str> {
        self.text.split(' ')
    }

    /// Returns whether `words` have this form, whatever is in the places of numbers.
    fn fits(&self, words: &[&str]) -> bool {
        self.words().count() == words.len()
            && self.words().zip(words).all(|(of_form, &word)| is_number(of_form) || of_form == word)
    }

    fn numbers(&self, words: &[&str]) -> Result<Vec<u64>, String> {
        let places = self.words().zip(words).filter(|(of_form, _)| is_number(of_form));
        let number = |(of_form, word): (&str, &&str)| {
            let digits = word.replace('_', "");
            let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            let number = digits.parse().ok().filter(|_| plain);
            number.ok_or_else(|| format!("{of_form} must be a whole number, not {word:?}"))
        };
        places.map(number).collect()
    }
}

/// Returns whether a word of a form stands for a number.
fn is_number(of_form: &str) -> bool {
    of_form.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Returns the forms of a part that begins with `word`.
fn advice(word: &str) -> String {
    let begins_so = |form: &&Form| form.words().next() == Some(word);
    let mut forms: Vec<&str> = FORMS.iter().filter(begins_so).map(|form| form.text).collect();
    if forms.is_empty() {
        forms = FORMS.iter().map(|form| form.text).collect();
    }
    let quoted: Vec<String> = forms.iter().map(|text| format!("{text:?}")).collect();
    format!("write {}", quoted.join(" or "))
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.parts.is_empty() {
            return f.write_str(NONE);
        }
        for (i, part) in self.parts.iter().enumerate() {
            write!(f, "{}{part}", if i == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Part::Delays { one_in, cycles_max } => {
                write!(f, "delay 1 in {one_in} up to {cycles_max}")
            }
            Part::Stop { processor, access, stop } => match stop {
                Stop::Stall(cycles) => write!(f, "stall {processor} at {access} for {cycles}"),
                Stop::HaltBefore => write!(f, "halt {processor} before {access}"),
                Stop::HaltAfter => write!(f, "halt {processor} after {access}"),
            },
            Part::RandomStops { count, access_max, stop } => match stop {
                Stop::Stall(cycles_max) => {
                    write!(f, "stall any {count} within {access_max} up to {cycles_max}")
                }
                // Random halts come before an access, never after one.
                Stop::HaltBefore | Stop::HaltAfter => {
                    write!(f, "halt any {count} within {access_max}")
                }
            },
            Part::Preempt { processor, cycle, cycles } => {
                write!(f, "preempt {processor} from {cycle} for {cycles}")
            }
            Part::RandomPreemptions { every_cycles_mean, cycles } => {
                write!(f, "preempt all every {every_cycles_mean} for {cycles}")
            }
            Part::Slow { processor, factor } => write!(f, "slow {processor} by {factor}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_form_means_what_the_method_of_its_kind_means() {
        let cases = [
            ("delay 1 in 8 up to 500", Faults::none().random_delays(8, 500)),
            ("stall 0 at 3 for 10_000", Faults::none().stall(0, 3, 10_000)),
            ("stall any 4 within 20 up to 500", Faults::none().random_stalls(4, 20, 500)),
            ("preempt 2 from 70 for 900", Faults::none().preempt(2, 70, 900)),
            ("preempt all every 5000 for 70", Faults::none().random_preemptions(5000, 70)),
            ("halt 5 before 1", Faults::none().halt_before(5, 1)),
            ("halt 5 after 7", Faults::none().halt_after(5, 7)),
            ("halt any 2 within 20", Faults::none().random_halts(2, 20)),
            ("slow 2 by 4", Faults::none().slow(2, 4)),
        ];
        assert_eq!(cases.len(), FORMS.len());
        for (script, faults) in cases {
            assert_eq!(script.parse(), Ok(faults), "{script}");
        }
    }

    #[test]
    fn every_form_is_in_the_docs() {
        for form in &FORMS {
            let row = format!("/// | `{}` |", form.text);
            assert!(include_str!("mod.rs").contains(&row), "{row}");
        }
    }

    #[test]
    fn layout_is_free_and_comments_are_left_out() {
        let script = "# found by seed 7\n slow 1  by 2;;\n\n halt 1 before 2; # why?; slow 9\n";
        assert_eq!(script.parse(), Ok(Faults::none().slow(1, 2).halt_before(1, 2)));
        for nothing in ["", "none", " ; none\n"] {
            assert_eq!(nothing.parse(), Ok(Faults::none()));
        }
        assert_eq!(Faults::none().to_string(), "none");
    }

    #[test]
    fn what_cannot_be_understood_is_named_with_what_is_allowed() {
        let message = |script: &str| script.parse::<Faults>().unwrap_err().to_string();
        assert_eq!(
            message("slow 1 by 2; halt 5; slow 3"),
            "fault \"halt 5\": write \"halt PROCESSOR before ACCESS\" or \"halt PROCESSOR after \
             ACCESS\" or \"halt any COUNT within ACCESSES\""
        );
        for wrong in ["-1", "1.5", "x", "_", "+1", "99999999999999999999", "any"] {
            assert_eq!(
                message(&format!("halt {wrong} before 1")),
                format!(
                    "fault \"halt {wrong} before 1\": PROCESSOR must be a whole number, not \
                     \"{wrong}\""
                )
            );
        }
        let unknown = message("stumble");
        assert!(unknown.starts_with("fault \"stumble\": write \"delay 1 in"), "{unknown}");
        assert!(FORMS.iter().all(|form| unknown.contains(form.text)), "{unknown}");
    }

    fn any_part() -> impl Strategy<Value = Part> {
        (0..FORMS.len(), any::<[u64; 3]>()).prop_map(|(form, n)| (FORMS[form].part)(&n))
    }

    proptest! {
        #[test]
        fn what_is_displayed_is_read_as_the_same(parts in prop::collection::vec(any_part(), 0..9)) {
            let faults = Faults { parts };
            prop_assert_eq!(faults.to_string().parse::<Faults>(), Ok(faults));
        }

        #[test]
        fn no_text_makes_it_panic(script in "([a-z0-9;#\n ]|delay|halt|any|in|\\PC){0,40}") {
            let _ = script.parse::<Faults>();
        }
    }
}
