//! Barriers with deliberate errors.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use throng::ShapeError;
use throng::machine::{Line, Machine, Place, WayOut, Word};
use throng::structures::barrier::{About, Broken, Meeting, Method, Registered, Shape, Tally};
use throng_check::workload::Entrance;

const fn about(name: &'static str) -> About {
    About::new(name, "", "")
}

fn word<M: Machine>(value: u64, name: &'static str, index: usize) -> Line<M::Word> {
    Line::word::<M>(value, Place::named(name).index(index))
}

/// Returns the broken barriers in which, in some schedule of any world, a member never returns.
pub(crate) fn hanging<M: Machine>() -> Vec<Registered<M>> {
    vec![
        Registered::of::<CountsDown<M, { COPIES_FLAGS }>>(),
        Registered::of::<OneCounter<M>>(),
        Registered::of::<SwitchesAtOnce<M>>(),
        Registered::of::<ChildNotReady<M, SETS_BACK_LATE>>(),
    ]
}

/// Without a fault: the checks must not complain.
pub(crate) const SOUND: u8 = 0;
/// Flags are reset by a copy of their initial values.
pub(crate) const COPIES_FLAGS: u8 = 1;
/// No fence between a member's own flag and its reads of the others'.
pub(crate) const WITHOUT_FENCE: u8 = 2;
/// The member that ends the round does not pass on what was done before.
pub(crate) const RELAXED_BELL: u8 = 3;
/// Flags are set back after all were signals.
pub(crate) const SETS_BACK_LATE: u8 = 4;

/// The dynamic f-way barrier of GV93 as in the paper's Figure 6, with one node: `so_far` has a bit
/// for each member that has yet to arrive, and a member that finds none goes on.
///
/// Several members may find none. A slow one of them then resets the flags when others have arrived
/// at the next round, and loses their arrivals (Table 1). Without the fault, `so_far` has the sense
/// of each member, as in Figure 14.
#[derive(Debug)]
pub(crate) struct CountsDown<M: Machine, const FAULT: u8> {
    so_far: Line<M::Word>,
    central_sense: Line<M::Word>,
    expected: u64,
}

impl<M: Machine, const FAULT: u8> Method<M> for CountsDown<M, FAULT> {
    const ABOUT: About = about(match FAULT {
        SOUND => "figure-14",
        _ => "figure-6",
    });

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        assert!(shape.members < 64, "one word has the flags of all");
        let expected = (1 << shape.members) - 1;
        Ok(CountsDown {
            so_far: word::<M>(expected, "so far", 0),
            central_sense: word::<M>(1, "central sense", 0),
            expected,
        })
    }
}

impl<M: Machine, const FAULT: u8> Meeting<M> for CountsDown<M, FAULT> {
    fn members(&self) -> usize {
        self.expected.count_ones() as usize
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        let (mine, local_sense) = (1 << rank, round % 2);
        let all = if FAULT == SOUND && local_sense == 1 { self.expected } else { 0 };
        if all == 0 {
            self.so_far.fetch_and(!mine, AcqRel);
        } else {
            self.so_far.fetch_or(mine, AcqRel);
        }
        if self.so_far.load(Acquire) != all {
            let waited =
                self.central_sense.sleep_while(cpu, Acquire, way_out, |s| s != local_sense);
            return waited.map(drop).ok_or(Broken);
        }
        if FAULT == COPIES_FLAGS {
            // BROKEN: other members that found all flags may have reset them long ago.
            self.so_far.store(self.expected, Release);
        }
        self.central_sense.signal(local_sense);
        Ok(())
    }
}

/// One node of the tree barrier of Mellor-Crummey and Scott: member 0 waits until each of the others has cleared its flag,
/// and sets all flags back.
#[derive(Debug)]
pub(crate) struct ChildNotReady<M: Machine, const FAULT: u8> {
    child_not_ready: Line<M::Word>,
    sense: Line<M::Word>,
    have_child: u64,
}

impl<M: Machine, const FAULT: u8> Method<M> for ChildNotReady<M, FAULT> {
    const ABOUT: About =
        about(if FAULT == SOUND { "child-not-ready" } else { "child-not-ready-late" });

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        assert!(shape.members < 64, "one word has the flags of all");
        let have_child = (1 << shape.members) - 2;
        Ok(ChildNotReady {
            child_not_ready: word::<M>(have_child, "child not ready", 0),
            sense: word::<M>(1, "sense", 0),
            have_child,
        })
    }
}

impl<M: Machine, const FAULT: u8> Meeting<M> for ChildNotReady<M, FAULT> {
    fn members(&self) -> usize {
        self.have_child.count_ones() as usize + 1
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        let (flags, sense) = (&self.child_not_ready, round % 2);
        if rank > 0 {
            flags.fetch_and(!(1 << rank), SeqCst);
            flags.wake();
            let waited = self.sense.sleep_while(cpu, Acquire, way_out, |now| now != sense);
            return waited.map(drop).ok_or(Broken);
        }
        flags.sleep_while(cpu, Acquire, way_out, |flags| flags != 0).ok_or(Broken)?;
        if FAULT == SETS_BACK_LATE {
            // BROKEN: a child may have come to the next round before its flag is set back.
            self.sense.signal(sense);
            flags.store(self.have_child, Release);
        } else {
            flags.store(self.have_child, Relaxed);
            self.sense.signal(sense);
        }
        Ok(())
    }
}

/// A central barrier without a sense: members wait on the counter itself until the last one resets
/// it.
#[derive(Debug)]
pub(crate) struct OneCounter<M: Machine> {
    arrived: Line<M::Word>,
    members: usize,
}

impl<M: Machine> Method<M> for OneCounter<M> {
    const ABOUT: About = about("one-counter");

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        Ok(OneCounter { arrived: word::<M>(0, "arrived", 0), members: shape.members })
    }
}

