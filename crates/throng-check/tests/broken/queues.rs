//! Queues with deliberate errors.
//!
//! Two correct ones have faults: [`Ring`] has tickets and turns, and its faults are races;
//! [`Locked`] is a deque under a lock, and its faults are plain mistakes. Neither survives a
//! processor that is halted. [`Snapshots`] and [`Tickets`] do, and have no faults. All are built on
//! words, which worlds can observe.

pub(crate) mod locked;
pub(crate) mod pops_then_pushes;
pub(crate) mod ring;
pub(crate) mod snapshots;
pub(crate) mod tickets;

use throng::machine::{Cpu, Machine};
use throng_check::spec::queue::{Fullness, Order};
use throng_check::workload::{AnyStore, Can, Kind, Parcel};

pub(crate) use locked::Locked;
pub(crate) use pops_then_pushes::pops_then_pushes;
pub(crate) use ring::Ring;
pub(crate) use snapshots::Snapshots;
pub(crate) use tickets::Tickets;

/// Without a fault: the checks must not complain.
pub(crate) const SOUND: u8 = 0;

const CAN: Can = Can { survive_halts: false, ..Can::ALL };

fn kind<M: Machine>(name: &'static str, build: fn(Option<usize>, usize) -> AnyStore<M>) -> Kind<M> {
    Kind::new(name, Order::Fifo, CAN, build)
}

fn of_locked<M: Machine, const FAULT: u8>(name: &'static str) -> Kind<M> {
    kind(name, |capacity, _| Box::new(Locked::<M, FAULT>::new(capacity)))
}

fn of_ring<M: Machine, const FAULT: u8>(name: &'static str) -> Kind<M> {
    kind(name, |capacity, _| Box::new(Ring::<M, FAULT>::new(capacity)))
}

/// Declares the same queue as unordered.
fn unordered<M: Machine>(name: &'static str, kind: Kind<M>) -> Kind<M> {
    Kind { name, order: Order::Unordered, ..kind }
}

/// Returns whether calls take a lock.
pub(crate) fn is_locked<M: Machine>(kind: &Kind<M>) -> bool {
    ["locked", "stack"].contains(&kind.name)
}

/// Returns the correct queues. `PATIENCE` of [`Tickets`] depends on the world: where every look is
/// a branch, they look once.
pub(crate) fn sound<M: Machine, const PATIENCE: u32>() -> Vec<Kind<M>> {
    let snapshots: fn(_, _) -> AnyStore<M> = |capacity, _| Box::new(Snapshots::<M>::new(capacity));
    vec![
        of_locked::<M, SOUND>("locked"),
        unordered("stack", of_locked::<M, { locked::LAST_FIRST }>("")),
        of_ring::<M, SOUND>("ring"),
        Kind::new("snapshots", Order::Fifo, Can::ALL, snapshots),
        Kind { fullness: Fullness::ItemsAndCalls, ..tickets::<M, PATIENCE>() },
    ]
}

/// Returns a queue whose pops return room late: too late for [`Fullness::ItemsAndPushes`].
pub(crate) fn tickets<M: Machine, const PATIENCE: u32>() -> Kind<M> {
    Kind::new("tickets", Order::Fifo, Can::ALL, |capacity, _| {
        Box::new(Tickets::<M, PATIENCE>::new(capacity))
    })
}

/// Returns the queues with a plain mistake, which some programs show in every schedule.
pub(crate) fn mistaken<M: Machine>() -> Vec<Kind<M>> {
    vec![
        of_locked::<M, { locked::LAST_FIRST }>("last-first"),
        of_locked::<M, { locked::SWAPS_NEIGHBOURS }>("swaps-neighbours"),
        of_locked::<M, { locked::HANDS_OUT_TWICE }>("hands-out-twice"),
        unordered("pool-hands-out-twice", of_locked::<M, { locked::HANDS_OUT_TWICE }>("")),
        unordered("pool-forgets-at-close", of_locked::<M, { locked::FORGETS_AT_CLOSE }>("")),
        of_locked::<M, { locked::FULL_TOO_EARLY }>("full-too-early"),
        of_locked::<M, { locked::FULL_TOO_LATE }>("full-too-late"),
        of_locked::<M, { locked::TAKES_AFTER_CLOSE }>("takes-after-close"),
        of_locked::<M, { locked::FORGETS_AT_CLOSE }>("forgets-at-close"),
        of_locked::<M, { locked::GIVES_ANOTHER_BACK }>("gives-another-back"),
        of_locked::<M, { locked::DROPS_TWICE }>("drops-twice"),
        of_locked::<M, { locked::LEAKS }>("leaks"),
    ]
}

