//! A rank's engine, the threads that run it, and how callers wait.
//!
//! A waiting caller looks for messages, under the engine's lock, and does the work of its rank's
//! roles meanwhile. The service thread does so while no caller waits. Without one (MPI not
//! initialised with `Threading::Multiple`) the work is done inside calls only.

use crate::engine::{Engine, Need};
use crate::error::Error;
use crate::link::{self, MpiLink};
use crate::making::Making;
use crate::options::Options;
use crate::part::Part;
use crate::rest::{self, Rest};
use mpi::environment::Threading;
use mpi::topology::Communicator;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use throng::machine::SplitMix64;

type MpiEngine<P> = Engine<MpiLink, P>;

/// One rank's part of a structure, running.
#[derive(Debug)]
pub(crate) struct Host<P: Part> {
    shared: Arc<Shared<P>>,
    service: Option<JoinHandle<()>>,
    threading: Threading,
    over: bool,
}

#[derive(Debug)]
struct Shared<P> {
    engine: Mutex<MpiEngine<P>>,
    start: Instant,
    /// The number of callers that wait, and look for messages.
    callers: AtomicU32,
    stop: AtomicBool,
    longest_nap: Duration,
}

impl<P: Part> Host<P> {
    /// Makes the host. Collective: all ranks of `comm` make the same structure, described by
    /// `fingerprint`. `part` gets this rank, the number of ranks, and a random number that all
    /// ranks know. It must fail on all ranks or on none. Before this has checked that the thread
    /// may call MPI, nothing may.
    pub(crate) fn new<C: Communicator>(
        comm: &C,
        options: &Options,
        fingerprint: &[u64],
        part: impl FnOnce(u32, u32, u64) -> Result<P, Error>,
    ) -> Result<Self, Error> {
        let threading = link::threading();
        if !may_call(threading) {
            return Err(Error::WrongThread);
        }
        let (rank, ranks) = (comm.rank() as u32, comm.size() as u32);
        let words = fingerprint.iter().chain(&options.fingerprint()).copied().collect::<Vec<_>>();
        let (link, nonce) = make(comm, threading, options, &words)?;
        let part = part(rank, ranks, nonce)?;
        let engine = Engine::new(link, (rank, ranks), nonce, part, options.patience);
        let shared = Arc::new(Shared {
            engine: Mutex::new(engine),
            start: Instant::now(),
            callers: AtomicU32::new(0),
            stop: AtomicBool::new(false),
            longest_nap: options.longest_nap,
        });
        let mut host = Host { shared, service: None, threading, over: false };
        if threading == Threading::Multiple && ranks > 1 {
            let shared = Arc::clone(&host.shared);
            let service = thread::Builder::new().name("throng-mpi".into());
            match service.spawn(move || shared.serve()) {
                Ok(service) => host.service = Some(service),
                Err(error) => {
                    // No thread could serve this rank's roles, so the others must not wait for it.
                    host.shared.lock().desert();
                    host.over = true;
                    return Err(Error::NoThread(error.to_string()));
                }
            }
        }
        Ok(host)
    }

    /// Returns whether a thread serves this rank's roles while no caller waits.
    pub(crate) fn has_service(&self) -> bool {
        self.service.is_some()
    }

    /// Returns the nanoseconds since this rank began.
    pub(crate) fn now_ns(&self) -> u64 {
        self.shared.now_ns()
    }

    /// Returns the engine, if the calling thread may use it.
    pub(crate) fn engine(&self) -> Result<MutexGuard<'_, MpiEngine<P>>, Error> {
        if may_call(self.threading) { Ok(self.shared.lock()) } else { Err(Error::WrongThread) }
    }

    /// Handles packets that have arrived.
    pub(crate) fn progress(&self) -> Result<(), Error> {
        self.engine()?.look(self.now_ns());
        Ok(())
    }

    /// Waits until `ready` returns a value, and serves this rank meanwhile. `has_come` says without
    /// the engine whether it is worth calling.
    pub(crate) fn wait<T>(
        &self,
        need: Need,
        has_come: impl Fn() -> bool,
        mut ready: impl FnMut(&mut MpiEngine<P>, u64) -> Option<T>,
    ) -> Result<T, Error> {
        let shared = &*self.shared;
        shared.callers.fetch_add(1, Ordering::Relaxed);
        let _waits = OnDrop(|| {
            shared.callers.fetch_sub(1, Ordering::Relaxed);
        });
        let since_ns = shared.now_ns();
        let mut heard_ns = since_ns;
        loop {
            let engine = if has_come() { Some(shared.lock()) } else { shared.try_lock() };
            let now_ns = shared.now_ns();
            let mut longest = shared.longest_nap;
            if let Some(mut engine) = engine {
                let any = engine.look(now_ns);
                if let Some(found) = ready(&mut engine, now_ns) {
                    return Ok(found);
                }
                if !any && let Some(error) = engine.why_not_wait(need, since_ns, now_ns) {
                    return Err(error);
                }
                heard_ns = heard_ns.max(engine.heard_ns());
                longest = until(engine.rings_ns(), now_ns, longest);
            }
            take_a(rest::of_caller(now_ns.saturating_sub(heard_ns), longest));
        }
    }

    /// Leaves: waits until all ranks have left, and serves them until then.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.over, true) {
            return Ok(());
        }
        if link::is_finalized() {
            // Too late: MPI was finalised before.
            self.stop();
            return Ok(());
        }
        if !may_call(self.threading) {
            self.shared.lock().abandon();
            return Err(Error::WrongThread);
        }
        self.shared.lock().leave();
        let done = self.wait(Need::Leave, || false, |engine, _| engine.is_over().then_some(()));
        if let Err(error) = &done {
            let mut engine = self.shared.lock();
            match error {
                Error::NoAnswer { rank, .. } => engine.give_up(*rank),
                _ => engine.abandon(),
            }
        }
        self.stop();
        done
    }

    fn stop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(service) = self.service.take() {
            service.thread().unpark();
            // If it panicked, its waiters have got an error already.
            let _ = service.join();
        }
    }
}

