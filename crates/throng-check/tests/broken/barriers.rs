//! Barriers that are wrong on purpose.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use throng::ShapeError;
use throng::barrier::{About, Broken, Meeting, Method, Registered, Shape, Tally};
use throng::machine::{Line, Machine, Place, WayOut, Word};
use throng_check::workload::Entrance;

const fn about(name: &'static str) -> About {
    About { name, summary: "", paper: "" }
}

fn word<M: Machine>(value: u64, name: &'static str, index: usize) -> Line<M::Word> {
    Line::word::<M>(value, Place::named(name).index(index))
}

/// The broken barriers from which, in some schedule of any world, somebody never comes back.
pub(crate) fn hanging<M: Machine>() -> Vec<Registered<M>> {
    vec![
        Registered::of::<CountsDown<M, { COPIES_FLAGS }>>(),
        Registered::of::<OneCounter<M>>(),
        Registered::of::<SwitchesAtOnce<M>>(),
    ]
}

/// As it should be: the checks must not complain.
pub(crate) const SOUND: u8 = 0;
/// Flags are set back by a copy of what they were at first.
pub(crate) const COPIES_FLAGS: u8 = 1;
/// Nothing keeps a member from reading the others' flags before its own can be seen.
pub(crate) const WITHOUT_FENCE: u8 = 2;
/// Who tells that the round is over does not pass on what was done before.
pub(crate) const RELAXED_BELL: u8 = 3;

/// The dynamic f-way barrier of GV93 as the paper's Figure 6 has it, one node of it: `so_far` has a
/// bit for each member that has yet to come, and whoever finds none goes on.
///
/// Several may find none. If one of them is slow, it sets the flags back when others have come to the
/// next round, and what these said is lost (Table 1). Sound, `so_far` has the sense of each member, as
/// in Figure 14.
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
            // BROKEN: others that found all there may have done so long ago.
            self.so_far.store(self.expected, Release);
        }
        self.central_sense.signal(local_sense);
        Ok(())
    }
}

/// A central barrier without a sense: members wait on the counter itself, for the last one to set it
/// back.
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
        // BROKEN: who comes to the next round hides the 0 from those who have yet to see it.
        let waited = self.arrived.sleep_while(cpu, Acquire, way_out, |arrived| arrived != 0);
        waited.map(drop).ok_or(Broken)
    }
}

/// One node of the dynamic f-way barrier as it is in the library: each writes its flag, and who then
/// finds all there tells all.
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
        // BROKEN, with this fault: all may read before what they wrote can be seen.
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

/// A dissemination barrier that ends a step too early, so that nobody has heard of all.
#[derive(Debug)]
pub(crate) struct StopsShort<M: Machine> {
    /// For each step, a flag for each member.
    told: Vec<Vec<Line<M::Word>>>,
    members: usize,
}

impl<M: Machine> Method<M> for StopsShort<M> {
    const ABOUT: About = about("stops-short");

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let flags = |_| (0..shape.members).map(|member| word::<M>(0, "told", member)).collect();
        // BROKEN: should round up.
        let steps = shape.members.ilog2() - u32::from(shape.members.is_power_of_two());
        Ok(StopsShort { told: (0..steps).map(flags).collect(), members: shape.members })
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
        for (step, told) in self.told.iter().enumerate() {
            told[(rank + (1 << step)) % self.members].signal(round + 1);
            let waited = told[rank].sleep_while(cpu, Acquire, way_out, |told| told <= round);
            waited.ok_or(Broken)?;
        }
        Ok(())
    }
}

/// Two barriers. Rank 0 decides at which of them its members meet.
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
            // BROKEN: should choose for the round after this one, at which another member may be already.
            self.chosen.store(1, SeqCst);
        }
        let chosen = &self.barriers[self.chosen.load(SeqCst) as usize];
        chosen.meet_unranked(cpu, way_out).expect("its members have no ranks").map(drop)
    }
}

/// A barrier for whoever comes that may have two leaders. Good for as many visitors as meet.
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
        // BROKEN: should ask what the addition found. Two who come at once both find all there.
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
