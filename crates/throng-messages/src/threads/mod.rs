//! The smallest real host: threads and channels.
//!
//! [`counter`] puts the roles of a [`Plan`] on a few *service threads* and gives each client a handle to ask
//! with. [`barrier`] needs no service threads: members handle their messages while they wait. Nobody
//! spins: threads sleep in their channels, service threads at most until the next timer rings.
//!
//! Its unit of time is the nanosecond, though threads wake up some tens of microseconds late.
//!
//! Between threads of one machine the counters and barriers of [`throng`] are much faster. This is here to
//! show how a host is written, and to run the state machines on real threads.

mod barrier;
mod service;

pub use barrier::{BarrierMember, Gone, barrier};

use crate::message::{Address, Message};
use crate::plan::Plan;
use service::{Letter, Service};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;
use throng::ShapeError;
use throng::machine::SplitMix64;

/// The most service threads.
const MAX_SERVICES: usize = 1024;

/// Starts a counter on `services` threads, for `clients` who may each be on a thread of its own. The
/// threads end when the last client is dropped.
///
/// ```
/// use throng_messages::{Delay, DiffractingShape, Plan, threads};
///
/// let plan = Plan::diffracting_tree(&DiffractingShape::new(4, Delay::adaptive(10_000, 1_000_000)))?;
/// let mut clients = threads::counter(plan, 2, 3)?;
/// assert_eq!([clients[0].next(), clients[1].next(), clients[0].next()], [0, 1, 2]);
/// # Ok::<(), throng::ShapeError>(())
/// ```
///
/// # Errors
/// When there are no clients, more than the plan has room for, or no or more than 1024 service threads.
///
/// # Panics
/// When the system refuses a thread.
pub fn counter(plan: Plan, clients: u32, services: usize) -> Result<Vec<Client>, ShapeError> {
    let most = plan.clients().unwrap_or(u32::MAX);
    ShapeError::check_range("clients", clients as usize, 1..=most as usize)?;
    ShapeError::check_range("service threads", services, 1..=MAX_SERVICES)?;
    // A thread without a role would have nothing to do.
    let services = services.min(plan.len());

    let (to_clients, inboxes): (Vec<_>, Vec<_>) = (0..clients).map(|_| channel()).unzip();
    let (to_services, letters): (Vec<_>, Vec<_>) = (0..services).map(|_| channel()).unzip();
    let started = Instant::now();
    let threads = (0..).zip(letters).map(|(number, letters)| {
        let (others, clients) = (to_services.clone(), to_clients.clone());
        let service = Service::new(&plan, number, letters, others, clients, started);
        let builder = thread::Builder::new().name(format!("service {number}"));
        builder.spawn(move || service.run()).expect("the system refuses a thread")
    });
    let threads = threads.collect();
    let house = Arc::new(House { plan, services: to_services, threads });
    let client = |(number, inbox)| Client {
        number,
        inbox,
        house: Arc::clone(&house),
        random: SplitMix64::from_state(SplitMix64::mix(u64::from(number) + 1)),
    };
    Ok((0..).zip(inboxes).map(client).collect())
}

/// What clients share: the way to the service threads, and the duty to end them.
#[derive(Debug)]
struct House {
    plan: Plan,
    services: Vec<Sender<Letter>>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for House {
    /// No client is left, so nobody waits for an answer, and no token is on its way.
    fn drop(&mut self) {
        for service in &self.services {
            let _ = service.send(Letter::Stop);
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Asks for numbers.
#[derive(Debug)]
pub struct Client {
    number: u32,
    inbox: Receiver<Message>,
    house: Arc<House>,
    random: SplitMix64,
}

impl Client {
    /// The next number. With [`Waiting::ForEver`](crate::Waiting::ForEver) it does not return before
    /// others ask.
    #[expect(clippy::should_implement_trait, reason = "the name that all counters have for it")]
    pub fn next(&mut self) -> u64 {
        let (to, message) = self.house.plan.ask(self.number, &mut self.random);
        if let Address::Role(role) = to {
            let service = service::of_role(role, self.house.services.len());
            let _ = self.house.services[service].send(Letter::Message { role, message });
        }
        loop {
            match self.inbox.recv() {
                Ok(Message::Numbers { first, .. }) => return first,
                Ok(_) => {}
                Err(_) => unreachable!("the threads that answer outlive their clients"),
            }
        }
    }
}
