//! The aggregating funnel: callers gather at an aggregator, and one of them fetches numbers for all
//! (Roh, Wei, Ruppert, Fatourou, Jayanti, Shun: Aggregating Funnels for Faster Fetch&Add and
//! Queues, PPoPP 2025; written from its description).
//!
//! ```text
//!   callers 0, 2, 4 ─> aggregator 0 ─┐        aggregator:  ticket = fetch_add(1)
//!                                    ├─> main              the caller whose ticket is the end of
//!   callers 1, 3, 5 ─> aggregator 1 ─┘                     the last batch leads the next one
//! ```
//!
//! A call takes a ticket at its aggregator and waits until the batches published there reach the
//! ticket. If they end exactly at it, the caller leads the next batch: it reads the number of
//! tickets taken so far, adds the size of the batch to `main` in one step, and publishes the batch.
//! If they end behind it, the ticket is in a published batch, and the caller computes its number
//! from it. So `main` gets one `fetch_add` for each batch instead of one for each call.
//!
//! *Linearizable*: the numbers of a batch are fixed by one `fetch_add`, while every caller of the
//! batch is inside its call. *Blocking*: a caller that stops while it leads, or is about to, stops
//! its aggregator. *Memory*: about 20 kB for each aggregator, and a line for each thread and bank.
//! *When to use it*: where numbers must be linearizable and more cores compete than one word can
//! serve. On 16 cores it is the fastest after [`Hardware`](super::Hardware), at half its speed.
//!
//! Differs from the paper: numbers go up by one only; past batches are kept in banks instead of a
//! linked list that a collector frees; no caller goes to `main` directly.
//!
//! # How a slow caller finds its batch
//!
//! The latest batch is on the line at which all callers wait. A caller that was too slow to see it
//! there finds it in a *bank*: batches are written into a bank one after another, and when it is
//! full, into another one. A bank is used again only when every ticket in it has been answered.
//! That needs no shared counter: each processor counts, on a line of its own, the tickets that were
//! answered to it from the bank. The leader that needs a bank adds up these counts and compares the
//! sum with the number of tickets that ever went into it.
//!
//! So a caller whose batch is published may stop for any time and still finds it, and it holds up
//! no other. At most two more banks are in use than callers are in progress.
//!
//! Why the bank is found: banks take turns, so the tickets of a bank that is in use are a range.
//! The range that holds ticket t is the one with the largest first ticket not above t. The same
//! holds for batches within the bank. Banks and batches that are being overwritten meanwhile do not
//! confuse a caller: they change from an old range, below its own, to a new one, above.
//!
//! # Words of an aggregator
//!
//! | word | value |
//! |---|---|
//! | `taken` | tickets taken |
//! | `published` | end of the last published batch, times 2, plus which of `latest` holds it |
//! | `kept` | the bank of a batch, times 2^32, plus the number of batches in the bank, this one included |
//!
//! ## Memory ordering
//! - `published` is stored with release after the batch was written and awaited with acquire.
//!   Leaders follow each other through it. So the next leader sees what one leader writes (banks,
//!   `latest`), and leaders read it relaxed.
//! - A waiter reads `published`, then a record of `latest`, then `published` again. The record is
//!   overwritten only after `published` has changed, with release, and is read with acquire: so if
//!   `published` is the same both times, the record belonged to it.
//! - A processor's count of answers is stored with release after it has read its batch, and added up
//!   with acquire: a leader that finds all tickets of a bank answered overwrites it after the reads.
//! - Only the k-th thread of an aggregator writes the k-th count: ids of threads that run at the
//!   same time differ, and an id passes to another thread under a lock.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::{About, Consistency, Counting, Method, Progress, Shape, ShapeError};
use crate::machine::{Cpu, Growing, Line, Machine, Native, PerCpu, Place, Word};
use crate::setters::setters;

/// The first ticket of a bank or batch that was never used.
const NEVER: u64 = u64::MAX;

/// The number of batches of a bank on one line.
const ON_A_LINE: usize = 8;

/// The number of banks that an aggregator starts with.
const FIRST_BANKS: usize = 4;

/// The shape of a funnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunnelShape {
    /// The number of aggregators at which callers gather.
    pub aggregators: usize,
    /// The number of batches in a bank.
    pub bank: usize,
}

impl FunnelShape {
    /// Returns a shape of `aggregators` aggregators, and banks of 128 batches.
    #[must_use]
    pub const fn of_aggregators(aggregators: usize) -> Self {
        FunnelShape { aggregators, bank: 128 }
    }

    setters!(const fn bank: usize);

