//! When a leaf should move, and how far: the threat-based online decision of ST07 section 4. This
//! code uses no shared memory: it computes with loads and levels only.
//!
//! A leaf has one observation: the present number of processors at the tree, estimated from its own
//! visitors. It cannot know future loads. Moving down costs every later token a longer path;
//! staying costs it a longer queue. For every decision of the leaf there are future loads for which
//! it was wrong. The algorithm bounds the cost of such decisions.
//!
//! The paper models it as a trade. The leaf owns a *surplus*, the number of leaves that the tree
//! does not have yet (`P - 2^level`). While the load rises it converts surplus to *latency*, with
//! the load as the rate of exchange: the higher the load at which it grows, the better. While the
//! load drops it converts latency back to surplus at the rate 1 / load. Each stretch in one
//! direction is a [`Phase`]. The rule (El-Yaniv, Fiat, Karp and Turpin 2001): convert only at a
//! rate better than all before in the phase, and then as little as possible. The amount must be
//! enough for a c-th of the optimum, even if the rate fell to the worst at once and stayed there.
//!
//! # Differs from the paper
//! - Its figure 6 treats every observation but the first of a phase alike, with the rate before it
//!   as the floor. If the first rates of a phase are below c times the worst, no surplus has been
//!   converted yet, and the figure converts too much. Equation (14) asks for the larger of the two
//!   as the floor. This code follows the equation; [`Policy::Printed`] is the figure ([`Floor`]).
//! - The figure never writes `L.load` nor `L.baseSurplus`. Both are taken from section 4.2: the
//!   last load, and the amount to convert when the phase began.
//! - Surplus bought at a low load with latency from a high one can exceed the amount that existed.
//!   The tree cannot be smaller than one leaf. When all of `P - 1` is back, the account begins
//!   anew, with no latency, as section 4.1.2 asks of a tree that is one leaf.

/// Returns the ratio c = f - (f - 1) / f^(1 / (f - 1)), f = P / 2, that the decisions keep for
/// `processors` (ST07 Lemma 4). Returns 1 for two or fewer processors, where the load does not
/// vary.
///
/// ```
/// use throng::structures::counter::self_tuning::policy::competitive_ratio;
/// assert_eq!(competitive_ratio(2), 1.0);
/// assert_eq!(competitive_ratio(4), 1.5);
/// assert!((competitive_ratio(28) - 3.388).abs() < 1e-3);
/// ```
#[must_use]
pub fn competitive_ratio(processors: usize) -> f64 {
    let f = processors as f64 / LEAST_LOAD;
    if f <= 1.0 { 1.0 } else { f - (f - 1.0) / f.powf(1.0 / (f - 1.0)) }
}

/// The smallest load: below two processors there is no contention (ST07 equation 3).
const LEAST_LOAD: f64 = 2.0;

/// The rate up to which the amount converted so far is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floor {
    /// The best rate so far, and at least c times the worst (ST07 equation 14). It converts the
    /// least that keeps the ratio, so that the surplus lasts to the end. Lemma 4 is about this.
    Equation14,
    /// c times the worst for the first rate of a phase, the best so far for any later one (ST07
    /// Figure 6). It never converts later, and often sooner. But the amount due can exceed the
    /// amount left, and then the ratio is not kept.
    Printed,
}

/// The conversions in one direction, while rates get better.
///
/// ```
/// use throng::structures::counter::self_tuning::policy::Phase;
/// // 10 to convert, at rates of at least 2. The optimum is at most 1.5 times the gain.
/// let mut phase = Phase::new(10.0, 2.0, 1.5);
/// assert_eq!(phase.convert(3.0), 0.0, "so little can be made up for at the worst rate");
/// assert!(phase.convert(4.0) > 0.0);
/// assert!((phase.ratio() - 1.5).abs() < 1e-9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// The amount to convert at the beginning.
    base: f64,
    /// The amount left. From 0 to `base`.
    left: f64,
    /// The amount gained for the rest.
    gained: f64,
    /// The best rate so far.
    best: f64,
    /// The worst possible rate.
    worst: f64,
    /// The ratio that is kept.
    kept: f64,
    floor: Floor,
    /// Whether no rate has been seen yet.
    is_new: bool,
}

