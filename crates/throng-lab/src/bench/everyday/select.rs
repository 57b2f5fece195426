//! Cases by name: `--only`.

use throng_papers::arguments::unknown_name;

use super::cases::Case;
use super::groups::Group;
use crate::error::Error;

/// Returns the cases that a list of patterns names. A pattern is a case, a group, or a name with
/// `*` for any letters. Without a list: all but [large](Case::is_large) ones, which a group does
/// not name either.
///
/// # Errors
/// When a pattern names no case.
pub(crate) fn only(cases: Vec<Case>, patterns: Option<&str>) -> Result<Vec<Case>, Error> {
    let Some(list) = patterns else {
        return Ok(cases.into_iter().filter(|case| !case.is_large()).collect());
    };
    let patterns: Vec<&str> = list.split(',').map(str::trim).collect();
    for pattern in &patterns {
        if !cases.iter().any(|case| is_named(case, pattern)) {
            return Err(unknown(pattern, &cases));
        }
    }
    let is_wanted = |case: &Case| patterns.iter().any(|pattern| is_named(case, pattern));
    Ok(cases.into_iter().filter(is_wanted).collect())
}

fn is_named(case: &Case, pattern: &str) -> bool {
    case.group.name() == pattern && !case.is_large() || matches(pattern, &case.name)
}

/// Returns whether a name matches a pattern in which `*` stands for any letters.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            (0..=name.len()).any(|end| name.get(end..).is_some_and(|tail| matches(rest, tail)))
        }),
    }
}

fn unknown(pattern: &str, cases: &[Case]) -> Error {
    let groups = Group::ALL.iter().map(|group| group.name());
    let mut names: Vec<&str> = groups.chain(cases.iter().map(|case| case.name.as_str())).collect();
    names.dedup();
    unknown_name(
        "--only",
        pattern,
        "case on this machine",
        names,
        "`throng bench everyday --list` names all",
    )
    .into()
}

#[cfg(test)]
mod tests {
    use super::super::cases::{Threads, all};
    use super::*;

    fn names(patterns: &str) -> Vec<String> {
        let cases = only(all(&Threads::for_cores(4)), Some(patterns)).unwrap();
        cases.into_iter().map(|case| case.name).collect()
    }

    #[test]
    fn a_pattern_is_a_case_a_group_or_has_stars() {
        assert_eq!(names("burst-2"), ["burst-2"]);
        assert_eq!(names("bytes"), ["bytes-empty", "bytes-small", "bytes-large"]);
        assert_eq!(names("fill-*,push-pop"), ["fill-1", "fill-2", "fill-16", "push-pop"]);
        assert_eq!(names("open-*:1-1M"), ["open-1:1-1M", "open-3:1-1M"]);
        assert_eq!(names("*-2"), ["burst-2", "fill-2"]);
        assert_eq!(names("backlog-*"), ["backlog-1M", "backlog-10M", "backlog-100M"]);
        assert!(!names("single").contains(&"backlog-100M".to_owned()), "it needs gigabytes");
        let threads: Vec<usize> = only(all(&Threads::for_cores(4)), Some("pairs-100"))
            .unwrap()
            .iter()
            .map(|case| case.threads)
            .collect();
        assert_eq!(threads, [1, 2, 4]);
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        for (pattern, expected) in [
            ("burts-2", "--only burts-2: no such case on this machine; did you mean burst-2 or"),
            ("pears", "--only pears: no such case on this machine; did you mean pairs"),
            ("tree-*0x", "--only \"tree-*0x\": no such case on this machine"),
            ("", "--only \"\": no such case on this machine"),
        ] {
            let error = only(all(&Threads::for_cores(2)), Some(pattern)).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