    /// Returns half the processors, at most 6. The paper found that best for 176 threads, and it
    /// was also measured to be best for 16.
    fn aggregators_for(processors: usize) -> usize {
        (processors / 2).clamp(1, 6)
    }
}

/// A linearizable counter in which one caller fetches numbers for many.
///
/// ```
/// use throng::structures::counter::{Funnel, FunnelShape};
/// let counter = Funnel::new(FunnelShape::of_aggregators(2))?;
/// assert_eq!([counter.next(), counter.next(), counter.next()], [0, 1, 2]);
/// # Ok::<(), throng::structures::counter::ShapeError>(())
/// ```
#[derive(Debug)]
pub struct Funnel<M: Machine = Native> {
    main: Line<M::Word>,
    aggregators: Box<[Aggregator<M>]>,
}

impl<M: Machine> Funnel<M> {
    /// Returns a funnel on machine `M`.
    ///
    /// # Errors
    /// If there are no aggregators or more than 1024, or a bank has room for no batch or for more
    /// than 4096.
    pub fn on_machine(shape: FunnelShape) -> Result<Self, ShapeError> {
        ShapeError::check_range("aggregators", shape.aggregators, 1..=1024)?;
        ShapeError::check_range("batches in a bank", shape.bank, 1..=4096)?;
        Ok(Funnel {
            main: Line::word::<M>(0, Place::named("main")),
            aggregators: (0..shape.aggregators).map(|i| Aggregator::new(i, shape.bank)).collect(),
        })
    }
}

impl Funnel {
    /// Returns a funnel for real threads.
    ///
    /// # Errors
    /// If there are no aggregators or more than 1024, or a bank has room for no batch or for more
    /// than 4096.
    pub fn new(shape: FunnelShape) -> Result<Self, ShapeError> {
        Self::on_machine(shape)
    }

    /// Returns the next number.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next_on(&Native::cpu())
    }
}

impl<M: Machine> Counting<M> for Funnel<M> {
    #[inline]
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        let (id, count) = (cpu.id(), self.aggregators.len());
        self.aggregators[id % count].next(cpu, id / count, &self.main)
    }
}

/// The place where some of the callers gather.
#[derive(Debug)]
struct Aggregator<M: Machine> {
    taken: Line<M::Word>,
    board: Line<Board<M>>,
    banks: Growing<Bank<M>>,
    bank_size: u64,
}

/// The words at which all callers of an aggregator wait, on one line.
#[derive(Debug)]
struct Board<M: Machine> {
    published: M::Word,
    /// The last two batches.
    latest: [Record<M>; 2],
}

/// A batch, and the bank in which it is kept.
#[derive(Debug)]
struct Record<M: Machine> {
    batch: Batch<M>,
    /// [`Kept`], packed.
    kept: M::Word,
}

/// A batch: tickets `first`.. were given the numbers `value`..
#[derive(Debug)]
struct Batch<M: Machine> {
    first: M::Word,
    value: M::Word,
}

/// The bank in which a batch is kept, and the number of batches in that bank, this one included.
#[derive(Clone, Copy, Debug)]
struct Kept {
    bank: usize,
    used: u64,
}

impl Kept {
    fn packed(self) -> u64 {
        (self.bank as u64) << 32 | self.used
    }

    #[inline]
    fn unpack(packed: u64) -> Self {
        Kept { bank: (packed >> 32) as usize, used: packed & u64::from(u32::MAX) }
    }
}

/// A number of consecutive past batches.
#[derive(Debug)]
struct Bank<M: Machine> {
    /// The first ticket of the bank in its present use.
    first: Line<M::Word>,
    /// The batches in the order of their tickets. Those behind the last one written are of earlier
    /// uses.
    batches: Box<[Line<[Batch<M>; ON_A_LINE]>]>,
    /// The number of tickets that ever went into this bank, as of the last time it was full. For
    /// leaders only.
    given: Line<M::Word>,
    /// For each caller, the number of its tickets that were ever answered from this bank.
    answered: PerCpu<Line<M::Word>>,
}

/// A batch as a caller has read it.
#[derive(Clone, Copy, Debug)]
struct Found {
    first: u64,
    value: u64,
    bank: usize,
}

impl<M: Machine> Aggregator<M> {
    fn new(index: usize, bank_size: usize) -> Self {
        let named = |name| Place::named(name).index(index);
        Aggregator {
            taken: Line::word::<M>(0, named("taken")),
            board: Line::new::<M>(named("board"), |spot| Board {
                published: M::Word::new(0, spot),
                latest: [Record::new(spot), Record::new(spot)],
            }),
            banks: Growing::new(FIRST_BANKS, move |_| Bank::new(bank_size)),
            bank_size: bank_size as u64,
        }
    }