impl Phase {
    /// Returns a phase that begins with `base` to convert, at rates from `worst` up, and keeps the
    /// ratio `kept`.
    #[must_use]
    pub fn new(base: f64, worst: f64, kept: f64) -> Self {
        let floor = Floor::Equation14;
        Phase { base, left: base, gained: 0.0, best: worst, worst, kept, floor, is_new: true }
    }

    /// Returns the same phase with another floor.
    #[must_use]
    pub fn with_floor(self, floor: Floor) -> Self {
        Phase { floor, ..self }
    }

    /// Returns the rate up to which the amount converted so far is enough.
    fn floor(&self) -> f64 {
        match self.floor {
            Floor::Printed if !self.is_new => self.best,
            Floor::Equation14 | Floor::Printed => self.best.max(self.worst * self.kept),
        }
    }

    /// Observes `rate`, converts the amount due, and returns it.
    pub fn convert(&mut self, rate: f64) -> f64 {
        let floor = self.floor();
        self.is_new = false;
        self.best = self.best.max(rate);
        if rate <= floor {
            return 0.0;
        }
        let due = self.base / self.kept * (rate - floor) / (rate - self.worst);
        let converted = due.min(self.left);
        self.left -= converted;
        self.gained += converted * rate;
        converted
    }

    /// Returns the amount to convert at the beginning.
    #[must_use]
    pub fn base(&self) -> f64 {
        self.base
    }

    /// Returns the amount left to convert.
    #[must_use]
    pub fn left(&self) -> f64 {
        self.left
    }

    /// Returns the amount gained so far.
    #[must_use]
    pub fn gained(&self) -> f64 {
        self.gained
    }

    /// Returns the gain of an optimal conversion, all at the best rate, divided by the gain of this
    /// phase if the rest is converted at the worst rate (ST07 equation 11).
    #[must_use]
    pub fn ratio(&self) -> f64 {
        let ours = self.gained + self.left * self.worst;
        if ours > 0.0 { self.base * self.best / ours } else { 1.0 }
    }
}

/// The direction of the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trend {
    /// The load has not fallen since the phase began: surplus becomes latency.
    Rising,
    /// The load has not risen since the phase began: latency becomes surplus.
    Dropping,
}

/// The state of a leaf's decisions: its surplus, its latency, and its present phase.
///
/// ```
/// use throng::structures::counter::self_tuning::policy::Account;
/// let mut account = Account::new(28);
/// assert_eq!(account.level(), 0);
/// account.observe(28.0);
/// assert_eq!(account.level(), 2, "two levels in one step");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Account {
    processors: f64,
    trend: Trend,
    /// Converts surplus while the load rises, latency while it drops.
    phase: Phase,
    /// The amount of the target (latency while the load rises, surplus while it drops) when the
    /// phase began.
    before: f64,
    /// The last load observed.
    load: f64,
    /// The number of visits since the last census.
    visits: u32,
}

impl Account {
    /// Returns the account of a tree that is one leaf, for `processors`; at least 2.
    #[must_use]
    pub fn new(processors: usize) -> Self {
        Self::with_floor(processors, Floor::Equation14)
    }

    /// Like [`new`](Account::new), with another floor.
    #[must_use]
    pub fn with_floor(processors: usize, floor: Floor) -> Self {
        let processors = processors.max(2) as f64;
        let kept = competitive_ratio(processors as usize);
        Account {
            processors,
            trend: Trend::Rising,
            phase: Phase::new(processors - 1.0, LEAST_LOAD, kept).with_floor(floor),
            before: 0.0,
            load: LEAST_LOAD,
            visits: 0,
        }
    }

    /// Counts a visit. Returns whether it is the P-th since the last time.
    fn is_due(&mut self) -> bool {
        self.visits += 1;
        let due = f64::from(self.visits) >= self.processors;
        if due {
            self.visits = 0;
        }
        due
    }

    /// Observes that `load` processors are at the tree, and converts the amount due.
    pub fn observe(&mut self, load: f64) {
        let load = load.clamp(LEAST_LOAD, self.processors);
        match self.trend {
            Trend::Rising if load < self.load => self.turn(Trend::Dropping),
            Trend::Dropping if load > self.load => self.turn(Trend::Rising),
            _ => {}
        }
        self.load = load;
        self.phase.convert(match self.trend {
            Trend::Rising => load,
            Trend::Dropping => 1.0 / load,
        });
        if self.trend == Trend::Dropping && self.surplus() >= self.processors - 1.0 {
            let anew = Account::with_floor(self.processors as usize, self.phase.floor);
            *self = Account { load, ..anew };
        }
    }

