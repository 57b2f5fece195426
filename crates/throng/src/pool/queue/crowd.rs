//! How those who draw tickets on one side keep out of each other's way.

use std::sync::atomic::Ordering::Relaxed;

use super::tickets::Ticket;
use crate::machine::{Cpu, Line, Machine, Place, Word};

/// Gaits.
const CAREFUL: u64 = 0;
const BOLD: u64 = 1;
const PATIENT: u64 = 2;
/// In the same word: those who came last found the queue empty, or full, and were told so.
const TOLD: u64 = 4;

/// Who collides steps aside for so many nanoseconds, and the patient for so many times as long.
const ASIDE_NS: u32 = 12_800;
const PATIENCE: u32 = 8;
/// Rounds of a loop after which a thread lets others run.
const LET_OTHERS_RUN: u32 = 100;
/// So many collisions in one call, after which stepping aside did not pay, mean that one should be bold.
const CROWD: u32 = 3;
/// Stepping aside pays where those who go on take less than so many hundredths of what the bold take: for the
/// careful, who do not look for long and may be wrong, and for the patient.
const PAYS_BELOW: u64 = 70;
const STILL_PAYS_BELOW: u64 = 80;
/// Fewer tickets than this prove nothing: one who had several items at hand may have been quick with them.
const PROOF: i64 = 64;

/// A pace is the time that so many tickets take.
const PACE: u64 = 64;

/// So many tickets the bold draw, at first and at most, before they try to be careful again.
const FIRST_SPELL: u64 = 1 << 12;
const LONGEST_SPELL: u64 = 1 << 16;

/// With fewer items than this consumers stay careful, at first; and never ask for more than the second.
const BOLD_FROM: u64 = 3;
const MOST_BOLD_FROM: u64 = 1 << 10;

/// How those wait for the other side who are told that there is nothing, before they are told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Breath {
    /// Where so much came during a breath it was long enough, and where it was twice as much, too long.
    pub(super) enough: i64,
    /// So many pauses at most.
    pub(super) most: u64,
}

/// How those who draw keep out of each other's way: one of three gaits.
///
/// - *Careful*, they look and draw by compare-exchange; who collides steps aside for a while.
/// - *Patient*, the same, but for a long while. Who goes on alone has every line it needs in its own cache,
///   and draws several times as fast as many who pass the lines around.
/// - *Bold*, they draw by `fetch_add`, which never fails, and nobody steps aside.
///
/// Where the threads do nothing but push and pop, nothing is faster than patience. Where they have something
/// to do in between, who goes on alone does that, too, and those who stepped aside are missed: then nothing
/// is faster than to be bold. Nobody can know what they do, but it can be measured: who steps aside looks
/// afterwards how many tickets the others drew, and whether the bold would have drawn more. The bold try to be
/// careful from time to time, and go on from there.
#[derive(Debug)]
pub(super) struct Crowd<M: Machine> {
    /// The gait, and whether those who came last were told that there is nothing. Who changes one may undo
    /// what somebody else changes at the same time: nobody relies on either.
    mood: M::Word,
    /// The pace of the bold, when they were last seen.
    pace: M::Word,
    /// So many tickets the bold have drawn since then; so many they will draw.
    drawn: M::Word,
    since: M::Word,
    spell: M::Word,
    /// So many items there must be for consumers to become bold: more each time that they were too bold.
    bold_from: M::Word,
    /// How often they pause before they are told.
    pauses: M::Word,
    breath: Breath,
}

impl<M: Machine> Crowd<M> {
    /// Of the bold nothing is known but that a ticket might take them `bold_ns`.
    pub(super) fn new(name: &'static str, bold_ns: u32, breath: Breath) -> Line<Self> {
        Line::new::<M>(Place::named(name), |spot| Crowd {
            mood: M::Word::new(CAREFUL, spot),
            pace: M::Word::new(PACE * u64::from(bold_ns), spot),
            drawn: M::Word::new(0, spot),
            since: M::Word::new(0, spot),
            spell: M::Word::new(FIRST_SPELL, spot),
            bold_from: M::Word::new(BOLD_FROM, spot),
            pauses: M::Word::new(1, spot),
            breath,
        })
    }

    #[inline]
    pub(super) fn is_bold(&self) -> bool {
        self.mood.load(Relaxed) & BOLD != 0
    }

    /// Whether those who came last were told that there is nothing.
    #[inline]
    pub(super) fn was_told(&self) -> bool {
        self.mood.load(Relaxed) & TOLD != 0
    }

    /// Whether they are not bold, and there was something to be drawn lately.
    #[inline]
    pub(super) fn is_at_work(&self) -> bool {
        self.mood.load(Relaxed) & (BOLD | TOLD) == 0
    }

    fn gait(&self) -> u64 {
        self.mood.load(Relaxed) & !TOLD
    }

    fn go(&self, gait: u64) {
        self.mood.store(self.mood.load(Relaxed) & TOLD | gait, Relaxed);
    }

