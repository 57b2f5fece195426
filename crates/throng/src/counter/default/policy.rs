//! When to change shape: measured, not guessed.
//!
//! Pure code: it is told what a *look* at the counter found and says which shape is next. A look
//! happens whenever about [`WINDOW_TIME`] has passed; between two looks lies a *window*.
//!
//! The shapes form a ladder: one word, groups of 2, of 4, .. and on top two levels of groups. One
//! rung is *home*. Now and then another rung is tried for a few windows: kept if numbers come faster
//! by [`GAIN`], left again if not, and then tried ever more rarely. What is tried first:
//!
//! - at home on one word, only if there is a *crowd*: by Little's law as many callers are waiting
//!   at the word as numbers are drawn in the time that one takes. Then groups of about the square
//!   root of the crowd; a rung above or below that the next times.
//! - at home in groups, the next rung in the direction that was right the last time; then the other
//!   direction; then one word.
//!
//! What a trial may cost is limited by an account: it earns [`EARNED`] of the time at home and pays
//! for what trials lose. So whatever the load does, the loss stays below that share. When the load
//! changes, trials begin anew, as often as the account allows.

use crate::counter::gathering::Levels;

/// How long a window should be, in units of the clock: nanoseconds or simulated cycles.
const WINDOW_TIME: f64 = 32_768.0;

/// The fewest numbers in a window, as a power of two.
const LEAST_WINDOW: u32 = 8;

/// The most numbers in a window, as a power of two.
const MOST_WINDOW: u32 = 30;

/// A window has about so many batches at least: a look falls on the end of one, so with fewer the
/// rate would not be exact enough.
const BATCHES_A_WINDOW: u64 = 16;

/// So much faster must another shape be.
const GAIN: f64 = 1.06;

/// So many windows must show it; the one in which the change happens does not count.
const CONVINCING: u64 = 2;

/// The share of the time that trials may lose.
const EARNED: f64 = 1.0 / 64.0;

/// Unspent credit is kept up to this many windows.
const MOST_CREDIT: f64 = 4.0;

/// After a trial that failed, the next one is so many times farther off.
const MORE_PATIENCE: u64 = 4;

/// The longest time from one trial to the next, in windows, while the load is steady.
const MOST_PATIENCE: u64 = 1 << 14;

/// Fewer callers than this at one word are no crowd.
const CROWD: f64 = 6.0;

/// The load has changed when it is so many times what it was, or so small a part of it.
const CHANGED: f64 = 1.6;

/// Of the best rate seen at home, so much is believed a window later: a window in which few
/// called must not make the next trial look good.
const REMEMBERED: f64 = 0.9;

/// How many words a [`State`] takes.
pub(super) const STATE_WORDS: usize = 19;

/// The most levels of groups.
pub(super) const MOST_DEPTH: u32 = 2;

const fn groups(height: u32) -> Levels {
    Levels::FLAT.and(height)
}

const LADDER: [Levels; 12] = [
    Levels::FLAT,
    groups(1),
    groups(2),
    groups(3),
    groups(4),
    groups(5),
    groups(6),
    groups(5).and(8),
    groups(6).and(9),
    groups(6).and(10),
    groups(7).and(11),
    groups(7).and(12),
];

/// How many rungs of [`LADDER`] have at most one level.
const ONE_LEVEL: usize = 7;

/// The shapes that have at most so many levels of groups.
pub(super) fn ladder(depth: u32) -> &'static [Levels] {
    match depth {
        0 => &LADDER[..1],
        1 => &LADDER[..ONE_LEVEL],
        _ => &LADDER,
    }
}

/// The same for a counter that takes none of them for long: small groups, so that few callers are
/// enough for much to happen.
const RESTLESS_LADDER: [Levels; 7] = [
    Levels::FLAT,
    groups(1),
    groups(2),
    groups(1).and(2),
    groups(3),
    groups(2).and(4),
    groups(1).and(3),
];

pub(super) fn restless_ladder(depth: u32) -> &'static [Levels] {
    match depth {
        0 => &RESTLESS_LADDER[..1],
        1 => &RESTLESS_LADDER[..3],
        _ => &RESTLESS_LADDER,
    }
}

/// What a look at the counter found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// The time.
    pub(super) now: u64,
    /// The number that came up.
    pub(super) number: u64,
    /// How many numbers were fetched together with it.
    pub(super) batch: u64,
    /// How long one fetch at the root takes, if everyone fetches there.
    pub(super) wait: Option<u64>,
}

/// Which shape is next, and how many numbers to draw until the next look, as a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) levels: Levels,
    pub(super) window: u32,
}

