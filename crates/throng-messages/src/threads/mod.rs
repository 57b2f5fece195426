//! The smallest real host: threads and channels.
//!
//! [`counter`] runs the roles of a [`Plan`] on a few *service threads* and gives each client a
//! handle to ask with. [`barrier`] needs no service threads: members handle their messages while
//! they wait. No thread spins: threads sleep in their channels, service threads at most until the
//! next timer rings.
//!
//! Its unit of time is the nanosecond, but threads wake up some tens of microseconds late.
//!
//! Between threads of one machine the counters and barriers of [`throng`] are much faster. This
//! host is an example, and runs the state machines on real threads.

mod barrier;
mod service;

pub use barrier::{BarrierMember, Gone, barrier};

use crate::message::{Address, Message};
use crate::numbers::Numbers;
use crate::plan::Plan;
use service::{Letter, Service};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;
use throng::ShapeError;
use throng::machine::SplitMix64;

/// The largest number of service threads.
const MAX_SERVICES: usize = 1024;

/// The largest number of clients, if the plan has no smaller one.
const MAX_CLIENTS: u32 = 1 << 17;

/// Starts a counter on `services` threads, and returns `clients` clients, each of which may be on a
/// thread of its own. The threads end when the last client is dropped. A client that is dropped
/// earlier does not matter to the others, except in a combining tree with
/// [`Waiting::ForEver`](crate::Waiting::ForEver): there the others hang.
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
/// If there are no clients, more than the plan has room for or than 131072, or no or more than 1024
/// service threads.
///
/// # Panics
/// If the system refuses a thread.
pub fn counter(plan: Plan, clients: u32, services: usize) -> Result<Vec<Client>, ShapeError> {
    let most = plan.clients().unwrap_or(MAX_CLIENTS);
    ShapeError::check_range("clients", clients as usize, 1..=most as usize)?;
    ShapeError::check_range("service threads", services, 1..=MAX_SERVICES)?;
    // A thread without a role would have no work.
    let services = services.min(plan.len());

    let (to_clients, inboxes): (Vec<_>, Vec<_>) = (0..clients).map(|_| channel()).unzip();
    let (to_services, letters): (Vec<_>, Vec<_>) = (0..services).map(|_| channel()).unzip();
    let to_clients: Arc<[Sender<Message>]> = to_clients.into();
    let started = Instant::now();
    let mut house = House { plan, services: to_services.into(), threads: Vec::new() };
    for (number, letters) in (0..).zip(letters) {
        let (others, clients) = (Arc::clone(&house.services), Arc::clone(&to_clients));
        let service = Service::new(&house.plan, number, letters, others, clients, started);
        let builder = thread::Builder::new().name(format!("service {number}"));
        let thread = builder.spawn(move || service.run()).expect("the system refuses a thread");
        // From here on dropping the house ends the thread, even if the next one cannot be started.
        house.threads.push(thread);
    }
    let house = Arc::new(house);
    let client = |(number, inbox)| Client {
        number,
        inbox,
        house: Arc::clone(&house),
        random: SplitMix64::from_state(SplitMix64::mix(u64::from(number) + 1)),
    };
    Ok((0..).zip(inboxes).map(client).collect())
}

/// The state that clients share. It has the senders to the service threads, and ends the threads
/// when dropped.
#[derive(Debug)]
struct House {
    plan: Plan,
    services: Arc<[Sender<Letter>]>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for House {
    /// Stops the threads and joins them. No client is left, so no answer is awaited and no token is
    /// in flight.
    fn drop(&mut self) {
        service::stop(&self.services);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// A client of a counter, which asks for numbers.
#[derive(Debug)]
pub struct Client {
    number: u32,
    inbox: Receiver<Message>,
    house: Arc<House>,
    random: SplitMix64,
}

impl Client {
    /// Returns the next number. With [`Waiting::ForEver`](crate::Waiting::ForEver) it does not
    /// return before others ask.
    ///
    /// # Panics
    /// If a service thread has panicked, because a role is wrong.
    #[expect(clippy::should_implement_trait, reason = "the name that all counters have for it")]
    pub fn next(&mut self) -> u64 {
        self.ask(1);
        self.receive().0
    }

    /// Returns the next `count` numbers. They are in a row if one role gives out all numbers
    /// (central, combining tree). Those of a tree or network of balancers are in a row if no other
    /// client asks meanwhile, though in another order.
    ///
    /// ```
    /// use throng_messages::{Plan, threads};
    ///
    /// let mut clients = threads::counter(Plan::central(), 1, 1)?;
    /// assert_eq!(clients[0].next_many(100).range(), Some(0..100));
    /// assert_eq!(clients[0].next(), 100);
    /// # Ok::<(), throng::ShapeError>(())
    /// ```
    ///
    /// # Panics
    /// If a service thread has panicked, because a role is wrong.
    pub fn next_many(&mut self, count: u64) -> Numbers {
        let mut numbers = Numbers::new(self.house.plan.step());
        if count > 0 {
            self.ask(count);
        }
        while numbers.len() < count {
            let (first, count) = self.receive();
            numbers.push(first, count);
        }
        numbers
    }

    fn ask(&mut self, count: u64) {
        let (to, message) = self.house.plan.ask_many(self.number, count, &mut self.random);
        if let Address::Role(role) = to {
            let service = service::of_role(role, self.house.services.len());
            let _ = self.house.services[service].send(Letter::Message { role, message });
        }
    }

    /// Returns the first number of an answer, and their count.
    fn receive(&mut self) -> (u64, u64) {
        loop {
            match self.inbox.recv() {
                Ok(Message::Numbers { first, count }) => return (first, count),
                Ok(_) => {}
                Err(_) => panic!("a service thread has panicked"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balancer::{Toggle, Way, random_of};
    use crate::plan::WayIn;
    use crate::role::Role;

    #[test]
    #[should_panic(expected = "a service thread has panicked")]
    fn a_caller_of_a_role_that_panics_gets_an_error() {
        // Of the two, role 0 sends its tokens to a role that does not exist.
        let toggle = |to| Role::Toggle(Toggle::new([Way::to(to); 2], random_of(0, to)));
        let plan = Plan::new("broken", vec![toggle(9), toggle(0)], WayIn::Any(Way::to(0)), 2);
        let mut clients = counter(plan, 1, 2).unwrap();
        clients[0].next();
    }
}
