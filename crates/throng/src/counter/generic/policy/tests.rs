use super::super::ladder::{MOST_DEPTH, ladder};
use super::*;
use crate::machine::SplitMix64;

/// A machine whose rate depends on the shape and on the number of callers. Looks come when they
/// are due, and rates are off by up to `noise`.
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

    /// Runs one window with `callers` callers, on a machine with these rates.
    fn window(&mut self, callers: f64, rate: impl Fn(Levels) -> f64) {
        self.window_with_pause(callers, 0.0, rate);
    }

    /// Runs one window with a pause of `pause` without calls.
    fn window_with_pause(&mut self, callers: f64, pause: f64, rate: impl Fn(Levels) -> f64) {
        let noise = 1.0 + self.noise * (self.random.below(2001) as f64 / 1000.0 - 1.0);
        let rate = rate(self.levels) * noise;
        self.number += 1 << self.window;
        self.now += (1 << self.window) as f64 / rate + pause;
        let flat = self.levels == Levels::FLAT;
        let look = Look {
            now: self.now as u64,
            number: self.number,
            batch: if flat || callers < 2.0 { 1 } else { 4 },
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
        let at = ladder(MOST_DEPTH).iter().position(|&l| l == levels).unwrap();
        0.05 * 0.66_f64.powi(at.abs_diff(rung) as i32)
    }
}

#[test]
fn what_words_hold_is_what_was_stored() {
    let state = State { rate: 0.1, credit: -3.5, fallen: true, home: 4, ..State::new(77) };
    assert_eq!(State::from_words(state.to_words()), state);
}

#[test]
fn any_words_are_some_state() {
    let mut random = SplitMix64::from_state(1);
    for i in 0..20_000 {
        let mut words: [u64; STATE_WORDS] = std::array::from_fn(|_| random.draw());
        // Half of them are in the middle of a window that counts, and some are at home.
        words[2] = i % 2;
        words[3] %= 14;
        words[11] = if i % 4 < 2 { words[3] } else { words[11] % 14 };
        if i % 8 < 4 {
            for rate in [4, 5, 8, 9, 10, 17] {
                words[rate] = f64::NAN.to_bits();
            }
        }
        let mut state = State::from_words(words);
        let (now, number) = (random.draw(), random.draw());
        let look = Look { now, number, batch: random.draw(), wait: Some(random.draw()) };
        state.is_due(look.number);
        let next = state.step(ladder(MOST_DEPTH), look);
        assert!((LEAST_WINDOW..=MOST_WINDOW).contains(&next.window));
    }
}

#[test]
fn it_finds_the_best_shape_for_the_crowd() {
    for (rung, &best) in ladder(MOST_DEPTH).iter().enumerate() {
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

/// Trials lose a small part of the time, however much the load varies.
#[test]
fn trials_lose_less_than_they_may() {
    let mut random = SplitMix64::from_state(5);
    let mut machine = Machine::new(0.05);
    let (mut spent, mut needed) = (0.0, 0.0);
    for _ in 0..200_000 {
        // One word is always best, and all other shapes are bad.
        let callers = [8.0, 16.0, 200.0][random.below(3) as usize];
        let before = (machine.now, machine.number);
        machine.window(callers, |levels| if levels == Levels::FLAT { 0.04 } else { 0.01 });
        spent += machine.now - before.0;
        needed += (machine.number - before.1) as f64 / 0.04;
    }
    assert_eq!(machine.home(), Levels::FLAT);
    assert!(spent < 1.02 * needed, "lost {:.3}", spent / needed - 1.0);
}

#[test]
fn it_follows_a_load_that_comes_and_goes() {
    let mut machine = Machine::new(0.02);
    for round in 0..20 {
        for _ in 0..60 {
            machine.window(200.0, peak(5));
        }
        assert_eq!(machine.home(), ladder(MOST_DEPTH)[5], "round {round}: the crowd has come");
        for _ in 0..60 {
            // Groups are now ten times slower than they were.
            machine.window(3.0, |levels| if levels == Levels::FLAT { 0.03 } else { 0.005 });
        }
        assert_eq!(machine.home(), Levels::FLAT, "round {round}: the crowd has gone");
    }
}

/// A lone caller in a group may draw as many numbers a second as many callers did there, and
/// many more on one word.
#[test]
fn it_comes_back_to_one_word_though_the_rate_did_not_fall() {
    let mut machine = Machine::new(0.02);
    (0..60).for_each(|_| machine.window(200.0, peak(5)));
    assert_ne!(machine.home(), Levels::FLAT);
    let rate = |levels| if levels == Levels::FLAT { 0.4 } else { 0.05 };
    (0..60).for_each(|_| machine.window(1.0, rate));
    assert_eq!(machine.home(), Levels::FLAT);
}

/// A pause within a window, at home or in a trial, does not count as a load that fell, and does
/// not rule out trials for long.
#[test]
fn pauses_between_bursts_change_nothing() {
    for every in [20, 50, 200] {
        let mut machine = Machine::new(0.02);
        (0..200).for_each(|_| machine.window(200.0, peak(5)));
        let (mut away, windows, moves) = (0, 20_000, machine.state.moves);
        for i in 0..windows {
            let pause = if i % every == 0 { 1e9 } else { 0.0 };
            machine.window_with_pause(200.0, pause, peak(5));
            away += u32::from(machine.levels != ladder(MOST_DEPTH)[5]);
        }
        assert_eq!(machine.state.moves, moves, "a pause every {every} windows");
        assert!(away < windows / 20, "{away} windows away, a pause every {every}");
    }
    let mut machine = Machine::new(0.02);
    (0..4).for_each(|_| machine.window_with_pause(200.0, 3.6e12, peak(5)));
    (0..10_000).for_each(|_| machine.window(200.0, peak(5)));
    assert_eq!(machine.home(), ladder(MOST_DEPTH)[5], "an hour of rest is forgotten");
}

/// A caller that draws many numbers at once does not count as many callers, and looks continue.
#[test]
fn a_lone_caller_that_asks_for_many_is_no_crowd() {
    let mut state = State::new(0);
    for i in 1..1000 {
        let look = Look { now: i * 40_000, number: i << 22, batch: 1 << 20, wait: Some(120) };
        assert_eq!(state.step(ladder(MOST_DEPTH), look).levels, Levels::FLAT);
    }
    let slow = Window { rate: 1e-3, elapsed: 1e6, batch: MOST_BATCH };
    assert!(State::new(0).next_window(slow) <= 16);
}
