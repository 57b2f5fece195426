//! When to change shape, decided by measurement.
//!
//! This code uses no shared memory: a caller passes the findings of a *look* at the counter and
//! gets the next shape. A look happens whenever about [`WINDOW_TIME`] has passed. The time between
//! two looks is a *window*.
//!
//! The shapes form a [ladder](super::ladder): one word, groups of 2, of 4, ... and on top two
//! levels of groups. One rung is *home*. From time to time another rung is tried for a few windows.
//! It becomes home if numbers come faster by [`GAIN`]. Otherwise the counter returns home, and
//! trials become rarer. Which rung is tried:
//!
//! - At home on one word, none unless there is a *crowd*: at least [`CROWD`] callers waiting at the
//!   word. By Little's law, their number is the number of calls made in the time that one call
//!   takes. The first trial is groups of about the square root of this number. The next ones are a
//!   rung above, a rung below and the smallest groups.
//! - At home in groups, the next rung in the direction that was right the last time and the next
//!   rung in the other direction, in turn, and rarely one word. If the load fell, or callers are
//!   found alone in their groups, one word is tried first.
//!
//! An account limits the cost of trials. It earns [`EARNED`] of the time at home and pays for the
//! time that trials lose. Without credit there are no trials. When the load changes, trials begin
//! anew, in groups at once; for that the account may be overdrawn a little. A change counts when
//! two windows in a row show it, because a window with a pause in it says nothing about the rest.

use crate::counter::gathering::Levels;

/// The target length of a window, in units of the clock: nanoseconds or simulated cycles.
const WINDOW_TIME: f64 = 32_768.0;

/// The smallest count of numbers in a window, as a power of two.
const LEAST_WINDOW: u32 = 8;

/// The largest count of numbers in a window, as a power of two: a few milliseconds of the fastest
/// machine.
const MOST_WINDOW: u32 = 20;

/// The smallest number of batches in a window. A look falls on the end of a batch, so with fewer
/// batches the rate would not be exact enough.
const BATCHES_A_WINDOW: u64 = 16;

/// The smallest count of numbers in a window, as a multiple of the number of waiting callers.
const CROWD_A_WINDOW: f64 = 1.3;

/// The largest batch that is taken for a batch of callers. Larger ones come from callers that asked
/// for many numbers at once.
const MOST_BATCH: u64 = 4096;

/// The factor by which another shape must be faster to become home.
const GAIN: f64 = 1.04;

/// The number of windows, taken together, that must show the gain. The window in which the shape
/// changes does not count.
const CONVINCING: u64 = 2;

/// The number of windows in a row that must show that the load has changed.
const BELIEVABLE: u64 = 2;

/// The share of the time that trials may lose.
const EARNED: f64 = 1.0 / 64.0;

/// The largest credit that is kept, in windows of the usual length.
const MOST_CREDIT: f64 = 4.0;

/// The overdraft for the first trial in groups after the load has changed, in windows of the usual
/// length. The debt is never more than twice this: a trial may cost more than expected.
const OVERDRAFT: f64 = 32.0;

/// The factor by which the time to the next trial grows after a trial that failed.
const MORE_PATIENCE: u64 = 4;

/// The longest time from one trial to the next, in windows, while the load is steady.
const MOST_PATIENCE: u64 = 1 << 14;

/// The smallest number of callers at one word that count as a crowd.
const CROWD: f64 = 6.0;

/// A fetch that takes less time than this, in units of the clock, did not wait for others.
const LEAST_WAIT: u64 = 100;

/// The shortest time in which a line moves from core to core, in units of the clock. A caller alone
/// takes less.
const FASTEST_HANDOVER: f64 = 12.0;

/// The number of windows in a row with a caller alone in its group after which callers count as
/// alone.
const ALONE: u64 = 8;

/// The factor, up or down, by which the load must differ to count as changed.
const CHANGED: f64 = 1.6;

/// A window with less than this part of the remembered rate had a pause in it. Such a window has
/// little weight, so that it does not make the next trial look good.
const PAUSED: f64 = 0.5;

/// The number of words that a [`State`] takes.
pub(super) const STATE_WORDS: usize = 22;

