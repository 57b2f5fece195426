//! What is never used allocates nothing, and what allocates once does not allocate for each call.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

use throng::drop_in::{ConcurrentQueue, SegQueue};
use throng::machine::{Cpu, Native};
use throng::structures::counter::Hardware;
use throng::{Counter, Pool, Queue};

/// The system's allocator, which counts the allocations of each thread.
struct Counted;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is done by `System`, with the arguments as they came. The count is a thread-local
// without a destructor and made without allocating, so that it can be reached from an allocator.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; the memory came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// Returns the number of allocations of this thread during a call.
fn allocations(call: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    call();
    ALLOCATIONS.get() - before
}

#[test]
fn what_is_not_used_allocates_nothing() {
    assert_eq!(allocations(|| drop(black_box(Box::new(1)))), 1, "allocations are counted");
    assert_eq!(allocations(|| drop(Counter::new())), 0);
    assert_eq!(allocations(|| drop(Hardware::new())), 0);
    assert_eq!(allocations(|| drop(Queue::<String>::unbounded())), 0);
    assert_eq!(allocations(|| drop(Pool::<String>::new())), 0);
    assert_eq!(allocations(|| drop(SegQueue::<String>::new())), 0);
    assert_eq!(allocations(|| drop(ConcurrentQueue::<String>::unbounded())), 0);
}

#[test]
fn queues_allocate_at_the_first_push_and_pools_at_the_first_push_or_pop() {
    static QUEUE: Queue<u64> = Queue::unbounded();
    static POOL: Pool<u64> = Pool::new();
    let look = || {
        assert!(QUEUE.try_pop().is_err() && QUEUE.is_empty() && QUEUE.drain().next().is_none());
        assert!(POOL.is_empty() && !POOL.is_closed());
    };
    assert_eq!(allocations(look), 0);
    assert!(allocations(|| QUEUE.push(1).expect("it is open")) > 0);
    assert!(allocations(|| POOL.push(1).expect("it is open")) > 0);
    let popped_first = Pool::<u64>::new();
    assert!(allocations(|| assert!(popped_first.try_pop().is_err())) > 0, "a leaf");
    let use_again = || {
        for item in 0..1000 {
            QUEUE.push(item).expect("it is open");
            assert!(QUEUE.try_pop().is_ok());
            POOL.push(item).expect("it is open");
            assert!(POOL.try_pop().is_ok());
        }
    };
    assert_eq!(allocations(use_again), 0);
}

#[test]
fn a_counter_that_is_used_by_one_thread_allocates_nothing() {
    let counter = Counter::new();
    // The first reading of the clock in a process allocates.
    Native::cpu().clock();
    assert_eq!(
        allocations(|| (0..100_000).for_each(|number| assert_eq!(counter.next(), number))),
        0
    );
}