impl<P: Part> Drop for Host<P> {
    fn drop(&mut self) {
        if !self.over && thread::panicking() && !link::is_finalized() {
            // The others may be waiting for this rank.
            self.over = true;
            if let Ok(mut engine) = self.engine() {
                engine.desert();
            }
            self.stop();
        }
        let _ = self.finish();
    }
}

impl<P: Part> Shared<P> {
    fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Locks the engine. A panic of another thread, in a role, leaves nothing half done that
    /// matters here.
    fn lock(&self) -> MutexGuard<'_, MpiEngine<P>> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, MpiEngine<P>>> {
        match self.engine.try_lock() {
            Ok(engine) => Some(engine),
            Err(TryLockError::Poisoned(engine)) => Some(engine.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Runs the service thread.
    fn serve(&self) {
        make_naps_exact();
        let mut heard_ns = 0;
        let mut serves = false;
        while !self.stop.load(Ordering::Relaxed) {
            let now_ns = self.now_ns();
            let mut longest = self.longest_nap;
            if let Some(mut engine) = self.try_lock() {
                engine.look(now_ns);
                heard_ns = engine.heard_ns();
                serves = engine.serves();
                longest = until(engine.rings_ns(), now_ns, longest);
            }
            let callers_look = self.callers.load(Ordering::Relaxed) > 0;
            take_a(if serves {
                rest::of_service(now_ns.saturating_sub(heard_ns), callers_look, longest)
            } else {
                Rest::Nap(longest)
            });
        }
    }
}

/// Returns the longest nap that does not miss the next timer.
fn until(rings_ns: Option<u64>, now_ns: u64, longest: Duration) -> Duration {
    let rings = rings_ns.map_or(longest, |at| Duration::from_nanos(at.saturating_sub(now_ns)));
    longest.min(rings)
}

/// Makes the calling thread's naps exact: Linux adds up to 50 microseconds, to wake several threads
/// at once.
fn make_naps_exact() {
    #[cfg(target_os = "linux")]
    {
        // If this is refused, naps are a little longer.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1_000));
    }
}

fn take_a(rest: Rest) {
    match rest {
        Rest::Look => std::hint::spin_loop(),
        Rest::Yield => thread::yield_now(),
        Rest::Nap(time) => thread::park_timeout(time),
    }
}

/// Returns whether the calling thread may call MPI at this level.
fn may_call(threading: Threading) -> bool {
    threading >= Threading::Serialized || link::is_main_thread()
}

/// Waits until all ranks have come to make the structure `words`. Returns a link between them and a
/// number that no other structure has.
///
/// A rank whose thread may not call MPI cannot come, and cannot tell the others. So if there may be
/// such threads the others wait no longer than the patience.
fn make<C: Communicator>(
    comm: &C,
    threading: Threading,
    options: &Options,
    words: &[u64],
) -> Result<(MpiLink, u64), Error> {
    let mix = |hash, &word: &u64| SplitMix64::mix(hash ^ word).wrapping_add(1);
    let hash = words.iter().fold(0, mix);
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let random = SplitMix64::mix(time as u64 ^ u64::from(std::process::id()) << 32);
    let mut making = Making::begin(comm, hash, random)?;
    let start = Instant::now();
    loop {
        if let Some(made) = making.poll()? {
            return Ok(made);
        }
        let waited = start.elapsed();
        if threading < Threading::Serialized && waited >= options.patience {
            making.hold();
            return Err(Error::WrongThread);
        }
        take_a(rest::of_caller(waited.as_nanos() as u64, options.longest_nap));
    }
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        self.0();
    }
}
