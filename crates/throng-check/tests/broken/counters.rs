//! Counters with deliberate errors.

pub(crate) mod combining;
pub(crate) mod traced;

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use combining::Combining;
use throng::machine::{Cpu, Line, Machine, PerCpu, Place, Word};
use throng::structures::counter::diffracting::{
    Balancer, DiffractingTree, Node, Side, Toggle, Token,
};
use throng::structures::counter::{
    About, Consistency, Counting, Locked, Method, Progress, Registered, Shape, ShapeError,
};
use throng::structures::lock::Lock;
use traced::Traced;

const fn about(name: &'static str, consistency: Consistency) -> About {
    About::new(name, "", "", consistency, Progress::WaitFree)
}

/// Returns the broken counters that miscount in some schedule of any world.
pub(crate) fn miscounting<M: Machine>() -> Vec<Registered<M>> {
    vec![
        Registered::of::<ReadThenAdd<M>>(),
        Registered::of::<DiffractingTree<M, SplitToggle<M>>>(),
        Registered::of::<DiffractingTree<M, TwicePrism<M>>>(),
        Registered::of::<DiffractingTree<M, OpenPrism<M>>>(),
        Registered::of::<DiffractingTree<M, StoreTimeout<M>>>(),
        Registered::of::<Disordered<M>>(),
        Registered::of::<Folding<M, WITHOUT_VERSIONS>>(),
        Registered::of::<Folding<M, WITHOUT_DRAINING>>(),
        Registered::of::<Folding<M, RAISED_BY_FOLDS>>(),
        Registered::of::<Traced<M, { traced::READS_FIRST }>>(),
        Registered::of::<Traced<M, { traced::LEAVES_LATE }>>(),
        Registered::of::<Forgetful<M>>(),
        Registered::of::<Combining<M, { combining::COMBINES_EARLY }>>(),
    ]
}

/// Reads, then writes one more.
#[derive(Debug)]
pub(crate) struct ReadThenAdd<M: Machine> {
    next: Line<M::Word>,
}

impl<M: Machine> Counting<M> for ReadThenAdd<M> {
    fn next_on(&self, _cpu: &M::Cpu) -> u64 {
        // BROKEN: another call may come between.
        let value = self.next.load(Acquire);
        self.next.store(value + 1, Release);
        value
    }
}

impl<M: Machine> Method<M> for ReadThenAdd<M> {
    const ABOUT: About = about("read-then-add", Consistency::Quiescent);

    fn build(_shape: &Shape) -> Result<Self, ShapeError> {
        Ok(ReadThenAdd { next: Line::word::<M>(0, Place::named("counter")) })
    }
}

/// A toggle by a load and a store.
#[derive(Debug)]
pub(crate) struct SplitToggle<M: Machine> {
    passed: Line<M::Word>,
}

impl<M: Machine> Balancer<M> for SplitToggle<M> {
    const ABOUT: About = about("split-toggle", Consistency::Quiescent);

    fn new(node: Node) -> Self {
        SplitToggle { passed: Line::word::<M>(0, Place::named("toggle").index(node.index)) }
    }

    fn traverse(&self, _token: &Token<'_, M>) -> Side {
        // BROKEN: another token may come between.
        let before = self.passed.load(Acquire);
        self.passed.store(before + 1, Release);
        if before % 2 == 0 { Side::Left } else { Side::Right }
    }
}

/// A one-slot prism and an atomic toggle, for the mutants of the wait-free balancer.
#[derive(Debug)]
struct Parts<M: Machine> {
    slot: Line<M::Word>,
    passed: Line<M::Word>,
    node: u64,
}

impl<M: Machine> Parts<M> {
    fn new(node: Node) -> Self {
        Parts {
            slot: Line::word::<M>(0, Place::named("prism")),
            passed: Line::word::<M>(0, Place::named("toggle")),
            node: node.index as u64,
        }
    }

    /// Returns the other processor that was last in the slot.
    fn swap(&self, token: &Token<'_, M>) -> Option<usize> {
        let me = token.id() as u64 + 1;
        let found = self.slot.swap(me, AcqRel);
        (found != 0 && found != me).then(|| found as usize - 1)
    }

    fn toggle(&self) -> Side {
        if self.passed.fetch_add(1, AcqRel) % 2 == 0 { Side::Left } else { Side::Right }
    }
}

/// A prism that lets one token be diffracted twice.
#[derive(Debug)]
pub(crate) struct TwicePrism<M: Machine> {
    parts: Parts<M>,
    /// State of each processor: 1 while it waits here.
    waiting: PerCpu<Line<M::Word>>,
}

