//! Children of a process that forks while its threads are at work.
//!
//! A program of its own, without the test harness, so that it has no threads but its main one and those of its loops.

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::c_int;
    use std::iter;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::process;
    use std::sync::Mutex;
    use std::sync::atomic::Ordering::Relaxed;
    use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize};
    use std::thread;
    use std::time::{Duration, Instant};

    use throng::Queue;
    use throng::loops::{Crew, for_each_index, map_indices};

    unsafe extern "C" {
        fn fork() -> c_int;
        fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
        fn kill(pid: c_int, signal: c_int) -> c_int;
        fn _exit(status: c_int) -> !;
    }

    const NO_HANG: c_int = 1;
    const KILL: c_int = 9;
    /// A child takes some milliseconds, and seconds on a machine that has much else to do.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// A child's exit code is the number of the step that failed.
    type Step = u8;

    /// Says that it is over when it goes, also if an assertion fails: other threads run until then.
    struct Over<'a>(&'a AtomicBool);

    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }

    /// Runs `run` in a child, and returns its exit code, or `None` if it does not end.
    fn in_child(run: impl FnOnce() -> Step) -> Option<c_int> {
        // SAFETY: it takes nothing. What the child may do is what is tested.
        let pid = unsafe { fork() };
        assert!(pid >= 0, "fork failed");
        if pid == 0 {
            let step = catch_unwind(AssertUnwindSafe(run)).unwrap_or(99);
            // SAFETY: it takes a number, and does not return.
            unsafe { _exit(step.into()) };
        }
        wait_for(pid)
    }

    /// Waits for a child, and returns its exit code, or `None` if it does not end.
    fn wait_for(pid: c_int) -> Option<c_int> {
        let start = Instant::now();
        let mut status = 0;
        // SAFETY: the pointer is that of a number which lives on.
        while unsafe { waitpid(pid, &raw mut status, NO_HANG) } == 0 {
            if start.elapsed() > PATIENCE {
                // SAFETY: the process is a child that was not waited for, so the number is its own.
                unsafe { kill(pid, KILL) };
                // SAFETY: as above.
                unsafe { waitpid(pid, &raw mut status, 0) };
                return None;
            }
            thread::sleep(Duration::from_millis(1));
        }
        // Killed by a signal: the signal's number and 1000.
        Some(if status & 0x7F == 0 { status >> 8 & 0xFF } else { 1000 + (status & 0x7F) })
    }

    /// How many threads take part in a loop whose threads wait for each other.
    fn threads_of(run: impl FnOnce(&(dyn Fn(usize) + Sync))) -> usize {
        const WANTED: usize = 3;
        let start = Instant::now();
        let here = Mutex::new(Vec::new());
        run(&|_| {
            let id = thread::current().id();
            let count = || here.lock().unwrap().len();
            if !here.lock().unwrap().contains(&id) {
                here.lock().unwrap().push(id);
            }
            while count() < WANTED && start.elapsed() < Duration::from_secs(20) {
                thread::sleep(Duration::from_micros(100));
            }
        });
        here.into_inner().unwrap().len()
    }

    fn sum(threads: usize) -> usize {
        let sum = AtomicUsize::new(0);
        for_each_index(0..1000, threads, |index| _ = sum.fetch_add(index, Relaxed));
        sum.into_inner()
    }

    /// What must work in a child: loops on several threads, a crew of the parent, and a child of the child.
    fn work(crew: Crew) -> Step {
        if sum(4) != 499_500 {
            return 1;
        }
        if threads_of(|f| for_each_index(0..1000, 4, f)) < 3 {
            return 2;
        }
        if threads_of(|f| crew.for_each_index(0..1000, f)) < 3 {
            return 3;
        }
        if map_indices(0..5, 3, |index| index * index) != [0, 1, 4, 9, 16] {
            return 4;
        }
        // It must not wait for threads of the parent.
        drop(crew);
        let grandchild = in_child(|| {
            let threads = threads_of(|f| for_each_index(0..1000, 4, f));
            if sum(3) == 499_500 && threads >= 3 { 0 } else { 1 }
        });
        if grandchild == Some(0) { 0 } else { 5 }
    }

    /// The parent's other threads are in the middle of loops, start and end whenever it forks. Each child also uses a crew
    /// that the parent goes on to use.
    fn children_of_a_busy_parent() {
        let is_over = AtomicBool::new(false);
        let crews: Vec<Crew> = (0..100).map(|_| Crew::new(4)).collect();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_over.load(Relaxed) {
                        assert_eq!(sum(4), 499_500);
                        // New threads come and go as well: their numbers are given behind a lock.
                        thread::scope(|scope| _ = scope.spawn(|| sum(1)));
                    }
                });
            }
            let _over = Over(&is_over);
            for (number, crew) in crews.into_iter().enumerate() {
                if number % 2 == 0 {
                    // It has threads when the process is forked.
                    crew.for_each_index(0..100, |_| {});
                }
                let mut crew = Some(crew);
                let outcome = in_child(|| work(crew.take().expect("it is there")));
                assert_eq!(outcome, Some(0), "child {number}");
                if let Some(crew) = crew {
                    assert_eq!(crew.map_indices(0..100, |index| index).len(), 100);
                }
            }
        });
    }

    /// The parent's other threads are in the middle of pushes and pops when it forks.
    fn children_with_queues_in_use() {
        let queues = [Queue::bounded(16), Queue::unbounded()];
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !is_over.load(Relaxed) {
                        for queue in &queues {
                            let _ = queue.try_push(0);
                            let _ = queue.try_push(0);
                            let _ = queue.try_pop();
                            let _ = queue.try_pop();
                        }
                    }
                });
            }
            let _over = Over(&is_over);
            for number in 0..50 {
                let outcome = in_child(|| {
                    let all_leave = queues.iter().all(|queue| {
                        // There may be less room than without the calls that have stopped.
                        let pushed: Vec<u32> =
                            (1..=1000).filter(|&item| queue.try_push(item).is_ok()).collect();
                        let left = iter::from_fn(|| queue.try_pop().ok());
                        left.filter(|&item| item != 0).eq(pushed)
                    });
                    if all_leave { 0 } else { 1 }
                });
                assert_eq!(outcome, Some(0), "child {number}");
            }
        });
    }

    /// A child that returns from the loop in which it was forked lacks what the loop's other thread had begun. It must
    /// not wait for that, nor go on as if that were done.
    fn a_child_of_a_loop() {
        let (caller, parent) = (thread::current().id(), process::id());
        let come = AtomicUsize::new(0);
        let pid = AtomicI32::new(0);
        let start = Instant::now();
        let wait_until = |is_so: &dyn Fn() -> bool| {
            while !is_so() && start.elapsed() < PATIENCE {
                thread::sleep(Duration::from_millis(1));
            }
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            for_each_index(0..2, 2, |_| {
                come.fetch_add(1, Relaxed);
                wait_until(&|| come.load(Relaxed) == 2);
                if thread::current().id() == caller {
                    // SAFETY: it takes nothing. What the child may do is what is tested.
                    pid.store(unsafe { fork() }, Relaxed);
                } else {
                    wait_until(&|| pid.load(Relaxed) != 0);
                }
            });
        }));
        if process::id() != parent {
            // SAFETY: it takes a number, and does not return.
            unsafe { _exit(if outcome.is_err() { 7 } else { 8 }) };
        }
        assert!(outcome.is_ok() && pid.load(Relaxed) > 0);
        assert_eq!(wait_for(pid.into_inner()), Some(7));
    }

    pub(super) fn main() {
        // The simple case first: a quiet parent, whose workers are idle.
        assert!(threads_of(|f| for_each_index(0..1000, 4, f)) >= 3, "no threads can be had");
        assert_eq!(in_child(|| work(Crew::new(4))), Some(0));
        a_child_of_a_loop();
        children_of_a_busy_parent();
        children_with_queues_in_use();
        println!("test result: ok. 4 passed; 0 failed");
    }
}
