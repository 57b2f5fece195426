//! How much memory a simulation takes, and how long, as machines grow. This is a program of its own
//! because it counts what the allocator gives. Stacks are not in it: they are mapped, 256 KiB of
//! addresses for each processor, of which only what is touched takes memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::{Duration, Instant};

use throng::machine::{Cpu, Line, PerCpu, Place, Word};
use throng::structures::counter::{Counting, Hardware};
use throng_sim::{End, MachineSpec, Sim, SimCpu, SimWord, Simulation};

/// The system's allocator, with a count of the bytes in use and of the most there were.
struct Counted;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let bytes = IN_USE.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(bytes, Relaxed);
        // SAFETY: the caller promises what `System` needs.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above; the block came from `System`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// One of each kind of structure that takes memory: a hot word, a word that all processors wait
/// for, and a line for each processor, which its neighbours read.
struct Shared {
    counter: Hardware<Sim>,
    start: Line<SimWord>,
    own: PerCpu<Line<SimWord>>,
}

fn setup() -> Shared {
    Shared {
        counter: Hardware::on_machine(),
        start: Line::word::<Sim>(0, Place::named("start")),
        own: PerCpu::new(|id| Line::word::<Sim>(0, Place::named("own").index(id).near(id))),
    }
}

fn body(shared: &Shared, cpu: &SimCpu, processors: usize) -> u64 {
    let number = shared.counter.next_on(cpu);
    if number == processors as u64 - 1 {
        shared.start.store(1, Release);
    }
    shared.start.wait_while(cpu, Acquire, |started| started == 0);
    for neighbour in 1..10 {
        shared.own.get((cpu.id() + neighbour) % processors).load(Relaxed);
    }
    shared.own.get(cpu.id()).store(1, Relaxed);
    number
}

/// Bytes at the worst moment, and time, for each processor.
fn cost(machine: &str, processors: usize) -> (usize, Duration) {
    let before = IN_USE.load(Relaxed);
    MOST.store(before, Relaxed);
    let began = Instant::now();
    let outcome = Simulation::new()
        .machine(MachineSpec::preset(machine).unwrap())
        .processors(processors)
        .run(setup, move |shared, cpu| body(shared, cpu, processors))
        .unwrap();
    let took = began.elapsed();
    assert_eq!(outcome.end, End::Finished);
    let mut numbers: Vec<_> = outcome.results.iter().flatten().copied().collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..processors as u64));
    ((MOST.load(Relaxed) - before) / processors, took / processors as u32)
}

/// The shortest of some times, so that other work of the host does not count.
fn time(machine: &str, processors: usize) -> Duration {
    (0..5).map(|_| cost(machine, processors).1).min().unwrap()
}

/// One test, so that nothing else allocates meanwhile.
#[test]
fn memory_grows_as_the_machine_and_time_hardly_faster() {
    for machine in ["alewife", "server"] {
        cost(machine, 256); // what is allocated once
        let (small, large) = (cost(machine, 256).0, cost(machine, 4096).0);
        println!("{machine}: {small} and {large} bytes for each processor");
        assert!(large <= 2 * small, "{machine}: {small} and {large} bytes for each processor");
        // Up to 1024 stacks are kept, so that this is not about mapping them. The logarithm grows
        // by two thirds, what is linear sixteen times.
        let (small, large) = (time(machine, 64), time(machine, 1024));
        println!("{machine}: {small:?} and {large:?} for each processor");
        assert!(large < 8 * small, "{machine}: {small:?} and {large:?} for each processor");
    }
}