impl<M: Machine> TwicePrism<M> {
    fn withdraw(&self, token: &Token<'_, M>) -> bool {
        self.waiting.get(token.id()).compare_exchange(1, 0, AcqRel, Acquire).is_ok()
    }

    fn diffract(&self, other: usize) -> bool {
        // BROKEN: should be one compare-exchange. Two tokens may both find it waiting.
        let other = self.waiting.get(other);
        let waits = other.load(Acquire) == 1;
        if waits {
            other.store(0, Release);
        }
        waits
    }
}

impl<M: Machine> Balancer<M> for TwicePrism<M> {
    const ABOUT: About = about("twice-prism", Consistency::Quiescent);

    fn new(node: Node) -> Self {
        let waiting = |id| Line::word::<M>(0, Place::named("location").index(id));
        TwicePrism { parts: Parts::new(node), waiting: PerCpu::new(waiting) }
    }

    fn traverse(&self, token: &Token<'_, M>) -> Side {
        let own = self.waiting.get(token.id());
        own.store(1, Release);
        if let Some(other) = self.parts.swap(token) {
            if !self.withdraw(token) {
                return Side::Right;
            }
            if self.diffract(other) {
                return Side::Left;
            }
            own.store(1, Release);
        }
        if own.spin_while(token.cpu, 1, Acquire, |at| at == 1) != 1 || !self.withdraw(token) {
            return Side::Right;
        }
        self.parts.toggle()
    }
}

/// A prism in which a token may be diffracted while it diffracts another.
#[derive(Debug)]
pub(crate) struct OpenPrism<M: Machine>(Parts<M>);

impl<M: Machine> Balancer<M> for OpenPrism<M> {
    const ABOUT: About = about("open-prism", Consistency::Quiescent);

    fn new(node: Node) -> Self {
        OpenPrism(Parts::new(node))
    }

    fn traverse(&self, token: &Token<'_, M>) -> Side {
        let Parts { node, .. } = self.0;
        token.announce(node);
        if let Some(other) = self.0.swap(token) {
            // BROKEN: should withdraw first.
            if token.diffract(other, node) {
                token.withdraw(node);
                return Side::Left;
            }
        }
        if token.is_diffracted_within(1, node) || !token.withdraw(node) {
            return Side::Right;
        }
        self.0.toggle()
    }
}

/// A token that gives up waiting by a store instead of a compare-exchange.
#[derive(Debug)]
pub(crate) struct StoreTimeout<M: Machine>(Parts<M>);

impl<M: Machine> Balancer<M> for StoreTimeout<M> {
    const ABOUT: About = about("store-timeout", Consistency::Quiescent);

    fn new(node: Node) -> Self {
        StoreTimeout(Parts::new(node))
    }

    fn traverse(&self, token: &Token<'_, M>) -> Side {
        let Parts { node, .. } = self.0;
        token.announce(node);
        if let Some(other) = self.0.swap(token) {
            if !token.withdraw(node) {
                return Side::Right;
            }
            if token.diffract(other, node) {
                return Side::Left;
            }
            token.announce(node);
        }
        if token.is_diffracted_within(1, node) {
            return Side::Right;
        }
        // BROKEN: does not notice that it was diffracted just now.
        token.announce(0);
        self.0.toggle()
    }
}

/// A tree of toggles that claims to be linearizable.
#[derive(Debug)]
pub(crate) struct Disordered<M: Machine>(DiffractingTree<M, Toggle<M>>);

impl<M: Machine> Counting<M> for Disordered<M> {
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        self.0.next_on(cpu)
    }
}

impl<M: Machine> Method<M> for Disordered<M> {
    // BROKEN: it is only quiescently consistent.
    const ABOUT: About = about("disordered", Consistency::Linearizable);

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        <DiffractingTree<M, Toggle<M>>>::build(shape).map(Disordered)
    }
}

/// A model of a reactive tree: one counter, or a toggle with two counters, changed by every number
/// that is handed out. Its whole state is in one word, so only what happens between a token's
/// visits to the toggle and to a counter can go wrong. Works for 250 numbers.
#[derive(Debug)]
pub(crate) struct Folding<M: Machine, const FAULT: u8> {
    books: Line<M::Word>,
}