    /// Returns the next number for the `caller`-th caller of this aggregator.
    fn next(&self, cpu: &M::Cpu, caller: usize, main: &M::Word) -> u64 {
        let ticket = self.taken.fetch_add(1, AcqRel);
        let published = self.board.published.wait_while(cpu, Acquire, |p| p >> 1 < ticket);
        let batch = if published >> 1 == ticket {
            self.lead(ticket, published, main)
        } else {
            self.latest(ticket, published).unwrap_or_else(|| self.look_up(ticket))
        };
        self.banks.get(batch.bank).answer(caller);
        batch.value + (ticket - batch.first)
    }

    /// Fetches numbers for all tickets from `first` on, and publishes them.
    fn lead(&self, first: u64, published: u64, main: &M::Word) -> Found {
        // Before the tickets are counted, so that callers that come meanwhile are in this batch.
        let Kept { bank, used } = self.room_for(first, published);
        let end = self.taken.load(Acquire);
        let value = main.fetch_add(end - first, AcqRel);
        let slot = used as usize;
        self.banks.get(bank).batches[slot / ON_A_LINE][slot % ON_A_LINE].write(first, value);

        let which = 1 - (published & 1);
        let record = &self.board.latest[which as usize];
        record.batch.write(first, value);
        record.kept.store(Kept { bank, used: used + 1 }.packed(), Release);
        self.board.published.store(end << 1 | which, Release);
        Found { first, value, bank }
    }

    /// Returns the bank for a batch that begins at `first`, behind the last published one, and the
    /// number of batches that the bank already has.
    fn room_for(&self, first: u64, published: u64) -> Kept {
        let last = &self.board.latest[(published & 1) as usize];
        let Kept { mut bank, mut used } = Kept::unpack(last.kept.load(Relaxed));
        if used == self.bank_size {
            self.banks.get(bank).close(first);
            (bank, used) = (self.free_bank(bank), 0);
        }
        if used == 0 {
            self.banks.get(bank).first.store(first, Release);
        }
        Kept { bank, used }
    }

    /// Returns a bank other than `full` in which every ticket has been answered, or the number of a
    /// new bank if there is none.
    fn free_bank(&self, full: usize) -> usize {
        let made = self.banks.iter().count();
        // The bank that was full longest ago is most likely free.
        let mut others = (full + 1..made).chain(0..full);
        others.find(|&bank| self.banks.get(bank).is_answered()).unwrap_or(made)
    }

    /// Returns the latest batch if `ticket` is in it.
    fn latest(&self, ticket: u64, published: u64) -> Option<Found> {
        let record = &self.board.latest[(published & 1) as usize];
        let found = Found {
            first: record.batch.first.load(Acquire),
            value: record.batch.value.load(Acquire),
            bank: Kept::unpack(record.kept.load(Acquire)).bank,
        };
        let unchanged = self.board.published.load(Relaxed) == published;
        (unchanged && found.first <= ticket).then_some(found)
    }

    /// Returns the batch of `ticket`, which is published, from its bank.
    #[cold]
    fn look_up(&self, ticket: u64) -> Found {
        let (_, bank, kept) = self
            .banks
            .iter()
            .enumerate()
            .map(|(index, bank)| (bank.first.load(Acquire), index, bank))
            .filter(|&(first, ..)| first <= ticket)
            .max_by_key(|&(first, ..)| first)
            .expect("the bank of a published ticket is kept until the ticket is answered");
        let (first, batch) = kept
            .batches
            .iter()
            .flat_map(|line| line.iter())
            .map(|batch| (batch.first.load(Acquire), batch))
            .filter(|&(first, _)| first <= ticket)
            .max_by_key(|&(first, _)| first)
            .expect("a bank holds the batches of its tickets");
        Found { first, value: batch.value.load(Acquire), bank }
    }
}

impl<M: Machine> Record<M> {
    fn new(spot: &M::Spot) -> Self {
        let nothing = Kept { bank: 0, used: 0 };
        Record { batch: Batch::new(spot), kept: M::Word::new(nothing.packed(), spot) }
    }
}

impl<M: Machine> Batch<M> {
    fn new(spot: &M::Spot) -> Self {
        Batch { first: M::Word::new(NEVER, spot), value: M::Word::new(0, spot) }
    }

    fn write(&self, first: u64, value: u64) {
        self.first.store(first, Release);
        self.value.store(value, Release);
    }
}

