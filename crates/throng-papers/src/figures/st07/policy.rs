//! ST07 Lemma 4, measured: decisions against adversaries that know them. The policy is a pure
//! function, so no simulated machine is needed.
//!
//! The player's total is as in equation 11: what was converted, and the rest at the worst rate. The
//! adversary's total is everything at the best rate of the phase.

use throng::machine::SplitMix64;
use throng::structures::counter::self_tuning::policy::{Account, Phase, competitive_ratio};

use super::*;

const PROCESSORS: [usize; 10] = [4, 8, 16, 30, 64, 128, 256, 512, 1024, 4096];
const PROCESSORS_SMOKE: [usize; 3] = [4, 30, 256];
/// Sequences of each random adversary.
const SEQUENCES: usize = 2_000;
const SEQUENCES_SMOKE: usize = 50;
/// Loads in a sequence.
const LOADS: usize = 200;
/// Largest relative excess over c that is only rounding.
const HAIR: f64 = 1e-9;
/// Largest relative distance from c that counts as reaching it.
const TIGHT: f64 = 1e-6;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "ST07-C",
    title: "the policy against adversaries",
    paper: "ST07 Lemma 4",
    shows: "No adversary makes the decisions worse than c times the best possible.",
    find,
};

/// Plays against a policy for a number of processors, and returns the worst ratio reached.
type Adversary = fn(usize, &mut SplitMix64, usize) -> f64;

const ADVERSARIES: [(&str, Adversary); 4] = [
    ("creeps up to the most", creeps),
    ("leaps once", leaps),
    ("random, one phase", random_phase),
    ("random, up and down", random_account),
];

fn find(lab: &Lab) -> Result<Findings, Error> {
    let processors = lab.pick(&PROCESSORS[..], &PROCESSORS_SMOKE[..]);
    let sequences = lab.pick(SEQUENCES, SEQUENCES_SMOKE);
    let curve = |(name, adversary): (&str, Adversary)| {
        let worst = |&p: &usize| {
            let mut random = SplitMix64::from_state(lab.seed.wrapping_add(p as u64));
            Point::exact(p as f64, adversary(p, &mut random, sequences))
        };
        Curve::measured(name, processors.iter().map(worst).collect())
    };
    let measured: Vec<Curve> = ADVERSARIES.into_iter().map(curve).collect();
    let xs: Vec<f64> = processors.iter().map(|&p| p as f64).collect();
    let bound = Curve::formula("c", &xs, |p| competitive_ratio(p as usize));
    let claims = vec![never_above(lab, &measured), is_reached(lab, &measured)];
    Ok(Findings {
        setup: format!(
            "both kinds of phase; {sequences} sequences of {LOADS} loads for each random adversary, \
             from seed {}",
            lab.seed
        ),
        panels: vec![Panel::new(
            Axis::new("processors (P)", Scale::Log2),
            Axis::new("best possible / ours", Scale::Linear),
            std::iter::once(bound).chain(measured).collect(),
        )],
        claims,
    })
}

/// Returns the two phases of a leaf: surplus at loads from 2 to P, and latency at 1 / P to 1 / 2.
fn phases(processors: usize) -> [(Phase, f64, f64); 2] {
    let (most, kept) = (processors as f64, competitive_ratio(processors));
    [(2.0, most), (1.0 / most, 0.5)]
        .map(|(worst, best)| (Phase::new(1.0, worst, kept), worst, best))
}

/// Returns the worst ratio after each of some rates, which go from 0, the worst, to 1, the best.
fn play(processors: usize, rates: impl Fn() -> Vec<f64>) -> f64 {
    let one = |(mut phase, worst, best): (Phase, f64, f64)| {
        let mut after = |rate: f64| {
            phase.convert(worst + rate * (best - worst));
            phase.ratio()
        };
        rates().into_iter().map(&mut after).fold(1.0, f64::max)
    };
    phases(processors).map(one).into_iter().fold(1.0, f64::max)
}

/// Raises the rate in small steps: at every step, what was kept for better rates is lost.
fn creeps(processors: usize, _random: &mut SplitMix64, _sequences: usize) -> f64 {
    const STEPS: u32 = 10_000;
    play(processors, || (0..=STEPS).map(|i| f64::from(i) / f64::from(STEPS)).collect())
}

/// Jumps from the worst rate to a better one, and back at once.
fn leaps(processors: usize, _random: &mut SplitMix64, _sequences: usize) -> f64 {
    const HEIGHTS: u32 = 1_000;
    let leap = |i: u32| play(processors, || vec![0.0, f64::from(i) / f64::from(HEIGHTS), 0.0]);
    (0..=HEIGHTS).map(leap).fold(1.0, f64::max)
}