    /// After the `collisions`th collision in one call, when `first` was the next ticket, and there was so much
    /// to be drawn: steps aside, looks which ticket is `next` now, and chooses the gait for all.
    ///
    /// All are patient together, those on the other side as well, or nobody: where some are patient and others
    /// bold, the bold are held up by the patient, and would learn a pace that is not theirs.
    pub(super) fn step_aside(
        &self,
        other_side: &Self,
        cpu: &M::Cpu,
        collisions: u32,
        much: u64,
        first: Ticket,
        next: impl FnOnce() -> Ticket,
    ) {
        let is_patient = self.gait() == PATIENT;
        let start = cpu.clock();
        for turn in 0..if is_patient { PATIENCE } else { 1 } {
            // Perhaps it is this core that the others want.
            if turn > 0 {
                cpu.retry(LET_OTHERS_RUN);
            }
            cpu.pause(M::pauses_in(ASIDE_NS));
        }
        let took = cpu.clock().saturating_sub(start);
        let pays_below = if is_patient { STILL_PAYS_BELOW } else { PAYS_BELOW };
        if self.was_faster(next().ahead_of(first), took, pays_below) {
            if !is_patient {
                self.spell.store(FIRST_SPELL, Relaxed);
                self.go(PATIENT);
                other_side.go(PATIENT);
            }
        } else if is_patient {
            self.go(CAREFUL);
            other_side.go(CAREFUL);
        } else if collisions >= CROWD {
            self.be_bold(much);
        }
    }

    /// Whether those who drew so many tickets in that time took less than so many hundredths of what the bold
    /// take.
    fn was_faster(&self, tickets: i64, took: u64, hundredths: u64) -> bool {
        let bold = self.pace.load(Relaxed).saturating_mul(tickets.max(0) as u64);
        tickets >= PROOF && took.saturating_mul(100 * PACE) < bold.saturating_mul(hundredths)
    }

    /// Be bold, if there is so much to be drawn that nobody draws in vain.
    pub(super) fn be_bold(&self, much: u64) {
        if !self.is_bold() && much >= self.bold_from.load(Relaxed) {
            self.drawn.store(0, Relaxed);
            self.go(BOLD);
        }
    }

    /// Somebody was bold and drew in vain. Next time there must be more.
    #[cold]
    pub(super) fn be_careful(&self) {
        self.go(CAREFUL);
        let bold_from = self.bold_from.load(Relaxed);
        self.bold_from.store((2 * bold_from).min(MOST_BOLD_FROM), Relaxed);
    }

    /// There is nothing to be drawn. Whether that should be looked at again, after a short pause.
    ///
    /// Who is as fast as the other side meets it at every item, and each waits for the other's line. If
    /// it takes a breath, the other gets ahead, and many items can be drawn at once. How long a breath
    /// should be is learned: as long as it gives [enough](Breath). One breath only: who finds the queue empty
    /// again and again is told so at once.
    pub(super) fn takes_breath(&self, cpu: &M::Cpu) -> bool {
        if self.was_told() {
            return false;
        }
        self.mood.store(self.gait() | TOLD, Relaxed);
        cpu.pause(self.pauses.load(Relaxed) as u32);
        true
    }

    /// After they were told: there is something to be drawn again, so much.
    #[cold]
    pub(super) fn serve(&self, much: i64) {
        self.mood.store(self.gait(), Relaxed);
        let pauses = self.pauses.load(Relaxed);
        let learned = if much <= 1 {
            // Not worth while: the other side is slow.
            pauses - 1
        } else if much < self.breath.enough {
            2 * pauses
        } else if much < 2 * self.breath.enough {
            pauses
        } else {
            pauses / 2
        };
        let learned = learned.clamp(1, self.breath.most);
        if learned != pauses {
            self.pauses.store(learned, Relaxed);
        }
    }

    /// To be called by who drew the ticket in the middle of a block of so many. The bold learn their pace, and
    /// after a spell all try to be careful.
    pub(super) fn look(&self, other_side: &Self, cpu: &M::Cpu, tickets: u64) {
        if !self.is_bold() {
            return;
        }
        let (drawn, spell) = (self.drawn.load(Relaxed), self.spell.load(Relaxed));
        if drawn == 0 {
            self.since.store(cpu.clock(), Relaxed);
        }
        self.drawn.store(drawn + tickets, Relaxed);
        if drawn >= spell {
            let now = cpu.clock();
            self.end_spell(now);
            other_side.end_spell(now);
        }
        // It has gone well for a while.
        let bold_from = self.bold_from.load(Relaxed);
        if bold_from > BOLD_FROM {
            self.bold_from.store(bold_from - bold_from / 4, Relaxed);
        }
    }

    /// Enough of being bold, for now.
    fn end_spell(&self, now: u64) {
        let (drawn, spell) = (self.drawn.load(Relaxed), self.spell.load(Relaxed));
        if self.is_bold() && drawn >= FIRST_SPELL {
            self.learn_pace(now.saturating_sub(self.since.load(Relaxed)), drawn);
            self.spell.store((2 * spell).min(LONGEST_SPELL), Relaxed);
        }
        self.go(CAREFUL);
    }

