//! Clients that draw numbers from a structure of messages.

use throng::machine::SplitMix64;
use throng_messages::{Address, Event, Message, Plan, Post, Role, Timer};

use super::carrier::Network;
use super::{Delivery, Measured, NetworkError, NetworkSpec, Placement};

/// The benchmark of DT96, section 4: every client asks for a number, idles for a random time when
/// it has it, and asks again.
///
/// ```
/// use throng_messages::Plan;
/// use throng_sim::network::{CountingRun, NetworkSpec, Placement};
///
/// let (network, plan, clients) = (NetworkSpec::crossbar(64), Plan::central(), 32);
/// let placement = Placement::random(&network, &plan, clients, 1)?;
/// let run = CountingRun { network, plan, placement, clients, work: 0, numbers: 10_000, seed: 1 };
/// let measured = run.run()?;
/// assert_eq!(measured.handed_out, 10_000);
/// // One wire leads to the node that gives out the numbers, and that takes a message a cycle.
/// assert!((900.0..=1_100.0).contains(&measured.throughput_per(1_000)));
/// # Ok::<(), throng_sim::network::NetworkError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CountingRun {
    /// The network.
    pub network: NetworkSpec,
    /// The structure.
    pub plan: Plan,
    /// The nodes of its roles and of the clients.
    pub placement: Placement,
    /// The number of clients.
    pub clients: u32,
    /// The longest idle time of a client after each number, in cycles. Each is random, from 0 up.
    pub work: u64,
    /// The count of numbers after which the run ends.
    pub numbers: u64,
    /// The seed of all random choices.
    pub seed: u64,
}

impl CountingRun {
    /// Runs the benchmark. All clients ask for the first time at time 0.
    ///
    /// # Errors
    ///
    /// If the network or the placement is not possible; if the structure gets stuck, or gives out a
    /// number twice, or a number that is too large.
    pub fn run(self) -> Result<Measured, NetworkError> {
        self.check()?;
        let mut host = Host::new(self)?;
        host.run()?;
        host.measured()
    }

    fn check(&self) -> Result<(), NetworkError> {
        NetworkError::check_run("clients", self.clients, self.work, "numbers", self.numbers)?;
        if let Some(most) = self.plan.clients() {
            NetworkError::check("clients of this plan", self.clients.into(), 1..=most.into())?;
        }
        self.placement.check(&self.network, self.plan.len(), self.clients)
    }
}

/// An event that the network delivers.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Arrives { to: Address, message: Message },
    Rings { role: u32, timer: Timer },
    Asks { client: u32 },
}

#[derive(Clone, Copy, Debug)]
struct Client {
    random: SplitMix64,
    /// The time when it asked for the number for which it waits.
    asked_at: Option<u64>,
}

struct Host {
    network: Network<Happening>,
    plan: Plan,
    placement: Placement,
    roles: Vec<Role>,
    clients: Vec<Client>,
    post: Post,
    work: u64,
    numbers: u64,
    deliveries: Vec<Delivery>,
}

impl Host {
    fn new(run: CountingRun) -> Result<Self, NetworkError> {
        /// The largest number of deliveries for which memory is reserved. More make it grow.
        const AT_ONCE: u64 = 1 << 20;
        let random =
            |client| SplitMix64::from_state(SplitMix64::mix(run.seed ^ SplitMix64::mix(client)));
        let client = |client| Client { random: random(u64::from(client)), asked_at: None };
        Ok(Host {
            network: Network::new(run.network)?,
            roles: run.plan.clone().into_roles(),
            clients: (0..run.clients).map(client).collect(),
            plan: run.plan,
            placement: run.placement,
            post: Post::new(),
            work: run.work,
            numbers: run.numbers,
            deliveries: Vec::with_capacity(run.numbers.min(AT_ONCE) as usize),
        })
    }

    fn run(&mut self) -> Result<(), NetworkError> {
        for client in 0..self.clients.len() as u32 {
            self.network.wake_at(0, Happening::Asks { client });
        }
        while (self.deliveries.len() as u64) < self.numbers {
            match self.network.advance() {
                Some(Happening::Asks { client }) => self.ask(client)?,
                Some(Happening::Rings { role, timer }) => self.handle(role, Event::Timer(timer))?,
                Some(Happening::Arrives { to: Address::Role(role), message }) => {
                    self.handle(role, Event::Message(message))?;
                }
                Some(Happening::Arrives { to: Address::Client(client), message }) => {
                    self.get(client, message)?;
                }
                None => {
                    let (done, wanted) = (self.deliveries.len() as u64, self.numbers);
                    return Err(NetworkError::Stuck { done, wanted, at: self.network.now() });
                }
            }
        }
        Ok(())
    }