impl<M: Machine> Meeting<M> for OneCounter<M> {
    fn members(&self) -> usize {
        self.members
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        _rank: usize,
        _round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        if self.arrived.fetch_add(1, AcqRel) + 1 == self.members as u64 {
            self.arrived.signal(0);
            return Ok(());
        }
        // BROKEN: a member that arrives at the next round hides the 0 from members that have not
        // seen it yet.
        let waited = self.arrived.sleep_while(cpu, Acquire, way_out, |arrived| arrived != 0);
        waited.map(drop).ok_or(Broken)
    }
}

/// One node of the library's dynamic f-way barrier: each member writes its flag, and a member that
/// then finds all flags releases all.
#[derive(Debug)]
pub(crate) struct LastGoesOn<M: Machine, const FAULT: u8> {
    flags: Vec<Line<M::Word>>,
    bell: Line<M::Word>,
}

impl<M: Machine, const FAULT: u8> Method<M> for LastGoesOn<M, FAULT> {
    const ABOUT: About = about(match FAULT {
        SOUND => "last-goes-on",
        WITHOUT_FENCE => "last-goes-on-without-fence",
        _ => "last-goes-on-with-relaxed-bell",
    });

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        Ok(LastGoesOn {
            flags: (0..shape.members).map(|member| word::<M>(0, "flag", member)).collect(),
            bell: word::<M>(0, "bell", 0),
        })
    }
}

impl<M: Machine, const FAULT: u8> Meeting<M> for LastGoesOn<M, FAULT> {
    fn members(&self) -> usize {
        self.flags.len()
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        self.flags[rank].store(round + 1, Release);
        // BROKEN, with this fault: all may read before their own writes are visible.
        if FAULT != WITHOUT_FENCE {
            M::fence(SeqCst);
        }
        if !self.flags.iter().all(|flag| flag.load(Acquire) == round + 1) {
            let waited = self.bell.sleep_while(cpu, Acquire, way_out, |over| over <= round);
            return waited.map(drop).ok_or(Broken);
        }
        // BROKEN, with this fault: should release.
        if FAULT == RELAXED_BELL {
            self.bell.store(round + 1, Relaxed);
        } else {
            self.bell.signal(round + 1);
        }
        Ok(())
    }
}

/// A dissemination barrier that ends a step too early, so that no member has heard of all others.
#[derive(Debug)]
pub(crate) struct StopsShort<M: Machine> {
    /// For each step, a flag for each member.
    signals: Vec<Vec<Line<M::Word>>>,
    members: usize,
}

impl<M: Machine> Method<M> for StopsShort<M> {
    const ABOUT: About = about("stops-short");

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let flags = |_| (0..shape.members).map(|member| word::<M>(0, "signals", member)).collect();
        // BROKEN: should round up.
        let steps = shape.members.ilog2() - u32::from(shape.members.is_power_of_two());
        Ok(StopsShort { signals: (0..steps).map(flags).collect(), members: shape.members })
    }
}

impl<M: Machine> Meeting<M> for StopsShort<M> {
    fn members(&self) -> usize {
        self.members
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        for (step, signals) in self.signals.iter().enumerate() {
            signals[(rank + (1 << step)) % self.members].signal(round + 1);
            let waited =
                signals[rank].sleep_while(cpu, Acquire, way_out, |signals| signals <= round);
            waited.ok_or(Broken)?;
        }
        Ok(())
    }
}

/// Two barriers. Rank 0 decides which of them its members use.
#[derive(Debug)]
pub(crate) struct SwitchesAtOnce<M: Machine> {
    barriers: [Tally<M>; 2],
    chosen: Line<M::Word>,
}

impl<M: Machine> Method<M> for SwitchesAtOnce<M> {
    const ABOUT: About = about("switches-at-once");

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let barriers = [Tally::build(shape)?, Tally::build(shape)?];
        Ok(SwitchesAtOnce { barriers, chosen: word::<M>(0, "chosen", 0) })
    }
}

impl<M: Machine> Meeting<M> for SwitchesAtOnce<M> {
    fn members(&self) -> usize {
        self.barriers[0].members()
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        if rank == 0 && round == 1 {
            // BROKEN: should choose for the round after this one, since another member may already
            // be in this one.
            self.chosen.store(1, SeqCst);
        }
        let chosen = &self.barriers[self.chosen.load(SeqCst) as usize];
        chosen.meet_unranked(cpu, way_out).expect("its members have no ranks").map(drop)
    }
}

/// A barrier for anonymous callers that may have two leaders. Works for `members` callers only.
#[derive(Debug)]
pub(crate) struct TwoLeaders<M: Machine> {
    arrived: Line<M::Word>,
    over: Line<M::Word>,
    members: usize,
}

impl<M: Machine> TwoLeaders<M> {
    pub(crate) fn new(members: usize) -> Self {
        TwoLeaders { arrived: word::<M>(0, "arrived", 0), over: word::<M>(0, "over", 0), members }
    }
}

impl<M: Machine> Entrance<M> for TwoLeaders<M> {
    fn members(&self) -> usize {
        self.members
    }

    fn wait_on(&self, cpu: &M::Cpu, _seat: &mut usize) -> Result<bool, Broken> {
        let round = self.over.load(Acquire);
        self.arrived.fetch_add(1, AcqRel);
        // BROKEN: should use the result of the addition. Two members that arrive at once both find
        // all there.
        let leads = self.arrived.load(Acquire) == (round + 1) * self.members as u64;
        if leads {
            self.over.signal(round + 1);
            return Ok(true);
        }
        self.over.wait_while(cpu, Acquire, |over| over <= round);
        Ok(false)
    }
    fn abort(&self) {}
}