impl<M: Machine> Bank<M> {
    fn new(size: usize) -> Self {
        let batches = |_| {
            let place = Place::named("past batches");
            Line::new::<M>(place, |spot| std::array::from_fn(|_| Batch::new(spot)))
        };
        let answered = |id: usize| Line::word::<M>(0, Place::named("answered").index(id).near(id));
        Bank {
            first: Line::word::<M>(NEVER, Place::named("bank")),
            batches: (0..size.div_ceil(ON_A_LINE)).map(batches).collect(),
            given: Line::word::<M>(0, Place::named("given")),
            answered: PerCpu::new(answered),
        }
    }

    /// Counts that `caller` has read one of its batches.
    #[inline]
    fn answer(&self, caller: usize) {
        let answered = self.answered.get(caller);
        answered.store(answered.load(Relaxed) + 1, Release);
    }

    /// Records the number of tickets of the bank, which is now full: those before `end`.
    fn close(&self, end: u64) {
        let tickets = end - self.first.load(Relaxed);
        self.given.store(self.given.load(Relaxed) + tickets, Relaxed);
    }

    /// Returns whether no caller will look for a batch here any more. Must not be asked of the bank
    /// being filled.
    fn is_answered(&self) -> bool {
        let answered: u64 = self.answered.iter().map(|n| n.load(Acquire)).sum();
        answered == self.given.load(Relaxed)
    }
}

impl<M: Machine> Method<M> for Funnel<M> {
    const ABOUT: About = About {
        name: "funnel",
        summary: "callers gather at aggregators; one fetches numbers for all",
        paper: "Roh et al., PPoPP 2025",
        consistency: Consistency::Linearizable,
        progress: Progress::Blocking,
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let aggregators =
            shape.width.unwrap_or_else(|| FunnelShape::aggregators_for(shape.processors));
        Self::on_machine(FunnelShape { aggregators, bank: shape.bank })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    /// A caller that took a ticket and then stopped, while thousands of batches went by.
    #[test]
    fn a_slow_caller_finds_its_batch_and_memory_stays_bounded() {
        let funnel = Arc::new(Funnel::new(FunnelShape { aggregators: 1, bank: 4 }).unwrap());
        let aggregator = &funnel.aggregators[0];
        // Ticket 0 leads. Ticket 1 is in its batch but is not answered.
        assert_eq!(aggregator.taken.fetch_add(2, AcqRel), 0);
        let batch = aggregator.lead(0, 0, &funnel.main);
        aggregator.banks.get(batch.bank).answer(1000);

        let others = Arc::clone(&funnel);
        let last = thread::spawn(move || (0..10_000).map(|_| others.next()).max()).join().unwrap();
        assert_eq!(last, Some(10_001));

        let published = aggregator.board.published.load(Acquire);
        assert!(aggregator.latest(1, published).is_none(), "long gone from the board");
        let found = aggregator.look_up(1);
        assert_eq!(found.value + (1 - found.first), 1);
        assert_eq!(aggregator.banks.iter().count(), FIRST_BANKS, "no new bank was needed");
    }

    #[test]
    fn stopped_callers_hold_a_bank_each_and_no_more() {
        let funnel = Funnel::new(FunnelShape { aggregators: 1, bank: 1 }).unwrap();
        let aggregator = &funnel.aggregators[0];
        let mut sleeping = Vec::new();
        for round in 0..100 {
            // This call leads a batch of two; the second ticket is not answered.
            let ticket = aggregator.taken.fetch_add(2, AcqRel);
            let published = aggregator.board.published.load(Acquire);
            let batch = aggregator.lead(ticket, published, &funnel.main);
            aggregator.banks.get(batch.bank).answer(0);
            if round < 10 {
                sleeping.push(ticket + 1);
            } else {
                aggregator.banks.get(batch.bank).answer(1);
            }
        }
        let banks = aggregator.banks.iter().count();
        assert!(banks <= (sleeping.len() + 2).next_power_of_two(), "{banks} banks");
        for ticket in sleeping {
            let found = aggregator.look_up(ticket);
            assert_eq!(found.value + (ticket - found.first), ticket);
        }
    }

    #[test]
    fn shapes() {
        assert_eq!(FunnelShape::aggregators_for(1), 1);
        assert_eq!(FunnelShape::aggregators_for(176), 6);
        let error = Funnel::new(FunnelShape::of_aggregators(0)).unwrap_err();
        assert_eq!(error.to_string(), "aggregators 0: must be from 1 to 1024");
    }
}