    fn ask(&mut self, client: u32) -> Result<(), NetworkError> {
        let state = &mut self.clients[client as usize];
        state.asked_at = Some(self.network.now());
        let (to, message) = self.plan.ask(client, &mut state.random);
        self.send(Address::Client(client), to, message)
    }

    fn handle(&mut self, role: u32, event: Event) -> Result<(), NetworkError> {
        let now = self.network.now();
        self.roles[role as usize].on(event, now, &mut self.post);
        while let Some((time, timer)) = self.post.next_timer() {
            self.network.wake_at(time, Happening::Rings { role, timer });
        }
        while let Some((to, message)) = self.post.next_message() {
            self.send(Address::Role(role), to, message)?;
        }
        Ok(())
    }

    #[inline]
    fn send(&mut self, from: Address, to: Address, message: Message) -> Result<(), NetworkError> {
        let (Some(start), Some(end)) = (self.placement.node_of(from), self.placement.node_of(to))
        else {
            return Err(NetworkError::Unexpected { to, message });
        };
        self.network.send(start, end, Happening::Arrives { to, message });
        Ok(())
    }

    fn get(&mut self, client: u32, message: Message) -> Result<(), NetworkError> {
        let now = self.network.now();
        let state = self.clients.get_mut(client as usize);
        let waiting = state.and_then(|state| Some((state.asked_at.take()?, state)));
        let (Some((asked_at, state)), Message::Numbers { first: number, count: 1 }) =
            (waiting, message)
        else {
            return Err(NetworkError::Unexpected { to: Address::Client(client), message });
        };
        self.deliveries.push(Delivery { client, number, asked_at, got_at: now });
        let idle = state.random.below(self.work + 1);
        self.network.wake_at(now + idle, Happening::Asks { client });
        Ok(())
    }

    fn measured(self) -> Result<Measured, NetworkError> {
        let handed_out = self.deliveries.len() as u64;
        let waiting = self.clients.iter().filter(|client| client.asked_at.is_some());
        let outstanding = waiting.count() as u64;
        check_numbers(&self.deliveries, handed_out + outstanding)?;
        let latencies = self.deliveries.iter().map(|one| (one.got_at - one.asked_at) as f64);
        Ok(Measured {
            cycles: self.network.now(),
            handed_out,
            outstanding,
            mean_latency: latencies.sum::<f64>() / handed_out as f64,
            carried: self.network.carried(),
            deliveries: self.deliveries,
        })
    }
}

/// Checks that each number came once, and that none is larger than the count of numbers asked for.
/// When all clients that asked have got their numbers, these are all numbers from 0 up to that
/// count. So no client has a larger one before.
fn check_numbers(deliveries: &[Delivery], asked: u64) -> Result<(), NetworkError> {
    let mut seen = vec![false; asked as usize];
    for &Delivery { number, .. } in deliveries {
        let again = match seen.get_mut(number as usize) {
            Some(seen) => std::mem::replace(seen, true),
            None => return Err(NetworkError::Wrong { number, asked, again: false }),
        };
        if again {
            return Err(NetworkError::Wrong { number, asked, again });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(numbers: &[u64]) -> Vec<Delivery> {
        let delivery = |&number| Delivery { client: 0, number, asked_at: 0, got_at: 1 };
        numbers.iter().map(delivery).collect()
    }

    #[test]
    fn a_number_given_out_twice_is_found() {
        let wrong = NetworkError::Wrong { number: 1, asked: 4, again: true };
        assert_eq!(check_numbers(&numbers(&[0, 1, 2, 1]), 4), Err(wrong));
    }

    #[test]
    fn a_number_beyond_what_was_asked_for_is_found() {
        let wrong = NetworkError::Wrong { number: 5, asked: 5, again: false };
        assert_eq!(check_numbers(&numbers(&[0, 5, 2, 1]), 5), Err(wrong));
        assert_eq!(check_numbers(&numbers(&[0, 4, 2, 1]), 5), Ok(()));
    }
}
