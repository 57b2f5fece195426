use super::*;
use proptest::prelude::*;

/// More than the error of rounding.
const HAIR: f64 = 1e-9;

#[test]
fn the_ratio_is_that_of_the_paper() {
    for (processors, ratio) in [(1, 1.0), (2, 1.0), (3, 1.2778), (16, 2.799), (30, 3.462)] {
        assert!((competitive_ratio(processors) - ratio).abs() < 1e-3, "{processors}");
    }
    // The ratio grows like the logarithm.
    let last = competitive_ratio(1 << 20) / (f64::from(1 << 19)).ln();
    assert!((0.9..1.2).contains(&last), "{last}");
}

#[test]
fn as_printed_a_leaf_grows_sooner_and_does_not_keep_the_ratio() {
    let level_at = |policy: Policy, load: f64| {
        let mut account = policy.account(30);
        [2.0, load].into_iter().for_each(|load| account.observe(load));
        account.level()
    };
    // 2 c is 6.9: up to that load nothing has to be converted.
    assert_eq!([Policy::Threat, Policy::Printed].map(|policy| level_at(policy, 6.0)), [0, 3]);
    let crept = |floor| {
        let worst = 2.0;
        let mut phase = Phase::new(1.0, worst, competitive_ratio(30)).with_floor(floor);
        (0..=28_000).for_each(|i| {
            phase.convert(worst + f64::from(i) / 1000.0);
        });
        phase
    };
    let (proved, printed) = (crept(Floor::Equation14), crept(Floor::Printed));
    assert!(proved.left() > 0.0 && proved.ratio() <= competitive_ratio(30) + HAIR);
    assert_eq!(printed.left(), 0.0, "spent before the load is at its highest");
    assert!(printed.ratio() > 2.0 * competitive_ratio(30), "{printed:?}");
}

#[test]
fn a_crowd_makes_a_leaf_grow_by_levels_and_loneliness_brings_it_back() {
    let mut account = Account::new(64);
    account.observe(64.0);
    let grown = account.level();
    assert!(grown >= 2, "{account:?}");
    for _ in 0..20 {
        account.observe(2.0);
        account.observe(3.0);
    }
    assert_eq!(account.level(), 0, "{account:?}");
    assert_eq!((account.surplus(), account.latency()), (63.0, 0.0));
}

#[test]
fn what_a_leaf_sees_of_itself_does_not_bring_it_back_and_a_census_does() {
    let sight = Sight { level: 4, deepest: 5, visitors: 1 };
    let mut grown = Account::new(32);
    while grown.level() < 4 {
        grown.observe(16.0);
        grown.observe(32.0);
    }
    let after = |policy: Policy, everyone: u64| {
        let mut account = grown;
        (0..10_000).for_each(|_| {
            policy.decide(&mut account, sight, |_| 0, || everyone);
        });
        account.level()
    };
    assert_eq!(after(Policy::Threat, 1), 4, "one visitor looks like sixteen");
    assert_eq!(after(Policy::Census, 28), 4);
    assert!(after(Policy::Census, 4) < 4);
    assert_eq!(after(Policy::Census, 1), 0);
}

#[test]
fn two_processors_never_need_a_tree() {
    let mut account = Account::new(2);
    for load in [1.0, 2.0, 1.0, 2.0, 9.0] {
        account.observe(load);
        assert_eq!(account.level(), 0);
    }
}

#[test]
fn the_restless_go_anywhere_but_stay() {
    let mut account = Account::new(4);
    for deepest in 0..4_u32 {
        for level in 0..=deepest {
            let sight = Sight { level, deepest, visitors: 1 };
            let to: Vec<u32> = (0..deepest.max(1) as usize)
                .map(|drawn| Policy::Restless.decide(&mut account, sight, |_| drawn, || 0))
                .collect();
            let others: Vec<u32> = (0..=deepest).filter(|&l| l != level).collect();
            let mut sorted = to.clone();
            sorted.sort_unstable();
            assert!(deepest == 0 || sorted == others, "from {level} of {deepest}: {to:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// For any rates, in any order, the ratio is never worse than promised, and never more is
    /// converted than there was.
    #[test]
    fn a_phase_keeps_its_ratio(
        processors in 3_usize..2000,
        base in 0.001_f64..1e6,
        rates in prop::collection::vec(0.0_f64..1.0, 1..200),
        rising: bool,
    ) {
        let most = processors as f64;
        let (worst, best) = if rising { (2.0, most) } else { (1.0 / most, 0.5) };
        let ratio = competitive_ratio(processors);
        let mut phase = Phase::new(base, worst, ratio);
        let mut converted = 0.0;
        for rate in rates {
            converted += phase.convert(worst + rate * (best - worst));
            prop_assert!(phase.ratio() <= ratio + HAIR, "{phase:?}");
            prop_assert!(phase.left() >= 0.0);
            prop_assert!((converted + phase.left() - base).abs() <= base * HAIR);
        }
    }

    /// The worst case: rates that rise by tiny steps up to the best possible. The amount due is
    /// available to the end, so the ratio is met with equality, and not because the surplus ran
    /// out.
    #[test]
    fn the_budget_lasts(processors in 3_usize..2000, steps in 2_u32..3000) {
        let (worst, best) = (2.0, processors as f64);
        let ratio = competitive_ratio(processors);
        let mut phase = Phase::new(1.0, worst, ratio);
        for step in 0..=steps {
            phase.convert(worst + (best - worst) * f64::from(step) / f64::from(steps));
        }
        prop_assert!((phase.ratio() - ratio).abs() < HAIR, "{phase:?}");
        prop_assert!(phase.left() > 0.0, "{phase:?}");
    }

    /// For any loads the ratio holds in every phase, no amount appears from nowhere, and phases
    /// begin where the load turns.
    #[test]
    fn accounts_are_consistent(
        processors in 2_usize..300,
        loads in prop::collection::vec(0.0_f64..400.0, 1..300),
    ) {
        let most = processors.max(2) as f64;
        let ratio = competitive_ratio(processors);
        let mut account = Account::new(processors);
        for load in loads {
            let old = account;
            account.observe(load);
            let load = load.clamp(2.0, most);
            let (surplus, latency) = (account.surplus(), account.latency());
            prop_assert!((0.0..=most - 1.0 + HAIR).contains(&surplus), "{account:?}");
            prop_assert!(latency >= 0.0 && account.level() <= processors.max(1).ilog2());
            prop_assert!(account.phase().ratio() <= ratio + HAIR);
            if surplus >= most - 1.0 {
                continue;
            }
            // What left one amount was added to the other, at the rate of the moment.
            let (spent, got) = (old.surplus() - surplus, latency - old.latency());
            prop_assert!((spent * load - got).abs() <= HAIR * (1.0 + latency + old.latency()));
            let turned = account.trend() != old.trend();
            let expected = match old.trend() {
                Trend::Rising => load < old.load,
                Trend::Dropping => load > old.load,
            };
            prop_assert_eq!(turned, expected);
        }
    }
}
