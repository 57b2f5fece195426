//! The worst host that is allowed: messages of different pairs overtake each other at random,
//! timers ring late, twice, and after they have become obsolete.

use std::collections::BTreeMap;
use throng::machine::SplitMix64;
use throng_check::history::Call;
use throng_check::spec;
use throng_messages::{Address, Event, Message, Plan, Post, Role, Time, Timer};

/// Handles events like a [`Role`], or like a broken one.
pub(crate) trait Part {
    fn on(&mut self, event: Event, now: Time, post: &mut Post);
}

impl Part for Role {
    fn on(&mut self, event: Event, now: Time, post: &mut Post) {
        Role::on(self, event, now, post);
    }
}

/// Returns the roles of a plan unchanged.
pub(crate) fn parts(plan: &Plan) -> Vec<Box<dyn Part>> {
    plan.roles().iter().map(|role| Box::new(role.clone()) as Box<dyn Part>).collect()
}

/// A message in flight.
struct Letter {
    from: Address,
    to: Address,
    message: Message,
}

/// The messages in flight. Those of a pair arrive in the order in which they were sent, all others
/// in any order. Half of the networks promise even less: no order at all.
pub(crate) struct Network {
    letters: Vec<Letter>,
    ordered: bool,
    /// The number of messages of each sender.
    pub(crate) sent: BTreeMap<Address, u64>,
}

impl Network {
    pub(crate) fn new(random: &mut SplitMix64) -> Self {
        Network { letters: Vec::new(), ordered: random.below(2) == 0, sent: BTreeMap::new() }
    }

    pub(crate) fn send(&mut self, from: Address, to: Address, message: Message) {
        *self.sent.entry(from).or_default() += 1;
        self.letters.push(Letter { from, to, message });
    }

    /// Delivers a random message, or the oldest of its pair.
    pub(crate) fn deliver(&mut self, random: &mut SplitMix64) -> Option<(Address, Message)> {
        let any = random.below(self.letters.len() as u64) as usize;
        let Letter { from, to, .. } = *self.letters.get(any)?;
        let oldest =
            || self.letters.iter().position(|letter| (letter.from, letter.to) == (from, to));
        let which = if self.ordered { oldest()? } else { any };
        let letter = self.letters.remove(which);
        Some((letter.to, letter.message))
    }

    pub(crate) fn total(&self) -> u64 {
        self.sent.values().sum()
    }
}

/// A timer that was set.
struct Ring {
    role: u32,
    time: Time,
    timer: Timer,
}

/// A counter, its clients and the network between them.
pub(crate) struct Chaos {
    plan: Plan,
    parts: Vec<Box<dyn Part>>,
    pub(crate) network: Network,
    rings: Vec<Ring>,
    now: Time,
    random: SplitMix64,
    /// Whether time stands still while there is any other event.
    patient: bool,
    /// The largest count of numbers that a client asks for at a time.
    most: u64,
    /// The numbers of each client.
    pub(crate) got: Vec<Vec<u64>>,
    waits: Vec<Option<Wait>>,
    /// The number of requests made, plus the number of requests ended: the time of `calls`.
    ticks: u64,
    /// Each number as the result of a call of its own; those of one request have the same start and
    /// end.
    pub(crate) calls: Vec<Call>,
    /// For each role, the count of numbers that it has sent to clients.
    given: BTreeMap<Address, u64>,
}

/// A request that is not completely answered yet.
struct Wait {
    started: u64,
    missing: u64,
    numbers: Vec<u64>,
}

impl Chaos {
    pub(crate) fn new(plan: Plan, parts: Vec<Box<dyn Part>>, clients: usize, seed: u64) -> Self {
        let mut random = SplitMix64::from_state(seed);
        Chaos {
            plan,
            parts,
            network: Network::new(&mut random),
            rings: Vec::new(),
            now: 0,
            random,
            patient: false,
            most: 1,
            got: vec![Vec::new(); clients],
            waits: Vec::from_iter((0..clients).map(|_| None)),
            ticks: 0,
            calls: Vec::new(),
            given: BTreeMap::new(),
        }
    }

    pub(crate) fn of(plan: Plan, clients: usize, seed: u64) -> Self {
        let parts = parts(&plan);
        Chaos::new(plan, parts, clients, seed)
    }

    pub(crate) fn patient(self) -> Self {
        Chaos { patient: true, ..self }
    }

    /// Lets clients ask for 1 to `most` numbers at a time.
    pub(crate) fn at_most(self, most: u64) -> Self {
        Chaos { most, ..self }
    }

    /// Lets each client ask the number of times in `asks`, until no event is left. Checks what must
    /// hold then.
    pub(crate) fn run(&mut self, asks: &[u32]) -> Result<(), String> {
        let mut left = asks.to_vec();
        for _ in 0..1_000_000 {
            match self.random.below(4) {
                0 => self.ask_any(&mut left),
                1 if !self.patient => self.now += self.random.below(30),
                2 if self.ring_any() => {}
                _ => {
                    if !self.deliver()? && !self.ring_any() && !self.ask_or_wait(&mut left) {
                        return self.check_rest();
                    }
                }
            }
        }
        Err("it does not come to rest".to_string())
    }