/// All that is remembered from one look to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct State {
    /// When the last look was.
    time: u64,
    /// The number that came up then.
    number: u64,
    /// The window that began then has a change in it, and tells nothing.
    mixed: bool,
    /// Rung of the ladder that is known to be best.
    home: usize,
    /// The rate at home, in numbers for each unit of time.
    rate: f64,
    /// The rate of the last windows at home, on average.
    pace: f64,
    /// The load when trials last began anew: a crowd, or in groups a pace.
    load: f64,
    /// Callers at the root, by Little's law; and the last two counts of them.
    crowd: f64,
    counts: [f64; 2],
    /// Rung that is being tried; the same as home when none is.
    trial: usize,
    /// How many windows spoke for it.
    convinced: u64,
    /// Failed trials since home was found or the load changed.
    failed: u64,
    /// Whether home was found from below.
    upward: bool,
    /// Whether the load fell when it last changed.
    fallen: bool,
    /// Windows at home since the last trial, and how many there must be before the next one.
    waited: u64,
    patience: u64,
    /// Time that trials may lose.
    credit: f64,
    /// Numbers to the next look, as a power of two.
    window: u32,
    /// How often home has moved.
    pub(super) moves: u64,
}

impl State {
    /// At home on one word, at `number`.
    pub(super) const fn new(number: u64) -> Self {
        State {
            time: 0,
            number,
            mixed: true,
            home: 0,
            rate: 0.0,
            pace: 0.0,
            load: 0.0,
            crowd: 0.0,
            counts: [0.0; 2],
            trial: 0,
            convinced: 0,
            failed: 0,
            upward: true,
            fallen: false,
            waited: 0,
            patience: 1,
            credit: 0.0,
            window: LEAST_WINDOW,
            moves: 0,
        }
    }

    /// As numbers that words can hold, one by one.
    pub(super) fn to_words(self) -> [u64; STATE_WORDS] {
        [
            self.time,
            self.number,
            self.mixed.into(),
            self.home as u64,
            self.rate.to_bits(),
            self.pace.to_bits(),
            self.load.to_bits(),
            self.crowd.to_bits(),
            self.counts[0].to_bits(),
            self.counts[1].to_bits(),
            self.trial as u64,
            self.convinced,
            self.failed,
            u64::from(self.upward) | u64::from(self.fallen) << 1,
            self.waited,
            self.patience,
            self.credit.to_bits(),
            self.window.into(),
            self.moves,
        ]
    }

    /// What [`to_words`](State::to_words) made.
    pub(super) fn from_words(words: [u64; STATE_WORDS]) -> Self {
        State {
            time: words[0],
            number: words[1],
            mixed: words[2] != 0,
            home: words[3] as usize,
            rate: f64::from_bits(words[4]),
            pace: f64::from_bits(words[5]),
            load: f64::from_bits(words[6]),
            crowd: f64::from_bits(words[7]),
            counts: [f64::from_bits(words[8]), f64::from_bits(words[9])],
            trial: words[10] as usize,
            convinced: words[11],
            failed: words[12],
            upward: words[13] & 1 != 0,
            fallen: words[13] & 2 != 0,
            waited: words[14],
            patience: words[15],
            credit: f64::from_bits(words[16]),
            window: words[17] as u32,
            moves: words[18],
        }
    }

    /// Whether it is time for a look. Callers that have not noticed the last change yet come too
    /// early.
    pub(super) fn is_due(&self, number: u64) -> bool {
        let numbers = number.saturating_sub(self.number);
        numbers > (1_u64 << self.window.min(MOST_WINDOW)) / 4 * 3
    }

    /// Takes a look into account.
    pub(super) fn step(&mut self, ladder: &[Levels], look: Look) -> Next {
        // What was stored may be of two looks, if one of them took for ever.
        (self.home, self.trial) =
            (self.home.min(ladder.len() - 1), self.trial.min(ladder.len() - 1));
        let elapsed = look.now.saturating_sub(self.time).max(1) as f64;
        let rate = look.number.saturating_sub(self.number) as f64 / elapsed;
        (self.time, self.number) = (look.now, look.number);
        if !std::mem::take(&mut self.mixed) {
            if let Some(wait) = look.wait {
                self.count_the_crowd(wait as f64 * rate);
            }
            if self.trial == self.home {
                self.stay_home(ladder, rate, elapsed);
            } else {
                self.judge(rate, elapsed);
            }
        }
        let time = if self.trial == self.home { WINDOW_TIME } else { 0.0 };
        self.window = fitting_window(rate * time, self.crowd, look.batch);
        Next { levels: ladder[self.trial], window: self.window }
    }

    /// The median of three counts: one that was interrupted says nothing.
    fn count_the_crowd(&mut self, crowd: f64) {
        let [first, second] = self.counts;
        self.counts = [second, crowd];
        let (low, high) = (first.min(second), first.max(second));
        self.crowd = crowd.clamp(low, high);
    }

