//! A thread that stops while it allocates memory does not keep the calls of other threads from returning.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use throng::machine::Growing;
use throng::{Pool, Queue, channel};

/// The system's allocator. It stops a thread at the allocation that the thread has chosen.
struct Stopping;

thread_local! {
    /// Allocations of this thread until it stops; 0 if it does not stop.
    static ALLOCATIONS_LEFT: Cell<usize> = const { Cell::new(0) };
}

static STOPPED: AtomicUsize = AtomicUsize::new(0);
static GO_ON: AtomicBool = AtomicBool::new(false);

fn stop_if_chosen() {
    let left = ALLOCATIONS_LEFT.get();
    ALLOCATIONS_LEFT.set(left.saturating_sub(1));
    if left == 1 {
        STOPPED.fetch_add(1, AcqRel);
        while !GO_ON.load(Acquire) {
            thread::sleep(Duration::from_millis(1));
        }
        STOPPED.fetch_sub(1, AcqRel);
    }
}

// SAFETY: everything is done by `System`, with the arguments as they came. The count is a thread-local without a
// destructor and made without allocating, so that it can be reached from an allocator; sleeping allocates nothing.
unsafe impl GlobalAlloc for Stopping {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        stop_if_chosen();
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        stop_if_chosen();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; the memory came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Stopping = Stopping;

/// One test at a time: `STOPPED` and `GO_ON` are shared.
static ONE_TEST: Mutex<()> = Mutex::new(());

/// Longer than any of these calls takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Calls `call` on a thread that stops at its first allocation, then on one that stops at its second, and so on until
/// one runs to its end. While it is stopped, `others` must return. Returns how many times a thread was stopped.
fn stop_at_each_allocation<S: Send + Sync + 'static>(
    what: &str,
    make: impl Fn() -> S,
    call: impl Fn(&S) + Copy + Send + 'static,
    others: impl Fn(&S) + Copy + Send + 'static,
) -> usize {
    let _one_test = ONE_TEST.lock().unwrap_or_else(PoisonError::into_inner);
    for allocation in 1.. {
        GO_ON.store(false, Release);
        let shared = Arc::new(make());
        let (theirs, (tell, end)) = (Arc::clone(&shared), mpsc::channel());
        let stopping = thread::spawn(move || {
            ALLOCATIONS_LEFT.set(allocation);
            call(&theirs);
            let has_stopped = ALLOCATIONS_LEFT.replace(0) == 0;
            drop(theirs);
            let _ = tell.send(());
            has_stopped
        });
        let is_over = || !matches!(end.try_recv(), Err(mpsc::TryRecvError::Empty));
        while STOPPED.load(Acquire) == 0 && !is_over() {
            thread::yield_now();
        }
        let (tell, end) = mpsc::channel();
        thread::spawn(move || {
            others(&shared);
            drop(shared);
            let _ = tell.send(());
        });
        let in_time = end.recv_timeout(PATIENCE);
        GO_ON.store(true, Release);
        assert!(
            in_time.is_ok(),
            "{what}: calls wait for a thread that stopped at allocation {allocation}"
        );
        if !stopping.join().unwrap() {
            return allocation - 1;
        }
    }
    unreachable!("a call has finitely many allocations")
}

const ITEMS: usize = 3000;

#[test]
fn an_array_that_grows() {
    let make = || Growing::new(1, |index| vec![index]);
    let read = |array: &Growing<Vec<usize>>| {
        for index in 0..ITEMS {
            assert_eq!(array.get(index)[0], index);
        }
    };
    let stops =
        stop_at_each_allocation("Growing", make, |array| assert_eq!(array.get(70)[0], 70), read);
    assert!(stops >= 64, "{stops}: one for each entry of the segment");
}

#[test]
fn a_queue_that_grows() {
    let push = |queue: &Queue<usize>| (0..ITEMS).for_each(|item| queue.try_push(item).unwrap());
    let push_and_pop = move |queue: &Queue<usize>| {
        push(queue);
        // Whether the stopped thread's items come is left open.
        assert!(std::iter::from_fn(|| queue.try_pop().ok()).count() >= ITEMS);
    };
    let stops = stop_at_each_allocation("Queue", Queue::unbounded, push, push_and_pop);
    assert!(stops >= 5, "{stops}: one for each ring");
}

#[test]
fn a_channel_that_grows() {
    type Both = (channel::Sender<usize>, channel::Receiver<usize>);
    let send = |(sender, _): &Both| (0..ITEMS).for_each(|item| sender.try_send(item).unwrap());
    let send_and_receive = move |both: &Both| {
        send(both);
        assert!(both.1.try_iter().count() >= ITEMS);
    };
    let stops = stop_at_each_allocation("channel", channel::unbounded, send, send_and_receive);
    assert!(stops >= 5, "{stops}: one for each ring");
}

#[test]
fn a_pool_to_which_threads_come() {
    // Threads that stay, so that the others get numbers for which leaves are found in a table that grows.
    let (tell, end) = mpsc::channel::<()>();
    let end = Arc::new(Mutex::new(end));
    let many = Arc::new(Pool::new());
    let staying: Vec<_> = (0..300)
        .map(|job| {
            let (many, end) = (Arc::clone(&many), Arc::clone(&end));
            let stay = move || {
                many.push(job).unwrap();
                let _ = end.lock().unwrap().recv();
            };
            thread::Builder::new().stack_size(1 << 16).spawn(stay).unwrap()
        })
        .collect();
    while many.len() < 300 {
        thread::yield_now();
    }
    let push = |pool: &Pool<usize>| (0..ITEMS).for_each(|job| pool.push(job).unwrap());
    let push_and_pop = move |pool: &Pool<usize>| {
        push(pool);
        for _ in 0..ITEMS {
            pool.try_pop().unwrap();
        }
    };
    let stops = stop_at_each_allocation("Pool", Pool::new, push, push_and_pop);
    assert!(stops >= 5, "{stops}: the table of leaves, a leaf, its rings");
    drop(tell);
    staying.into_iter().for_each(|thread| thread.join().unwrap());
}
