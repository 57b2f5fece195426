//! What a paper claims, and what we found.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A claim of a paper, with its judgement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// What the paper says, shortened.
    pub text: String,
    /// The claim as a condition on a number that can be measured.
    pub expected: String,
    /// The number measured.
    pub measured: String,
    /// Whether the claim holds; `None` where the run was too small to judge.
    pub holds: Option<bool>,
    /// The reason, as far as it is known, where the claim does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Claim {
    /// Returns a claim that is not yet judged.
    pub fn new(text: impl Into<String>, expected: impl Into<String>) -> Self {
        Claim {
            text: text.into(),
            expected: expected.into(),
            measured: "nothing".to_owned(),
            holds: None,
            note: None,
        }
    }

    /// Sets what was measured, and whether the claim holds.
    #[must_use]
    pub fn judged(self, measured: impl Into<String>, holds: Option<bool>) -> Self {
        Claim { measured: measured.into(), holds, ..self }
    }

    /// Sets the reason why the claim does not hold. Does nothing where it holds.
    #[must_use]
    pub fn because(self, note: impl Into<String>) -> Self {
        let note = (self.holds == Some(false)).then(|| note.into());
        Claim { note, ..self }
    }

    /// Adds a further reason. Does nothing where the claim holds.
    #[must_use]
    pub fn and_because(self, more: impl AsRef<str>) -> Self {
        let note = self.note.map(|note| format!("{note}. {}", more.as_ref()));
        Claim { note, ..self }
    }

    /// Puts `mark` in front of the claim: it was measured under other circumstances than the
    /// paper's.
    #[must_use]
    pub fn marked(self, mark: &str) -> Self {
        Claim { text: format!("{mark}{}", self.text), ..self }
    }

    /// Returns the judgement as a [`Verdict`].
    pub fn verdict(&self) -> Verdict {
        match self.holds {
            Some(true) => Verdict::Holds,
            Some(false) => Verdict::DoesNotHold,
            None => Verdict::TooSmall,
        }
    }
}

/// A judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The measured number satisfies the claim.
    Holds,
    /// The measured number contradicts the claim.
    DoesNotHold,
    /// The run was too small to tell.
    TooSmall,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Holds => "holds",
            Verdict::DoesNotHold => "does not hold",
            Verdict::TooSmall => "not judged",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_given_only_where_it_is_needed() {
        let claim = || Claim::new("it is so", "x < 1");
        assert_eq!(claim().verdict(), Verdict::TooSmall);
        let holds = claim().judged("x = 0.5", Some(true)).because("never");
        assert_eq!((holds.verdict(), holds.note.as_deref()), (Verdict::Holds, None));
        let fails = claim().judged("x = 2", Some(false)).because("it is hot");
        assert_eq!(
            (fails.verdict(), fails.note.as_deref()),
            (Verdict::DoesNotHold, Some("it is hot"))
        );
        assert_eq!(fails.and_because("and dry").note.as_deref(), Some("it is hot. and dry"));
        assert_eq!(holds.clone().and_because("never").note, None);
        assert_eq!(
            serde_json::to_string(&holds).unwrap(),
            r#"{"text":"it is so","expected":"x < 1","measured":"x = 0.5","holds":true}"#
        );
    }
}