    /// A window at home has passed.
    fn stay_home(&mut self, ladder: &[Levels], rate: f64, elapsed: f64) {
        self.rate = rate.max(REMEMBERED * self.rate);
        self.credit = (self.credit + EARNED * elapsed).min(MOST_CREDIT * elapsed);
        self.waited = self.waited.saturating_add(1);
        self.pace = (self.pace + rate) / 2.0;
        let load = if self.home == 0 { self.crowd } else { self.pace };
        if load > CHANGED * self.load || self.load > CHANGED * load {
            self.begin_anew(load, rate);
        }
        if self.credit > 0.0
            && self.waited >= self.patience
            && let Some(rung) = self.candidate(ladder)
        {
            (self.trial, self.convinced, self.mixed) = (rung, 0, true);
        }
    }

    /// The load has changed: what was tried before counts no more.
    fn begin_anew(&mut self, load: f64, rate: f64) {
        self.fallen = load < self.load;
        (self.load, self.failed, self.patience) = (load, 0, 1);
        if self.home != 0 {
            self.rate = rate;
        }
    }

    /// The rung to try now, if any: each failed trial moves on to the next way.
    fn candidate(&self, ladder: &[Levels]) -> Option<usize> {
        let home = self.home as isize;
        let onward = if self.upward { 1 } else { -1 };
        let ways = if self.home == 0 {
            let guess = (self.crowd.max(1.0).log2() / 2.0).round() as isize;
            &[guess, guess + 1, guess - 1, 1][..]
        } else if self.fallen {
            &[0, home - 1, home + 1][..]
        } else {
            &[home + onward, home - onward][..]
        };
        let rung = |way: isize| way.clamp(0, ladder.len() as isize - 1) as usize;
        let in_turn = ways.iter().cycle().skip(self.failed as usize % ways.len());
        let others = in_turn.take(ways.len()).map(|&way| rung(way)).filter(|&r| r != self.home);
        if self.home == 0 && self.crowd < CROWD { None } else { others.into_iter().next() }
    }

    /// A window of a trial has passed.
    fn judge(&mut self, rate: f64, elapsed: f64) {
        if rate < GAIN * self.rate {
            self.give_up(rate, elapsed);
            return;
        }
        self.convinced += 1;
        if self.convinced >= CONVINCING {
            self.move_home(rate, elapsed);
        }
    }

    fn give_up(&mut self, rate: f64, elapsed: f64) {
        let lost = 1.0 - (rate / self.rate).min(1.0);
        // The window of the change was lost too.
        self.credit -= 2.0 * elapsed * lost;
        self.failed += 1;
        self.patience = (MORE_PATIENCE * self.patience).min(MOST_PATIENCE);
        (self.trial, self.waited, self.mixed) = (self.home, 0, true);
    }

    fn move_home(&mut self, rate: f64, elapsed: f64) {
        // What was gained pays for the next trials.
        self.credit = MOST_CREDIT * elapsed;
        self.fallen = false;
        self.upward = self.trial > self.home;
        (self.home, self.rate, self.pace) = (self.trial, rate, rate);
        self.load = if self.home == 0 { self.crowd } else { rate };
        (self.failed, self.patience, self.waited) = (0, 1, 0);
        self.moves += 1;
    }
}