/// The findings of a look at the counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// The time, in units of the clock.
    pub(super) now: u64,
    /// The number that was drawn.
    pub(super) number: u64,
    /// The count of numbers fetched together with it.
    pub(super) batch: u64,
    /// The time of one fetch at the root, in units of the clock, if all callers fetch there.
    pub(super) wait: Option<u64>,
}

/// The next shape, and the count of numbers until the next look, as a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) levels: Levels,
    pub(super) window: u32,
}

/// The state that is kept from one look to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct State {
    /// The time of the last look.
    time: u64,
    /// The number drawn at the last look.
    number: u64,
    /// Whether the shape changed in the present window, whose rate then means nothing.
    mixed: bool,
    /// The rung of the ladder that is known to be best.
    home: usize,
    /// The rate at home, in numbers for each unit of time.
    rate: f64,
    /// The load when trials last began anew: the number of waiting callers at one word, the rate in
    /// groups.
    load: f64,
    /// The number of windows in a row that have shown another load.
    changed: u64,
    /// The number of windows in a row that have shown a caller alone in its group.
    alone: u64,
    /// The number of callers at the root, by Little's law, and the last two counts of them.
    crowd: f64,
    counts: [f64; 2],
    /// The rung that is being tried, or `home` if none is.
    trial: usize,
    /// The number of windows that have shown the trial to be faster.
    convinced: u64,
    /// The time of the windows of the trial, and the numbers drawn in them.
    tried: [f64; 2],
    /// The number of failed trials since home was found or the load changed.
    failed: u64,
    /// Whether the last move of home was up the ladder.
    upward: bool,
    /// Whether the load fell when it last changed.
    fallen: bool,
    /// The number of windows at home since the last trial, and the number needed before the next
    /// one.
    waited: u64,
    patience: u64,
    /// The time that trials may lose.
    credit: f64,
    /// The count of numbers to the next look, as a power of two.
    window: u32,
    /// The number of moves of home.
    pub(super) moves: u64,
}