/// Without a fault: the checks must not complain.
pub(crate) const SOUND: u8 = 0;
/// A lower counter does not check which unfolding a token comes from.
pub(crate) const WITHOUT_VERSIONS: u8 = 1;
/// A fold switches off both lower counters, even one that is behind.
pub(crate) const WITHOUT_DRAINING: u8 = 2;
/// A fold, instead of an unfolding, makes a new version. So a counter that is left to drain refuses
/// the very tokens it is kept for: RDT97 section 3.1, to the letter.
pub(crate) const RAISED_BY_FOLDS: u8 = 3;

#[derive(Clone, Copy, Debug)]
struct Books {
    /// Whether there is a toggle with two lower counters.
    unfolded: bool,
    version: u8,
    /// The next number of the upper counter.
    next: u8,
    /// The lower counter that is next.
    toggle: u8,
    /// How many numbers each lower counter has handed out.
    below: [u8; 2],
    /// The most that they may hand out.
    limit: u8,
}

impl Books {
    const FIRST: Books =
        Books { unfolded: false, version: 0, next: 0, toggle: 0, below: [0, 0], limit: 0 };

    const fn pack(self) -> u64 {
        let Books { unfolded, version, next, toggle, below: [left, right], limit } = self;
        u64::from_le_bytes([unfolded as u8, version, next, toggle, left, right, limit, 0])
    }

    const fn unpack(word: u64) -> Self {
        let [unfolded, version, next, toggle, left, right, limit, _] = word.to_le_bytes();
        Books { unfolded: unfolded != 0, version, next, toggle, below: [left, right], limit }
    }

    fn unfold(&mut self, fault: u8) {
        if self.below.iter().all(|&count| count >= self.limit) {
            self.below = [self.next.div_ceil(2), self.next / 2];
            self.limit = u8::MAX;
            self.toggle = self.next % 2;
            self.version += u8::from(fault != RAISED_BY_FOLDS);
            self.unfolded = true;
        }
    }

    fn fold(&mut self, fault: u8) {
        let [left, right] = self.below;
        self.next = (2 * left).max(2 * right + 1) - 1;
        // BROKEN, with this fault: the counter that is behind has numbers left.
        self.limit = if fault == WITHOUT_DRAINING { 0 } else { self.next / 2 };
        // BROKEN, with this fault: should be done by the next unfolding.
        self.version += u8::from(fault == RAISED_BY_FOLDS);
        self.unfolded = false;
    }

    /// Returns a number of the upper counter, or the lower counter to go to, and its version.
    fn visit(&mut self, fault: u8) -> Result<u8, (u8, u8)> {
        if self.unfolded {
            self.toggle ^= 1;
            return Err((self.toggle ^ 1, self.version));
        }
        self.next += 1;
        let number = self.next - 1;
        self.unfold(fault);
        Ok(number)
    }

    /// Returns a number of a lower counter, if it is on and has the expected version.
    fn visit_below(&mut self, side: u8, version: u8, fault: u8) -> Option<u8> {
        // BROKEN, with this fault: should not be open to tokens of another version.
        let is_right = version == self.version || fault == WITHOUT_VERSIONS;
        let count = &mut self.below[usize::from(side)];
        if !is_right || *count >= self.limit {
            return None;
        }
        *count += 1;
        let number = 2 * (*count - 1) + side;
        if self.unfolded {
            self.fold(fault);
        }
        Some(number)
    }
}

impl<M: Machine, const FAULT: u8> Folding<M, FAULT> {
    /// Makes all of `visit` atomic.
    fn at_once<R>(&self, cpu: &M::Cpu, visit: impl Fn(&mut Books) -> R) -> R {
        for round in 0.. {
            let before = self.books.load(Acquire);
            let mut books = Books::unpack(before);
            let result = visit(&mut books);
            if self.books.compare_exchange(before, books.pack(), AcqRel, Acquire).is_ok() {
                return result;
            }
            cpu.retry(round);
        }
        unreachable!("no call tries this often")
    }
}

impl<M: Machine, const FAULT: u8> Counting<M> for Folding<M, FAULT> {
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        loop {
            let (side, version) = match self.at_once(cpu, |books| books.visit(FAULT)) {
                Ok(number) => return number.into(),
                Err(below) => below,
            };
            let number = self.at_once(cpu, |books| books.visit_below(side, version, FAULT));
            if let Some(number) = number {
                return number.into();
            }
        }
    }
}

impl<M: Machine, const FAULT: u8> Method<M> for Folding<M, FAULT> {
    const ABOUT: About = about(
        match FAULT {
            SOUND => "folding",
            WITHOUT_VERSIONS => "folding-without-versions",
            WITHOUT_DRAINING => "folding-without-draining",
            _ => "folding-with-versions-raised-by-folds",
        },
        Consistency::Quiescent,
    );