    /// The bold drew about so many tickets in that time. That they were slow says little: perhaps there was not
    /// more to be drawn.
    fn learn_pace(&self, took: u64, tickets: u64) {
        let known = self.pace.load(Relaxed);
        let pace = (took.saturating_mul(PACE) / tickets).max(1);
        self.pace.store(pace.min(known + known / 8 + 1), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;

    const BREATH: Breath = Breath { enough: 10, most: 40 };

    /// One side, and the other.
    fn sides() -> [Line<Crowd<Native>>; 2] {
        ["one side", "other side"].map(|name| Crowd::new(name, 64, BREATH))
    }

    /// Steps aside once, while the others draw so many tickets.
    fn collide([crowd, other]: &[Line<Crowd<Native>>; 2], collisions: u32, others: u64) -> u64 {
        let next = || Ticket::new(7 + others);
        crowd.step_aside(other, &Native::cpu(), collisions, u64::MAX, Ticket::new(7), next);
        assert_eq!(other.gait() == PATIENT, crowd.gait() == PATIENT, "patient together");
        crowd.gait()
    }

    #[test]
    fn patient_where_others_are_fast_meanwhile_and_bold_where_they_are_not() {
        const MANY: u64 = 1 << 40;
        let sides = sides();
        assert_eq!(collide(&sides, 1, MANY), PATIENT);
        assert_eq!(collide(&sides, 1, MANY), PATIENT);
        assert_eq!(collide(&sides, 1, 1), CAREFUL);
        assert_eq!(collide(&sides, 1, 1), CAREFUL, "one collision is not a crowd");
        assert_eq!(collide(&sides, CROWD, 1), BOLD);
        assert_eq!(collide(&sides, CROWD, 1), BOLD);
        sides[0].be_careful();
        assert_eq!(collide(&sides, CROWD, 0), BOLD, "nobody drew any");
    }

    #[test]
    fn with_few_items_nobody_is_bold() {
        let [crowd, other] = sides();
        let slow = |much| {
            let same = Ticket::new(0);
            crowd.step_aside(&other, &Native::cpu(), CROWD, much, same, || same);
            crowd.is_bold()
        };
        assert!(!slow(BOLD_FROM - 1) && slow(BOLD_FROM));
        crowd.be_careful();
        assert!(!slow(BOLD_FROM), "that had been too few");
        assert!(slow(2 * BOLD_FROM));
        assert!(!other.is_bold(), "each side by itself");
    }

    #[test]
    fn the_bold_try_to_be_careful_ever_more_rarely_until_that_pays() {
        let sides = sides();
        let [crowd, other] = &sides;
        let spell = || {
            assert_eq!(collide(&sides, CROWD, 0), BOLD);
            other.go(BOLD);
            let look = |_: &u64| {
                crowd.look(other, &Native::cpu(), 256);
                crowd.is_bold()
            };
            let looks = (1..).take_while(look).count() as u64;
            assert!(!other.is_bold(), "all together");
            looks
        };
        assert_eq!([(); 6].map(|()| spell()), [16, 32, 64, 128, 256, 256]);
        assert_eq!(collide(&sides, 1, 1 << 40), PATIENT);
        assert_eq!(collide(&sides, 1, 0), CAREFUL);
        assert_eq!(spell(), 16);
    }

    #[test]
    fn a_breath_becomes_as_long_as_it_must_be_and_no_longer() {
        let crowd = Crowd::<Native>::new("crowd", 64, BREATH);
        let after = |much| {
            crowd.serve(much);
            crowd.pauses.load(Relaxed)
        };
        assert_eq!([2, 9, 9, 10, 19].map(after), [2, 4, 8, 8, 8], "until it is enough");
        assert_eq!([9, 9, 9, 9].map(after), [16, 32, 40, 40], "no longer than allowed");
        assert_eq!([20, 99, 1, 0].map(after), [20, 10, 9, 8], "too long, or not worth while");
        assert_eq!([99, 99, 99, 99, 1].map(after), [4, 2, 1, 1, 1]);
    }

    #[test]
    fn the_pace_of_the_bold_is_believed_when_fast_and_doubted_when_slow() {
        let crowd = Crowd::<Native>::new("crowd", 64, BREATH);
        let learn = |took, tickets| {
            crowd.learn_pace(took, tickets);
            crowd.pace.load(Relaxed)
        };
        assert_eq!(learn(10_000, 1000), 640, "10 ns a ticket");
        assert_eq!(learn(1_000_000, 1000), 721);
        assert!(crowd.was_faster(1000, 6_700, 60) && !crowd.was_faster(1000, 6_800, 60));
        assert!(!crowd.was_faster(-1, 1, 60) && !crowd.was_faster(0, 0, 60));
        assert!(crowd.was_faster(PROOF, 1, 60) && !crowd.was_faster(PROOF - 1, 1, 60));
    }
}
