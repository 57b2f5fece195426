//! Values of options, from the text that was typed. Every mistake is answered with the value and what is allowed.

use std::ops::RangeInclusive;

use crate::error::Error;
use crate::names::suggestions;

/// Returns the numbers of a list that was typed: ascending, each once.
///
/// ```
/// use throng_papers::arguments::numbers;
/// assert_eq!(numbers("--threads", "4, 1,2,4", 1..=8).unwrap(), [1, 2, 4]);
/// ```
///
/// # Errors
/// If an item is not a number of the range.
pub fn numbers(
    option: &'static str,
    list: &str,
    range: RangeInclusive<usize>,
) -> Result<Vec<usize>, Error> {
    let allowed =
        format!("whole numbers from {} to {}, separated by commas", range.start(), range.end());
    let counts = list
        .split(',')
        .map(|item| number(option, item, range.clone(), &allowed))
        .collect::<Result<_, _>>()?;
    Ok(ascending_once(counts))
}

/// Returns the numbers ascending, each once.
pub fn ascending_once(mut counts: Vec<usize>) -> Vec<usize> {
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// Returns the number of an option, or `None` if the option was not given.
///
/// # Errors
/// If the text is not a number of the range.
pub fn optional(
    option: &'static str,
    typed: Option<&str>,
    range: RangeInclusive<usize>,
) -> Result<Option<usize>, Error> {
    let allowed = format!("a whole number from {} to {}", range.start(), range.end());
    typed.map(|text| number(option, text, range, &allowed)).transpose()
}

/// Returns the number that was typed for an option. `allowed` says in words what the range is.
///
/// # Errors
/// If the text is not a number of the range.
pub fn number(
    option: &'static str,
    typed: &str,
    range: RangeInclusive<usize>,
    allowed: &str,
) -> Result<usize, Error> {
    match typed.trim().parse() {
        Ok(value) if range.contains(&value) => Ok(value),
        _ => Err(not_allowed(option, typed, allowed)),
    }
}

/// Returns the error for a value that an option does not allow. `allowed` is read after "must be".
pub fn not_allowed(
    option: &'static str,
    value: impl Into<String>,
    allowed: impl Into<String>,
) -> Error {
    Error::Value { option, value: value.into(), allowed: allowed.into() }
}

/// Returns the error for a name that is not `known`, with the nearest known names. `kind` says what the name should
/// be the name of, and `hint` where all names are.
pub fn unknown_name<'a>(
    option: &'static str,
    name: &str,
    kind: &'static str,
    known: impl IntoIterator<Item = &'a str>,
    hint: &'static str,
) -> Error {
    Error::UnknownName {
        option,
        name: name.to_owned(),
        kind,
        suggestions: suggestions(name, known),
        hint,
    }
}

/// Returns the names of a list that was typed, or all that are known where there is no list.
///
/// # Errors
/// If a name is not known.
pub fn chosen<'a>(
    option: &'static str,
    typed: Option<&str>,
    kind: &'static str,
    known: &[&'a str],
    hint: &'static str,
) -> Result<Vec<&'a str>, Error> {
    let Some(list) = typed else { return Ok(known.to_vec()) };
    let find = |name: &str| {
        known
            .iter()
            .copied()
            .find(|&other| other == name)
            .ok_or_else(|| unknown_name(option, name, kind, known.iter().copied(), hint))
    };
    list.split(',').map(|name| find(name.trim())).collect()
}

/// Sees that all names that were typed are known.
///
/// # Errors
/// If a name is not known.
pub fn check_names(
    option: &'static str,
    typed: &[String],
    kind: &'static str,
    known: &[&str],
    hint: &'static str,
) -> Result<(), Error> {
    match typed.iter().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(unknown_name(option, name, kind, known.iter().copied(), hint)),
    }
}