    fn build(_shape: &Shape) -> Result<Self, ShapeError> {
        Ok(Folding { books: Line::word::<M>(Books::FIRST.pack(), Place::named("books")) })
    }
}

/// A lock that excludes, but does not pass on writes made under it.
#[derive(Debug)]
pub(crate) struct RelaxedLock<M: Machine>(Line<M::Word>);

// SAFETY: none. This is a lie, which loom must find.
unsafe impl<M: Machine> Lock<M> for RelaxedLock<M> {
    fn new() -> Self {
        RelaxedLock(Line::word::<M>(0, Place::named("lock")))
    }

    fn acquire(&self, cpu: &M::Cpu) {
        while self.0.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            self.0.wait_while(cpu, Relaxed, |state| state == 1);
        }
    }

    unsafe fn release(&self, _cpu: &M::Cpu) {
        // BROKEN: should release.
        self.0.store(0, Relaxed);
    }
}

/// A counter under that lock.
#[derive(Debug)]
pub(crate) struct WeaklyLocked<M: Machine>(Locked<M, RelaxedLock<M>>);

impl<M: Machine> Counting<M> for WeaklyLocked<M> {
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        self.0.next_on(cpu)
    }
}

impl<M: Machine> Method<M> for WeaklyLocked<M> {
    const ABOUT: About = about("weakly-locked", Consistency::Linearizable);

    fn build(_shape: &Shape) -> Result<Self, ShapeError> {
        Ok(WeaklyLocked(Locked::on_machine()))
    }
}

/// A counter that claims to be wait-free but waits for its turn.
#[derive(Debug)]
pub(crate) struct TakesTurns<M: Machine> {
    taken: Line<M::Word>,
    served: Line<M::Word>,
}

impl<M: Machine> Counting<M> for TakesTurns<M> {
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        let ticket = self.taken.fetch_add(1, AcqRel);
        // BROKEN: waits for all earlier calls, one of which may be halted.
        self.served.wait_while(cpu, Acquire, |served| served != ticket);
        cpu.pause(1);
        self.served.store(ticket + 1, Release);
        ticket
    }
}

impl<M: Machine> Method<M> for TakesTurns<M> {
    const ABOUT: About = about("takes-turns", Consistency::Linearizable);

    fn build(_shape: &Shape) -> Result<Self, ShapeError> {
        Ok(TakesTurns {
            taken: Line::word::<M>(0, Place::named("taken")),
            served: Line::word::<M>(0, Place::named("served")),
        })
    }
}
/// Callers gather, and one fetches for all, as in `counter::gathering`. But an answer is
/// overwritten by the next one before all callers have read it.
#[derive(Debug)]
pub(crate) struct Forgetful<M: Machine> {
    root: Line<M::Word>,
    /// Number of the open batch, times 2^32, plus the numbers requested in it.
    open: Line<M::Word>,
    /// First number of the last answered batch, times 2^32, plus the number of batches answered.
    answer: Line<M::Word>,
}

const LOW: u64 = (1 << 32) - 1;

impl<M: Machine> Forgetful<M> {
    /// Waits until `batches` batches have been answered.
    fn answered(&self, cpu: &M::Cpu, batches: u64) -> u64 {
        self.answer.wait_while(cpu, Acquire, |answer| answer & LOW < batches) >> 32
    }
}

impl<M: Machine> Counting<M> for Forgetful<M> {
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        let before = self.open.fetch_add(1, AcqRel);
        let (batch, ahead) = (before >> 32, before & LOW);
        if ahead > 0 {
            return self.answered(cpu, batch + 1) + ahead;
        }
        self.answered(cpu, batch);
        let asked = self.open.swap((batch + 1) << 32, AcqRel) & LOW;
        let first = self.root.fetch_add(asked, AcqRel);
        // BROKEN: should first make sure that all callers have read the last answer.
        self.answer.store(first << 32 | (batch + 1), Release);
        first
    }
}

impl<M: Machine> Method<M> for Forgetful<M> {
    const ABOUT: About = about("forgetful", Consistency::Linearizable);

    fn build(_shape: &Shape) -> Result<Self, ShapeError> {
        let word = |name| Line::word::<M>(0, Place::named(name));
        Ok(Forgetful { root: word("root"), open: word("open"), answer: word("answer") })
    }
}