/// Those with a mistake once in thousands of calls: a long record shows it.
pub(crate) fn rarely_mistaken<M: Machine>() -> Vec<Kind<M>> {
    vec![
        of_locked::<M, { locked::SWAPS_RARELY }>("swaps-rarely"),
        of_locked::<M, { locked::SAYS_EMPTY_RARELY }>("says-empty-rarely"),
        unordered("pool-says-empty-rarely", of_locked::<M, { locked::SAYS_EMPTY_RARELY }>("")),
    ]
}

/// Those with a race: some schedules show it.
pub(crate) fn racy<M: Machine>() -> Vec<Kind<M>> {
    vec![
        of_ring::<M, { ring::SAYS_EMPTY }>("says-empty"),
        unordered("pool-says-empty", of_ring::<M, { ring::SAYS_EMPTY }>("")),
        of_ring::<M, { ring::SAYS_FULL }>("says-full"),
        of_ring::<M, { ring::LOOKS_THEN_TAKES }>("looks-then-takes"),
    ]
}

/// Returns the queues in which two processors may use a slot at the same time. Not for real
/// threads. A turn may also be lost, and then a processor waits for ever.
pub(crate) fn overlapping<M: Machine>() -> Vec<Kind<M>> {
    vec![
        of_ring::<M, { ring::TICKET_TWICE }>("ticket-twice"),
        of_ring::<M, { ring::OVERWRITES }>("overwrites"),
        of_ring::<M, { ring::TAKES_EARLY }>("takes-early"),
    ]
}

/// Returns the queue that does not pass on what was written into a slot.
pub(crate) fn relaxed<M: Machine>() -> Kind<M> {
    of_ring::<M, { ring::RELAXED }>("relaxed")
}

/// Returns the queue that does not wake waiting consumers when it is closed.
pub(crate) fn deaf<M: Machine>() -> Kind<M> {
    of_ring::<M, { ring::DEAF }>("deaf")
}

/// Calls `attempt` until it gives an answer or the way out is open.
fn patiently<M: Machine, R>(
    cpu: &M::Cpu,
    way_out: &throng::machine::WayOut<'_, M>,
    mut attempt: impl FnMut() -> Option<R>,
) -> Option<R> {
    for round in 0.. {
        let answer = attempt();
        if answer.is_some() || way_out.is_open(cpu) {
            return answer;
        }
        cpu.retry(round);
    }
    unreachable!("no call tries this often")
}

/// The waiting forms, by retrying.
macro_rules! waiting_forms {
    () => {
        fn push_on(
            &self,
            cpu: &M::Cpu,
            item: Parcel,
            way_out: &WayOut<'_, M>,
        ) -> Result<(), PushError<Parcel>> {
            let mut item = Some(item);
            let pushed =
                super::patiently(cpu, way_out, || match self.try_push_on(cpu, item.take()?) {
                    Err(PushError::Full(back)) => {
                        item = Some(back);
                        None
                    }
                    answer => Some(answer),
                });
            pushed.unwrap_or_else(|| Err(PushError::Full(item.expect("it came back"))))
        }

        fn pop_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<Parcel, PopError> {
            let popped = super::patiently(cpu, way_out, || match self.try_pop_on(cpu) {
                Err(PopError::Empty) => None,
                // BROKEN: no other item will come.
                Err(PopError::Closed) if FAULT == DEAF => None,
                answer => Some(answer),
            });
            popped.unwrap_or(Err(PopError::Empty))
        }
    };
}

use waiting_forms;
