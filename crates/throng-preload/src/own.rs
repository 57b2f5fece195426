//! The C library's own barriers, and other functions of it.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

use libc::{EINVAL, ENOSYS, pthread_barrier_t, pthread_barrierattr_t};

type Init =
    unsafe extern "C" fn(*mut pthread_barrier_t, *const pthread_barrierattr_t, u32) -> c_int;
type OnBarrier = unsafe extern "C" fn(*mut pthread_barrier_t) -> c_int;

const PTHREAD_CANCEL_DISABLE: c_int = 1;

// Not in the crate `libc` for this system.
unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

/// The function that would have been called without this library.
struct Next {
    name: &'static CStr,
    /// Null until it is looked up.
    found: AtomicPtr<c_void>,
}

static INIT: Next = Next::new(c"pthread_barrier_init");
static WAIT: Next = Next::new(c"pthread_barrier_wait");
static DESTROY: Next = Next::new(c"pthread_barrier_destroy");

impl Next {
    const fn new(name: &'static CStr) -> Self {
        Next { name, found: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns its address, or null if there is none.
    fn find(&self) -> *mut c_void {
        let mut found = self.found.load(Relaxed);
        if found.is_null() {
            // SAFETY: the name is a string of C.
            found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
            self.found.store(found, Relaxed);
        }
        found
    }

    /// Calls it. Returns `ENOSYS` if there is none.
    ///
    /// # Safety
    /// It has this signature, and the caller keeps its contract.
    unsafe fn call(&self, barrier: *mut pthread_barrier_t) -> c_int {
        let found = self.find();
        if found.is_null() {
            return ENOSYS;
        }
        // SAFETY: as the caller says.
        let function: OnBarrier = unsafe { mem::transmute(found) };
        // SAFETY: as the caller says.
        unsafe { function(barrier) }
    }
}

/// `pthread_barrier_init` of the C library.
///
/// # Safety
/// As POSIX says.
pub unsafe fn init(
    barrier: *mut pthread_barrier_t,
    attributes: *const pthread_barrierattr_t,
    count: u32,
) -> c_int {
    if count == 0 {
        return EINVAL;
    }
    let found = INIT.find();
    if found.is_null() {
        return ENOSYS;
    }
    // SAFETY: the function of this name has this signature.
    let function: Init = unsafe { mem::transmute(found) };
    // SAFETY: as the caller says.
    unsafe { function(barrier, attributes, count) }
}

/// `pthread_barrier_wait` of the C library.
///
/// # Safety
/// As POSIX says.
#[cold]
pub unsafe fn wait(barrier: *mut pthread_barrier_t) -> c_int {
    // SAFETY: as the caller says, and the function of this name has this signature.
    unsafe { WAIT.call(barrier) }
}

/// `pthread_barrier_destroy` of the C library.
///
/// # Safety
/// As POSIX says.
pub unsafe fn destroy(barrier: *mut pthread_barrier_t) -> c_int {
    // SAFETY: as the caller says, and the function of this name has this signature.
    unsafe { DESTROY.call(barrier) }
}

/// One of the C library's barriers, on the heap.
#[derive(Debug)]
pub struct Boxed(Box<UnsafeCell<pthread_barrier_t>>);

// SAFETY: it is reached through the functions of the C library alone, which any thread may call.
unsafe impl Send for Boxed {}
// SAFETY: as above.
unsafe impl Sync for Boxed {}

impl Boxed {
    /// Makes a barrier for `count` threads, at least 1.
    #[must_use]
    pub fn new(count: u32) -> Self {
        // SAFETY: a barrier is bytes.
        let boxed = Boxed(Box::new(UnsafeCell::new(unsafe { mem::zeroed() })));
        // SAFETY: the memory is there, and null attributes are the usual ones. It cannot fail: `count` was good.
        unsafe { init(boxed.get(), ptr::null(), count) };
        boxed
    }

    /// Returns its address.
    #[must_use]
    pub fn get(&self) -> *mut pthread_barrier_t {
        self.0.get()
    }
}

/// Returns whether processes share barriers with these attributes.
///
/// # Safety
/// They are null or initialised.
pub unsafe fn is_process_shared(attributes: *const pthread_barrierattr_t) -> bool {
    let mut shared = libc::PTHREAD_PROCESS_PRIVATE;
    // SAFETY: as the caller says.
    !attributes.is_null()
        && unsafe { libc::pthread_barrierattr_getpshared(attributes, &raw mut shared) } == 0
        && shared == libc::PTHREAD_PROCESS_SHARED
}

/// Registers `function` to be called in the child of each fork.
pub fn at_fork(function: extern "C" fn()) {
    // SAFETY: the function lives as long as this library, and only adds to a word.
    unsafe { libc::pthread_atfork(None, None, Some(function)) };
}

/// The state that [`restore_cancellation`] restores.
#[derive(Debug)]
pub struct Before {
    state: c_int,
    errno: c_int,
}

/// Disables cancellation of this thread, and saves `errno`.
pub fn disable_cancellation() -> Before {
    let mut state = 0;
    // SAFETY: the pointer is good.
    unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &raw mut state) };
    // SAFETY: this thread alone has the word.
    let errno = unsafe { *errno() };
    Before { state, errno }
}

/// Restores the state that [`disable_cancellation`] has saved.
pub fn restore_cancellation(before: Before) {
    // SAFETY: this thread alone has the word.
    unsafe { *errno() = before.errno };
    // SAFETY: the state was one; the one before is not asked for.
    unsafe { pthread_setcancelstate(before.state, ptr::null_mut()) };
}

fn errno() -> *mut c_int {
    // SAFETY: it can always be called.
    unsafe { libc::__errno_location() }
}