    fn turn(&mut self, trend: Trend) {
        let (surplus, latency) = (self.surplus(), self.latency());
        let (base, worst, before) = match trend {
            Trend::Rising => (surplus, LEAST_LOAD, latency),
            Trend::Dropping => (latency, 1.0 / self.processors, surplus),
        };
        self.phase = Phase::new(base, worst, self.phase.kept).with_floor(self.phase.floor);
        self.before = before;
        self.trend = trend;
    }

    /// Returns the direction of the load.
    #[must_use]
    pub fn trend(&self) -> Trend {
        self.trend
    }

    /// Returns the present phase of the leaf.
    #[must_use]
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// Returns the number of leaves that the tree could still have, as the leaf sees it: from 0 to
    /// P - 1.
    #[must_use]
    pub fn surplus(&self) -> f64 {
        match self.trend {
            Trend::Rising => self.phase.left,
            Trend::Dropping => self.before + self.phase.gained,
        }
    }

    /// Returns the latency gained for surplus, less the latency converted back.
    #[must_use]
    pub fn latency(&self) -> f64 {
        match self.trend {
            Trend::Rising => self.before + self.phase.gained,
            Trend::Dropping => self.phase.left,
        }
    }

    /// Returns the level on which the leaf should be: the whole part of log2(P - surplus).
    #[must_use]
    pub fn level(&self) -> u32 {
        // A tiny amount is added so that rounding does not take a level away.
        let leaves = self.processors - self.surplus() + 1e-9;
        (leaves as u64).max(1).ilog2()
    }
}

/// The rule that decides when a leaf moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The [`Account`] of each leaf decides. The leaf assumes that every other leaf has as many
    /// visitors as itself (ST07 equation 2). The paper proves its ratio for this policy.
    ///
    /// A leaf on level l never has fewer than one visitor, and so never sees a load below 2^l. From
    /// level log2(P / c) down that load is too high to convert anything back. The leaf then stays
    /// there when callers leave.
    Threat,
    /// Like [`Policy::Threat`] with the floor of ST07 Figure 6 instead of equation 14
    /// ([`Floor::Printed`]): the paper as printed. It grows at smaller loads.
    Printed,
    /// Like [`Policy::Threat`] with a counted load: every P-th visitor of a leaf counts the
    /// processors in the tree, which is one more access for each call. This policy is not from the
    /// paper. It grows more slowly, and shrinks again.
    Census,
    /// Any level but the present one, at every visit, for checks.
    #[doc(hidden)]
    Restless,
}

/// The observations of a leaf when it decides.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Sight {
    /// The level of the leaf.
    pub level: u32,
    /// The deepest level of the tree.
    pub deepest: u32,
    /// The number of processors at the leaf.
    pub visitors: u64,
}

impl Sight {
    /// Returns the observations of a leaf on `level` that has `visitors`, in a tree whose deepest
    /// level is `deepest`.
    #[must_use]
    pub const fn new(level: u32, deepest: u32, visitors: u64) -> Self {
        Sight { level, deepest, visitors }
    }
}

impl Policy {
    /// Returns the account of a leaf under this policy, for `processors`.
    #[must_use]
    pub fn account(self, processors: usize) -> Account {
        let floor = match self {
            Policy::Printed => Floor::Printed,
            Policy::Threat | Policy::Census | Policy::Restless => Floor::Equation14,
        };
        Account::with_floor(processors, floor)
    }

    /// Returns the level on which the leaf should be. `random_below(n)` draws a number below n,
    /// `census` counts the processors in the tree.
    pub fn decide(
        self,
        account: &mut Account,
        sight: Sight,
        random_below: impl FnOnce(usize) -> usize,
        census: impl FnOnce() -> u64,
    ) -> u32 {
        let Sight { level, deepest, visitors } = sight;
        match self {
            Policy::Threat | Policy::Printed => {
                account.observe(visitors as f64 * f64::from(1 << level))
            }
            Policy::Census if account.is_due() => account.observe(census() as f64),
            Policy::Census => {}
            Policy::Restless => {
                let others = random_below(deepest as usize) as u32;
                return (level + u32::from(deepest > 0) + others) % (deepest + 1);
            }
        }
        account.level().min(deepest)
    }
}

#[cfg(test)]
mod tests;
