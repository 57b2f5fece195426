//! An algorithm of your own on every machine: a ticket lock, written against the machine contract,
//! checked and measured with 16 processors.
//!
//! `cargo run --release -p throng-sim --example ticket_lock`

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use throng::machine::{Cell, Cpu, Line, Machine, Place, Word};
use throng_sim::spec::presets;
use throng_sim::{End, Faults, Sim, Simulation};

/// A ticket lock: the processor whose ticket is served may use the value. It would run on real
/// threads, too: `TicketLock<Native>`.
struct TicketLock<M: Machine> {
    drawn: Line<M::Word>,
    served: Line<M::Word>,
    value: Line<M::Cell<u64>>,
}

impl<M: Machine> TicketLock<M> {
    fn new() -> Self {
        TicketLock {
            drawn: Line::word::<M>(0, Place::named("drawn")),
            served: Line::word::<M>(0, Place::named("served")),
            value: Line::new::<M>(Place::named("value"), |spot| M::Cell::new(0, spot)),
        }
    }

    fn add_one(&self, cpu: &M::Cpu) {
        let ticket = self.drawn.fetch_add(1, Relaxed);
        self.served.wait_while(cpu, Acquire, |served| served != ticket);
        cpu.note("waited for", ticket);
        // SAFETY: tickets are served one at a time.
        unsafe { self.value.with_mut(|value| *value += 1) };
        self.served.store(ticket + 1, Release);
    }
}

const PROCESSORS: usize = 16;
const PASSAGES: usize = 50;

fn main() -> Result<(), throng_sim::SimError> {
    println!("{PROCESSORS} processors, {PASSAGES} passages each through a ticket lock");
    println!("{:<12} {:>16} {:>12}   hottest line", "machine", "cycles a passage", "misses");
    for preset in presets() {
        let outcome = Simulation::new()
            .machine(preset.spec())
            .processors(PROCESSORS)
            .run(TicketLock::<Sim>::new, |lock, cpu| {
                (0..PASSAGES).for_each(|_| lock.add_one(cpu))
            })?;
        assert_eq!(outcome.end, End::Finished);
        let passages = (PROCESSORS * PASSAGES) as u64;
        let (hottest, _) = outcome.memory.hottest(1)[0];
        println!(
            "{:<12} {:>16} {:>12}   {hottest}",
            preset.name(),
            outcome.cycles / passages,
            outcome.memory.total.misses
        );
        assert_eq!(outcome.shared.value.into_inner().into_inner(), passages);
    }

    // Fair, but blocking: if one processor is stopped while it holds the lock, all wait for it.
    let crippled = Simulation::new()
        .processors(4)
        .faults(Faults::none().halt_before(2, 4))
        .run(TicketLock::<Sim>::new, |lock, cpu| (0..PASSAGES).for_each(|_| lock.add_one(cpu)))?;
    println!("\nwith processor 2 halted before its fourth access: {}", crippled.end);
    Ok(())
}