fn random_phase(processors: usize, random: &mut SplitMix64, sequences: usize) -> f64 {
    let mut one = || {
        // High rates are rare in some sequences and common in others.
        let power = 8.0 * fraction(random);
        let rates: Vec<f64> = (0..LOADS).map(|_| fraction(random).powf(power)).collect();
        play(processors, || rates.clone())
    };
    (0..sequences).map(|_| one()).fold(1.0, f64::max)
}

/// Plays a whole account: loads that rise and fall in runs of any length.
fn random_account(processors: usize, random: &mut SplitMix64, sequences: usize) -> f64 {
    let mut worst = 1.0_f64;
    for _ in 0..sequences {
        let mut account = Account::new(processors);
        let (mut load, mut up) = (2.0, true);
        let turns_one_in = 2.0 + 20.0 * fraction(random);
        for _ in 0..LOADS {
            up ^= fraction(random) * turns_one_in < 1.0;
            let goal = if up { processors as f64 } else { 2.0 };
            load += (goal - load) * fraction(random);
            account.observe(load);
            worst = worst.max(account.phase().ratio());
        }
    }
    worst
}

/// Returns a random number from 0 to 1.
fn fraction(random: &mut SplitMix64) -> f64 {
    (random.draw() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Returns the largest part of c that an adversary reached, its name and the point.
fn shares(curves: &[Curve]) -> Option<(f64, &str, Point)> {
    let share = |point: Point| point.y / competitive_ratio(point.x as usize);
    let points = |curve: &'_ Curve| curve.points.clone();
    let all = curves.iter().flat_map(|curve| {
        points(curve).into_iter().map(move |point| (share(point), curve.name.as_str(), point))
    });
    all.max_by(|a, b| a.0.total_cmp(&b.0))
}

fn never_above(lab: &Lab, curves: &[Curve]) -> Claim {
    let claim = Claim::new(
        "the ratio is never above c = f - (f - 1) / f^(1 / (f - 1)), f = P / 2",
        "best possible / ours at most c, for every adversary and every P",
    );
    let Some((share, name, point)) = shares(curves) else {
        return claim;
    };
    let measured = format!("at most {share:.9} of c: {:.4}, {name} (P = {})", point.y, point.x);
    claim.judged(measured, lab.judge(share <= 1.0 + HAIR))
}

fn is_reached(lab: &Lab, curves: &[Curve]) -> Claim {
    let claim = Claim::new(
        "and no smaller ratio is kept: an adversary reaches c",
        "some adversary gets to c at every P",
    );
    let best_at = |x: f64| curves.iter().filter_map(|curve| curve.at(x)).fold(1.0, f64::max);
    let xs = curves.first().map_or(&[][..], |curve| &curve.points).iter().map(|point| point.x);
    let missed = xs.map(|x| (1.0 - best_at(x) / competitive_ratio(x as usize), x));
    let Some((most, x)) = missed.max_by(|a, b| a.0.total_cmp(&b.0)) else {
        return claim;
    };
    let measured = format!("short of c by at most {:.1e} of it (P = {x})", most.max(0.0));
    claim.judged(measured, lab.judge(most <= TIGHT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn what_is_above_or_short_is_found() {
        let lab = Lab::new(false, 1, 1);
        let c = competitive_ratio(30);
        let exact = [curve("a", &[(30.0, c)]), curve("b", &[(30.0, 1.0)])];
        assert_eq!(never_above(&lab, &exact).holds, Some(true));
        assert_eq!(is_reached(&lab, &exact).holds, Some(true));
        let above = [curve("a", &[(30.0, c + 0.01)])];
        assert_eq!(never_above(&lab, &above).holds, Some(false));
        assert_eq!(is_reached(&lab, &[curve("b", &[(30.0, 1.0)])]).holds, Some(false));
        assert_eq!(never_above(&lab, &[]).holds, None);
    }

    #[test]
    fn a_greedy_player_would_be_caught() {
        // Convert all at the first rate that is better than the worst, which an adversary hopes
        // for.
        let mut phase = Phase::new(1.0, 2.0, 1.0);
        phase.convert(2.1);
        phase.convert(30.0);
        assert!(phase.ratio() > competitive_ratio(30));
    }

    #[test]
    fn a_small_one_holds_too() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        let full = Lab::new(false, 1, 1);
        let measured = &findings.panels[0].series[1..];
        assert_eq!(never_above(&full, measured).holds, Some(true));
        assert_eq!(is_reached(&full, measured).holds, Some(true));
    }
}