    /// Lets a random client ask, if it wants to and may.
    fn ask_any(&mut self, left: &mut [u32]) {
        let client = self.random.below(left.len() as u64) as usize;
        self.ask(client, left);
    }

    fn ask(&mut self, client: usize, left: &mut [u32]) -> bool {
        let may = left[client] > 0 && self.waits[client].is_none();
        if may {
            left[client] -= 1;
            let missing = if self.most == 1 { 1 } else { 1 + self.random.below(self.most) };
            self.ticks += 1;
            self.waits[client] = Some(Wait { started: self.ticks, missing, numbers: Vec::new() });
            let (to, message) = self.plan.ask_many(client as u32, missing, &mut self.random);
            self.network.send(Address::Client(client as u32), to, message);
        }
        may
    }

    /// Lets a client ask, or advances time to the next ring, because no other event is left.
    fn ask_or_wait(&mut self, left: &mut [u32]) -> bool {
        if (0..left.len()).any(|client| self.ask(client, left)) {
            return true;
        }
        let next = self.rings.iter().map(|ring| ring.time).min();
        self.now = self.now.max(next.unwrap_or(0));
        next.is_some()
    }

    /// Rings a random one of the timers that are due. Some of them will ring again.
    fn ring_any(&mut self) -> bool {
        let due = |ring: &Ring| ring.time <= self.now;
        let count = self.rings.iter().filter(|ring| due(ring)).count();
        if count == 0 {
            return false;
        }
        let which = self.random.below(count as u64) as usize;
        let index =
            (0..self.rings.len()).filter(|&i| due(&self.rings[i])).nth(which).expect("counted");
        let Ring { role, timer, .. } = self.rings.swap_remove(index);
        if self.random.below(3) == 0 {
            let time = self.now + self.random.below(100);
            self.rings.push(Ring { role, time, timer });
        }
        self.handle(role, Event::Timer(timer));
        true
    }

    /// Delivers a message if one is in flight.
    fn deliver(&mut self) -> Result<bool, String> {
        let Some((to, message)) = self.network.deliver(&mut self.random) else { return Ok(false) };
        match (to, message) {
            (Address::Role(role), message) => self.handle(role, Event::Message(message)),
            (Address::Client(client), Message::Numbers { first, count }) => {
                self.answer(client as usize, first, count)?;
            }
            (client, message) => return Err(format!("{client:?} got {message:?}")),
        }
        Ok(true)
    }

    fn answer(&mut self, client: usize, first: u64, count: u64) -> Result<(), String> {
        let wait = self.waits[client].as_mut().filter(|wait| wait.missing >= count);
        let wait = wait.ok_or_else(|| format!("client {client} got {first} without asking"))?;
        let numbers = (0..count).map(|index| first + index * self.plan.step());
        wait.missing -= count;
        wait.numbers.extend(numbers.clone());
        self.got[client].extend(numbers);
        if wait.missing == 0 {
            self.ticks += 1;
            let call = |&number| Call::finished(wait.started, self.ticks, number);
            self.calls.extend(wait.numbers.iter().map(call));
            self.waits[client] = None;
        }
        Ok(())
    }

    /// Returns whether no request got a smaller number than one that was over before it began.
    pub(crate) fn is_linearizable(&self) -> bool {
        spec::check_linearizable(&self.calls).is_ok()
    }

    fn handle(&mut self, role: u32, event: Event) {
        let mut post = Post::new();
        self.parts[role as usize].on(event, self.now, &mut post);
        while let Some((to, message)) = post.next_message() {
            if let (Address::Client(_), Message::Numbers { count, .. }) = (to, message) {
                *self.given.entry(Address::Role(role)).or_default() += count;
            }
            self.network.send(Address::Role(role), to, message);
        }
        while let Some((time, timer)) = post.next_timer() {
            self.rings.push(Ring { role, time, timer });
        }
    }

    /// Checks that all requests are answered. At each moment until then no more numbers were
    /// missing than were asked for, so now they are exactly 0..m-1. So dispenser i of w has given
    /// out one number for each number below m with remainder i modulo w: a step.
    fn check_rest(&self) -> Result<(), String> {
        if let Some(client) = self.waits.iter().position(Option::is_some) {
            return Err(format!("client {client} is never answered"));
        }
        spec::check_counting(&self.calls).map_err(|violation| violation.to_string())?;
        let numbers = self.plan.roles().iter().enumerate();
        let dispensers = numbers.filter(|(_, role)| matches!(role, Role::Dispenser(_)));
        let mut given: Vec<u64> = dispensers
            .map(|(number, _)| Address::Role(number as u32))
            .map(|address| self.given.get(&address).copied().unwrap_or(0))
            .collect();
        given.sort_unstable();
        if given[given.len() - 1] - given[0] > 1 && given.len() > 1 {
            return Err(format!("no step: {given:?}"));
        }
        Ok(())
    }
}
