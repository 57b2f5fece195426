//! Sums up the gains of an advice: ours, the usual, or either.

use super::document::Gain;

/// Largest ratio that is no reason to change a program.
pub(crate) const WORTH: f64 = 1.1;

/// The recommendation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The advice's pick.
    Pick,
    /// The advice's pick, on some numbers of threads; on others it loses.
    Depends,
    /// Either: it makes no difference.
    Either,
    /// Unclear: the runs of an entrant differ too much to tell.
    Unclear,
    /// The usual entrant.
    Usual,
}

impl Verdict {
    pub(crate) fn of(gains: &[Gain]) -> Self {
        let better = gains.iter().any(is_better);
        let worse = gains.iter().any(is_worse);
        match (better, worse) {
            (true, false) => Verdict::Pick,
            (true, true) => Verdict::Depends,
            (false, false) if gains.iter().any(is_unclear) => Verdict::Unclear,
            (false, false) => Verdict::Either,
            (false, true) => Verdict::Usual,
        }
    }

    /// Returns a word for the script.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Verdict::Pick => "pick",
            Verdict::Depends => "depends",
            Verdict::Either => "either",
            Verdict::Unclear => "unclear",
            Verdict::Usual => "usual",
        }
    }
}

/// Returns whether there is a gain on this number of threads.
pub(crate) fn is_better(gain: &Gain) -> bool {
    gain.beyond_noise && gain.times >= WORTH
}

/// Returns whether there is a loss on this number of threads.
pub(crate) fn is_worse(gain: &Gain) -> bool {
    gain.beyond_noise && gain.times <= 1.0 / WORTH
}

/// Returns whether it would count as a difference if runs differed less.
fn is_unclear(gain: &Gain) -> bool {
    !gain.beyond_noise && !(1.0 / WORTH..=WORTH).contains(&gain.times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recommended_follows_from_the_gains_beyond_noise() {
        let of = |gains: &[(f64, bool)]| {
            let gain =
                |&(times, beyond_noise): &(f64, bool)| Gain { threads: 1, times, beyond_noise };
            Verdict::of(&gains.iter().map(gain).collect::<Vec<_>>())
        };
        assert_eq!(of(&[(2.0, true), (0.5, false)]), Verdict::Pick);
        assert_eq!(of(&[(2.0, true), (0.5, true)]), Verdict::Depends);
        assert_eq!(of(&[(1.09, false), (1.05, true)]), Verdict::Either);
        assert_eq!(of(&[(2.0, false), (1.05, true)]), Verdict::Unclear);
        assert_eq!(of(&[(1.0, true), (0.5, true)]), Verdict::Usual);
        assert_eq!(of(&[(f64::NAN, true)]), Verdict::Either);
        assert_eq!(of(&[]), Verdict::Either);
    }
}