impl State {
    /// Returns the state at home on one word, at `number`.
    pub(super) const fn new(number: u64) -> Self {
        State {
            time: 0,
            number,
            mixed: true,
            home: 0,
            rate: 0.0,
            load: 0.0,
            changed: 0,
            alone: 0,
            crowd: 0.0,
            counts: [0.0; 2],
            trial: 0,
            convinced: 0,
            tried: [0.0; 2],
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

    /// Encodes the state in words.
    pub(super) const fn to_words(self) -> [u64; STATE_WORDS] {
        let ([first, second], [time, numbers]) = (self.counts, self.tried);
        [
            self.time,
            self.number,
            self.mixed as u64,
            self.home as u64,
            self.rate.to_bits(),
            self.load.to_bits(),
            self.changed,
            self.alone,
            self.crowd.to_bits(),
            first.to_bits(),
            second.to_bits(),
            self.trial as u64,
            self.convinced,
            self.failed,
            self.upward as u64 | (self.fallen as u64) << 1,
            self.waited,
            self.patience,
            self.credit.to_bits(),
            self.window as u64,
            self.moves,
            time.to_bits(),
            numbers.to_bits(),
        ]
    }

    /// Decodes the words that [`to_words`](State::to_words) returned.
    pub(super) fn from_words(words: [u64; STATE_WORDS]) -> Self {
        State {
            time: words[0],
            number: words[1],
            mixed: words[2] != 0,
            home: words[3] as usize,
            rate: f64::from_bits(words[4]),
            load: f64::from_bits(words[5]),
            changed: words[6],
            alone: words[7],
            crowd: f64::from_bits(words[8]),
            counts: [f64::from_bits(words[9]), f64::from_bits(words[10])],
            trial: words[11] as usize,
            convinced: words[12],
            failed: words[13],
            upward: words[14] & 1 != 0,
            fallen: words[14] & 2 != 0,
            waited: words[15],
            patience: words[16],
            credit: f64::from_bits(words[17]),
            window: words[18] as u32,
            moves: words[19],
            tried: [f64::from_bits(words[20]), f64::from_bits(words[21])],
        }
    }

    /// Returns whether it is time for a look. Callers that have not seen the last change yet come
    /// too early.
    pub(super) fn is_due(&self, number: u64) -> bool {
        let numbers = number.saturating_sub(self.number);
        numbers > (1_u64 << self.window.min(MOST_WINDOW)) / 4 * 3
    }

    /// Returns whether numbers came slowly enough for callers to have waited in line.
    pub(super) fn may_be_crowded(&self, now: u64, number: u64) -> bool {
        let elapsed = now.saturating_sub(self.time) as f64;
        let numbers = number.saturating_sub(self.number) as f64;
        elapsed > FASTEST_HANDOVER * numbers
    }

    /// Updates the state by a look, and returns the next shape.
    pub(super) fn step(&mut self, ladder: &[Levels], look: Look) -> Next {
        // The stored words may be a mixture of two looks, if one of them took very long.
        let last = ladder.len() - 1;
        (self.home, self.trial) = (self.home.min(last), self.trial.min(last));
        let elapsed = look.now.saturating_sub(self.time).max(1) as f64;
        let numbers = look.number.saturating_sub(self.number).max(1) as f64;
        (self.time, self.number) = (look.now, look.number);
        if !std::mem::take(&mut self.mixed) {
            let batch = look.batch.clamp(1, MOST_BATCH);
            self.learn(ladder, Window { rate: numbers / elapsed, elapsed, batch }, look.wait);
        }
        Next { levels: ladder[self.trial], window: self.window.clamp(LEAST_WINDOW, MOST_WINDOW) }
    }

    /// Updates the state by a window that has passed in one shape.
    fn learn(&mut self, ladder: &[Levels], window: Window, wait: Option<u64>) {
        if let Some(wait) = wait {
            let waiting = if wait < LEAST_WAIT { 0.0 } else { wait as f64 * window.rate };
            self.count_the_crowd(waiting / window.batch as f64);
        }
        if self.trial == self.home {
            self.stay_home(window);
            self.try_something(ladder);
        } else {
            self.judge(window);
        }
        self.window = self.next_window(window);
    }

    /// Returns the count of numbers until the next look, as a power of two. It is enough for about
    /// [`WINDOW_TIME`] and for several batches. It is also enough for each caller of the crowd to
    /// draw a number, so that the window after a change has no calls from before it. A trial that
    /// has not shown a gain yet is no longer than necessary.
    fn next_window(&self, last: Window) -> u32 {
        let is_doubtful = self.trial != self.home && self.convinced == 0;
        let by_time = if is_doubtful { 1.0 } else { last.rate.max(self.rate) * WINDOW_TIME };
        let by_batch = if self.trial == 0 { 1.0 } else { (BATCHES_A_WINDOW * last.batch) as f64 };
        let numbers = by_time.max(CROWD_A_WINDOW * self.crowd).max(by_batch);
        (numbers.log2().ceil() as u32).clamp(LEAST_WINDOW, MOST_WINDOW)
    }

    /// Stores the median of three counts: an interrupted count has no effect.
    fn count_the_crowd(&mut self, crowd: f64) {
        let [first, second] = self.counts;
        self.counts = [second, crowd];
        self.crowd = crowd.max(first.min(second)).min(first.max(second));
    }

    /// Returns the time of a window at home.
    fn usual_time(&self) -> f64 {
        let numbers = 1_u64 << self.window.min(MOST_WINDOW);
        WINDOW_TIME.max(numbers as f64 / self.rate)
    }

    /// Updates the state by a window at home.
    fn stay_home(&mut self, window: Window) {
        let Window { rate, elapsed, batch } = window;
        self.rate = remembered(self.rate, rate);
        let usual = self.usual_time();
        // A pause between calls earns nothing.
        self.credit = (self.credit + EARNED * elapsed.min(2.0 * usual)).min(MOST_CREDIT * usual);
        self.waited = self.waited.saturating_add(1);

        let load = if self.home == 0 { self.crowd } else { rate };
        let differs = load > CHANGED * self.load || self.load > CHANGED * load;
        self.changed = if differs { self.changed.saturating_add(1) } else { 0 };
        let is_alone = self.home != 0 && batch == 1;
        self.alone = if is_alone { self.alone.saturating_add(1) } else { 0 };
        if self.changed >= BELIEVABLE {
            self.begin_anew(load < self.load, load, rate);
        } else if self.alone == ALONE {
            self.begin_anew(true, load, rate);
        }
    }

    /// Forgets earlier trials, because the load has changed.
    fn begin_anew(&mut self, fallen: bool, load: f64, rate: f64) {
        (self.fallen, self.load, self.changed) = (fallen, load, 0);
        (self.failed, self.patience) = (0, 1);
        if self.home != 0 {
            self.rate = rate;
        }
    }

    /// Begins a trial, if it is time for one and there is a rung to try.
    fn try_something(&mut self, ladder: &[Levels]) {
        // Groups that are too large for the load slow down all callers, so this trial cannot wait.
        let is_urgent = self.home != 0 && self.failed == 0;
        let limit = if is_urgent { -OVERDRAFT * self.usual_time() } else { 0.0 };
        if self.credit > limit
            && self.waited >= self.patience
            && let Some(rung) = self.candidate(ladder)
        {
            (self.trial, self.convinced, self.mixed) = (rung, 0, true);
            self.tried = [0.0; 2];
        }
    }

    /// Returns the rung to try now, if any. Each failed trial moves on to the next choice.
    fn candidate(&self, ladder: &[Levels]) -> Option<usize> {
        let home = self.home as isize;
        let onward = if self.upward { 1 } else { -1 };
        let ways = if self.home == 0 {
            if self.crowd < CROWD {
                return None;
            }
            let guess = (self.crowd.log2() / 2.0).round() as isize;
            &[guess, guess + 1, guess - 1, 1][..]
        } else if self.fallen {
            &[0, home - 1, home + 1][..]
        } else {
            // One word is slow under contention, and the load did not fall, so it comes last.
            let (on, back) = (home + onward, home - onward);
            &[on, back, on, back, on, 0][..]
        };
        let last = ladder.len() as isize - 1;
        let in_turn = ways.iter().cycle().skip(self.failed as usize % ways.len());
        let rungs = in_turn.take(ways.len()).map(|&way| way.clamp(0, last) as usize);
        rungs.into_iter().find(|&rung| rung != self.home)
    }

    /// Updates the state by a window of the trial. All windows of the trial count together.
    fn judge(&mut self, window: Window) {
        let [time, numbers] = self.tried;
        self.tried = [time + window.elapsed, numbers + window.rate * window.elapsed];
        let so_far = Window { rate: self.tried[1] / self.tried[0], ..window };
        if so_far.rate < GAIN * self.rate {
            self.give_up(window);
            return;
        }
        self.convinced = self.convinced.saturating_add(1);
        if self.convinced >= CONVINCING {
            self.move_home(so_far);
        }
    }

    /// Ends a trial that was not faster.
    fn give_up(&mut self, window: Window) {
        let lost = 1.0 - (window.rate / self.rate).min(1.0);
        // The window of the change was lost as well.
        let most_debt = 2.0 * OVERDRAFT * self.usual_time();
        self.credit = (self.credit - 2.0 * window.elapsed * lost).max(-most_debt);
        self.failed = self.failed.saturating_add(1);
        self.patience = self.patience.saturating_mul(MORE_PATIENCE).min(MOST_PATIENCE);
        (self.trial, self.waited, self.mixed) = (self.home, 0, true);
    }

    /// Ends a trial that was faster: its rung becomes home.
    fn move_home(&mut self, window: Window) {
        self.upward = self.trial > self.home;
        (self.home, self.rate) = (self.trial, window.rate);
        let load = if self.home == 0 { self.crowd } else { window.rate };
        self.begin_anew(false, load, window.rate);
        (self.waited, self.alone) = (0, 0);
        // The gain pays for the next trials.
        self.credit = self.credit.max(MOST_CREDIT * self.usual_time());
        self.moves = self.moves.saturating_add(1);
    }
}

/// Returns the rate at home after another window: an average over some windows. A window with a
/// pause in it has little weight.
fn remembered(before: f64, rate: f64) -> f64 {
    if before == 0.0 {
        rate
    } else if rate < PAUSED * before {
        (15.0 * before + rate) / 16.0
    } else {
        (3.0 * before + rate) / 4.0
    }
}

/// The measurements of a window.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// Numbers for each unit of time.
    rate: f64,
    elapsed: f64,
    /// The count of numbers fetched at once when the window ended.
    batch: u64,
}

#[cfg(test)]
mod tests;