/// A window of about so many numbers; but long enough for the whole crowd to come by twice, so that
/// a window after a change is free of those who were under way, and for many batches.
fn fitting_window(numbers: f64, crowd: f64, batch: u64) -> u32 {
    let by_batch = if batch > 1 { (BATCHES_A_WINDOW * batch) as f64 } else { 1.0 };
    let numbers = numbers.max(2.0 * crowd).max(by_batch);
    (numbers.max(1.0).log2().round() as u32).clamp(LEAST_WINDOW, MOST_WINDOW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::SplitMix64;

    /// A machine on which the rate depends on the shape and on how many are calling; looks come when
    /// they should, and rates are off by up to `noise`.
    struct Machine {
        state: State,
        now: f64,
        number: u64,
        levels: Levels,
        window: u32,
        noise: f64,
        random: SplitMix64,
    }

    impl Machine {
        fn new(noise: f64) -> Self {
            Machine {
                state: State::new(0),
                now: 0.0,
                number: 0,
                levels: Levels::FLAT,
                window: LEAST_WINDOW,
                noise,
                random: SplitMix64::from_state(3),
            }
        }

        /// One window with so many callers, on a machine with these rates.
        fn window(&mut self, callers: f64, rate: impl Fn(Levels) -> f64) {
            let noise = 1.0 + self.noise * (self.random.below(2001) as f64 / 1000.0 - 1.0);
            let rate = rate(self.levels) * noise;
            self.number += 1 << self.window;
            self.now += (1 << self.window) as f64 / rate;
            let flat = self.levels == Levels::FLAT;
            let look = Look {
                now: self.now as u64,
                number: self.number,
                batch: if flat { 1 } else { 4 },
                wait: flat.then_some((callers / rate) as u64),
            };
            // The state goes through words, as it does in the counter.
            self.state = State::from_words(self.state.to_words());
            if self.state.is_due(self.number) {
                let next = self.state.step(ladder(MOST_DEPTH), look);
                (self.levels, self.window) = (next.levels, next.window);
            }
        }

        fn home(&self) -> Levels {
            ladder(MOST_DEPTH)[self.state.home]
        }
    }

    /// The rate is highest at this rung and falls by a third with every rung away from it.
    fn peak(rung: usize) -> impl Fn(Levels) -> f64 {
        move |levels| {
            let at = LADDER.iter().position(|&l| l == levels).unwrap();
            0.05 * 0.66_f64.powi(at.abs_diff(rung) as i32)
        }
    }

    #[test]
    fn the_ladder_has_no_rung_twice_and_its_lower_part_has_one_level() {
        for (i, &levels) in LADDER.iter().enumerate() {
            assert!(
                LADDER[..i].iter().all(|&lower| lower != levels && lower.depth() <= levels.depth())
            );
        }
        assert_eq!(ladder(0), [Levels::FLAT]);
        assert!(ladder(1).iter().all(|levels| levels.depth() <= 1));
        assert_eq!(ladder(1).len() + 1, ladder(2).iter().position(|l| l.depth() == 2).unwrap() + 1);
    }

    #[test]
    fn what_words_hold_is_what_was_stored() {
        let state = State { rate: 0.1, credit: -3.5, fallen: true, home: 4, ..State::new(77) };
        assert_eq!(State::from_words(state.to_words()), state);
    }

    #[test]
    fn any_words_are_some_state() {
        let mut random = SplitMix64::from_state(1);
        for _ in 0..10_000 {
            let mut state = State::from_words(std::array::from_fn(|_| random.draw()));
            let look = Look { now: random.draw(), number: random.draw(), batch: 1, wait: Some(5) };
            state.is_due(look.number);
            let next = state.step(ladder(MOST_DEPTH), look);
            assert!((LEAST_WINDOW..=MOST_WINDOW).contains(&next.window));
        }
    }

    #[test]
    fn it_finds_the_best_shape_for_the_crowd() {
        for (rung, &best) in LADDER.iter().enumerate() {
            let mut machine = Machine::new(0.02);
            for _ in 0..400 {
                machine.window(200.0, peak(rung));
            }
            assert_eq!(machine.home(), best, "the best rung is {rung}");
        }
    }

    #[test]
    fn without_a_crowd_it_tries_nothing() {
        let mut machine = Machine::new(0.2);
        for _ in 0..10_000 {
            machine.window(3.0, peak(4));
            assert_eq!(machine.levels, Levels::FLAT);
        }
    }

    #[test]
    fn under_a_steady_load_home_does_not_move_and_trials_become_rare() {
        for rung in [0, 3, 7] {
            let mut machine = Machine::new(0.02);
            for _ in 0..1000 {
                machine.window(200.0, peak(rung));
            }
            let (moves, mut away) = (machine.state.moves, 0);
            for _ in 0..100_000 {
                machine.window(200.0, peak(rung));
                away += u32::from(machine.levels != machine.home());
            }
            assert_eq!(machine.state.moves, moves, "best rung {rung}");
            assert!(away < 60, "{away} windows of 100 000 away from home");
        }
    }

    /// However much the load varies: what trials lose is a small part.
    #[test]
    fn trials_lose_less_than_they_may() {
        let mut random = SplitMix64::from_state(5);
        let mut machine = Machine::new(0.05);
        let (mut spent, mut needed) = (0.0, 0.0);
        for _ in 0..200_000 {
            // One word is always best, and everything else bad.
            let callers = [8.0, 16.0, 200.0][random.below(3) as usize];
            let before = (machine.now, machine.number);
            machine.window(callers, |levels| if levels == Levels::FLAT { 0.04 } else { 0.01 });
            spent += machine.now - before.0;
            needed += (machine.number - before.1) as f64 / 0.04;
        }
        assert_eq!(machine.home(), Levels::FLAT);
        assert!(spent < 1.03 * needed, "lost {:.3}", spent / needed - 1.0);
    }

    #[test]
    fn it_follows_a_load_that_comes_and_goes() {
        let mut machine = Machine::new(0.02);
        for round in 0..20 {
            for _ in 0..60 {
                machine.window(200.0, peak(5));
            }
            assert_eq!(machine.home(), LADDER[5], "round {round}: the crowd has come");
            for _ in 0..60 {
                // Now groups are ten times slower than they were.
                machine.window(3.0, |levels| if levels == Levels::FLAT { 0.03 } else { 0.005 });
            }
            assert_eq!(machine.home(), Levels::FLAT, "round {round}: the crowd has gone");
        }
    }
}
