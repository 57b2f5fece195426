//! Starting threads: by the standard library, or without it in the child of a fork.
//!
//! Each thread of the standard library takes a lock of the program at its start and at its end. If
//! another thread of the parent held it at the fork, threads of the child would wait for it for
//! ever. So in a child on Linux threads are started by `pthread_create`. They have a name for the
//! system, but not in messages of panics, and print no message when their stack overflows.

use std::io;
use std::thread::{self, JoinHandle};

#[cfg(all(target_os = "linux", not(miri)))]
use crate::machine::fork;

/// The settings of a new thread.
pub(super) struct Start<'a> {
    pub(super) name: &'a str,
    pub(super) stack_size: Option<usize>,
}

/// A handle of a thread. Dropping it detaches the thread.
pub(super) enum Thread {
    Usual(JoinHandle<()>),
    #[cfg(all(target_os = "linux", not(miri)))]
    InChild(in_child::Thread),
}

impl Start<'_> {
    /// Starts a thread that calls `run`, which must not panic.
    pub(super) fn start(&self, run: impl FnOnce() + Send + 'static) -> io::Result<Thread> {
        #[cfg(all(target_os = "linux", not(miri)))]
        if fork::count() > 0 {
            return in_child::start(self, Box::new(run)).map(Thread::InChild);
        }
        let mut thread = thread::Builder::new().name(self.name.to_owned());
        if let Some(bytes) = self.stack_size {
            thread = thread.stack_size(bytes);
        }
        thread.spawn(run).map(Thread::Usual)
    }
}

impl Thread {
    /// Waits until the thread has ended.
    pub(super) fn join(self) {
        match self {
            // The thread has caught every panic.
            Thread::Usual(thread) => drop(thread.join()),
            #[cfg(all(target_os = "linux", not(miri)))]
            Thread::InChild(thread) => thread.join(),
        }
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
mod in_child {
    use std::ffi::{CString, c_int, c_ulong, c_void};
    use std::{io, mem, ptr};

    use super::Start;

    /// The size of a stack in bytes: that of the standard library.
    const STACK_BYTES: usize = 2 << 20;
    /// The smallest stack in bytes. It is more than the minimum of any C library (glibc on 64-bit
    /// Arm: 128 KiB).
    const LEAST_STACK_BYTES: usize = 256 << 10;
    /// The unit of the size of a stack, in bytes: the largest page of any system here.
    const PAGE_BYTES: usize = 64 << 10;

    /// `pthread_attr_t`, which has 36 to 64 bytes.
    #[repr(C, align(16))]
    struct Attributes([u64; 16]);

    type Run = Box<dyn FnOnce() + Send>;

    // Of the C library, which the standard library is linked with.
    unsafe extern "C" {
        fn pthread_attr_init(attributes: *mut Attributes) -> c_int;
        fn pthread_attr_setstacksize(attributes: *mut Attributes, bytes: usize) -> c_int;
        fn pthread_attr_destroy(attributes: *mut Attributes) -> c_int;
        fn pthread_create(
            thread: *mut c_ulong,
            attributes: *const Attributes,
            start: extern "C" fn(*mut c_void) -> *mut c_void,
            argument: *mut c_void,
        ) -> c_int;
        fn pthread_join(thread: c_ulong, result: *mut *mut c_void) -> c_int;
        fn pthread_detach(thread: c_ulong) -> c_int;
        fn prctl(option: c_int, ...) -> c_int;
    }

    const SET_NAME: c_int = 15;

    /// The argument of a thread.
    struct Given {
        run: Run,
        name: CString,
    }

    extern "C" fn begin(given: *mut c_void) -> *mut c_void {
        // SAFETY: `start` gave it away, to this thread alone.
        let Given { run, name } = *unsafe { Box::from_raw(given.cast::<Given>()) };
        // SAFETY: the system reads up to 16 bytes of a text that ends with a zero.
        unsafe { prctl(SET_NAME, name.as_ptr()) };
        run();
        ptr::null_mut()
    }

    pub(in super::super) struct Thread(c_ulong);

    pub(super) fn start(start: &Start<'_>, run: Run) -> io::Result<Thread> {
        let result =
            |code| if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) };
        let bytes = start.stack_size.unwrap_or(STACK_BYTES).max(LEAST_STACK_BYTES);
        let bytes = bytes.checked_next_multiple_of(PAGE_BYTES).unwrap_or(bytes);
        let mut attributes = Attributes([0; 16]);
        // SAFETY: there is room for the attributes on each system.
        result(unsafe { pthread_attr_init(&raw mut attributes) })?;
        // SAFETY: they are initialized.
        let sized = result(unsafe { pthread_attr_setstacksize(&raw mut attributes, bytes) });
        let name = CString::new(start.name).unwrap_or_default();
        let given = Box::into_raw(Box::new(Given { run, name }));
        let mut thread = 0;
        // SAFETY: `begin` takes what it is given. That is sent to the new thread: all of it is
        // `Send` and `'static`.
        let mut create = || unsafe {
            pthread_create(&raw mut thread, &raw const attributes, begin, given.cast())
        };
        let started = sized.and_then(|()| result(create()));
        if started.is_err() {
            // SAFETY: no thread was started, so it still belongs to this one.
            drop(unsafe { Box::from_raw(given) });
        }
        // SAFETY: they are initialized, and no more used.
        unsafe { pthread_attr_destroy(&raw mut attributes) };
        started.map(|()| Thread(thread))
    }

    impl Thread {
        pub(super) fn join(self) {
            // SAFETY: the thread was neither joined nor detached, since both end this value.
            unsafe { pthread_join(self.0, ptr::null_mut()) };
            mem::forget(self);
        }
    }

    impl Drop for Thread {
        fn drop(&mut self) {
            // SAFETY: as in `join`.
            unsafe { pthread_detach(self.0) };
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::fs;
        use std::sync::mpsc;
        use std::time::Duration;

        #[test]
        fn threads_are_started_joined_and_detached() {
            for stack_size in [None, Some(1), Some(1_000_000)] {
                let start = Start { name: "of a child", stack_size };
                for joins in [true, false] {
                    let (sender, receiver) = mpsc::channel();
                    let run = move || {
                        let name = fs::read_to_string("/proc/thread-self/comm").unwrap_or_default();
                        sender.send(name).unwrap();
                    };
                    let thread = super::start(&start, Box::new(run)).unwrap();
                    if joins {
                        thread.join();
                        assert!(matches!(receiver.try_recv(), Ok(name) if name == "of a child\n"));
                    } else {
                        drop(thread);
                        assert!(receiver.recv_timeout(Duration::from_secs(60)).is_ok());
                    }
                }
            }
            let start = Start { name: "", stack_size: Some(usize::MAX) };
            assert!(super::start(&start, Box::new(|| {})).is_err());
        }
    }
}
