//! Suggests names that were perhaps meant.

/// Most names suggested.
const SUGGESTIONS: usize = 3;
/// Smallest likeness of a suggested name; 1 is the same name.
const ALIKE: f64 = 0.6;

/// Returns the names nearest to what was typed, best first, or the single nearest one where none is
/// near.
///
/// ```
/// use throng_papers::names::suggestions;
/// assert_eq!(suggestions("hardwear", ["hardware", "funnel"]), ["hardware"]);
/// ```
pub fn suggestions<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut scored: Vec<(f64, &str)> =
        known.into_iter().map(|name| (likeness(typed, name), name)).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near = scored.iter().filter(|(score, _)| *score >= ALIKE).count();
    scored.truncate(near.clamp(1, SUGGESTIONS));
    scored.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// Returns how much of a name was typed right, from 0 to 1. A part of the name typed exactly counts
/// as near: `prism` is short for every method with a prism in its name.
fn likeness(typed: &str, name: &str) -> f64 {
    let (typed, name) = (typed.to_lowercase().replace('_', "-"), name.to_lowercase());
    let score = strsim::normalized_damerau_levenshtein(&typed, &name);
    let is_part = typed.len() >= 3 && name.contains(&typed);
    if is_part { score.max(ALIKE) } else { score }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested() {
        let known = ["hardware", "locked-mcs", "diffracting-prism", "diffracting-toggle"];
        let suggest = |typed| suggestions(typed, known);
        assert_eq!(suggest("hardwear"), ["hardware"]);
        assert_eq!(suggest("LOCKED_MSC"), ["locked-mcs"]);
        assert_eq!(suggest("diffracting"), ["diffracting-prism", "diffracting-toggle"]);
        assert_eq!(suggestions("ss98-99", ["DT96-8", "SS98-9/10"]), ["SS98-9/10"]);
        assert_eq!(suggest("zzz").len(), 1, "something is always suggested");
        assert_eq!(suggestions("ss98-99", ["DT96-9", "SS98-9/10"])[0], "SS98-9/10");
    }
}
