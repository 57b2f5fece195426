//! Structures that are nearly correct. The checks must catch every one of them: a check that lets
//! them pass checks nothing.

use crate::barriers::{Meets, meet};
use crate::host::{Chaos, Part, parts};
use throng::structures::counter::diffracting::Prisms;
use throng_messages::{
    Address, CombiningShape, Delay, DiffractingShape, Event, Message, Plan, Post, Role, Time,
    Waiting,
};

/// Runs a structure in which `spoil` may replace roles, until a check fails. Without a replacement
/// none may fail.
fn caught(plan: &Plan, clients: usize, spoil: impl Fn(u32, &Role) -> Option<Box<dyn Part>>) {
    caught_asking(1, plan, clients, spoil);
}

/// The same with clients that ask for up to `most` numbers at a time.
fn caught_asking(
    most: u64,
    plan: &Plan,
    clients: usize,
    spoil: impl Fn(u32, &Role) -> Option<Box<dyn Part>>,
) {
    assert_eq!(first_error(most, plan, clients, |_, _| None), None, "the right one is accused");
    let error = first_error(most, plan, clients, spoil).expect("the fault is found");
    assert!(
        ["given twice", "were missing", "never answered", "without asking", "Client", "no step"]
            .iter()
            .any(|promise| error.contains(promise)),
        "not a broken promise: {error}"
    );
}

fn first_error(
    most: u64,
    plan: &Plan,
    clients: usize,
    spoil: impl Fn(u32, &Role) -> Option<Box<dyn Part>>,
) -> Option<String> {
    (0..50).find_map(|seed| {
        let mut parts = parts(plan);
        for ((number, role), part) in (0..).zip(plan.roles()).zip(&mut parts) {
            if let Some(broken) = spoil(number, role) {
                *part = broken;
            }
        }
        let mut chaos = Chaos::new(plan.clone(), parts, clients, seed).at_most(most);
        chaos.run(&vec![4; clients]).err()
    })
}

fn tree() -> Plan {
    let shape = DiffractingShape::new(4, Delay::adaptive(20, 50));
    let prisms = Prisms::Sizes(vec![2, 1]);
    Plan::diffracting_tree(&DiffractingShape { prisms, ..shape }).unwrap()
}

/// Returns all messages that a role sends in answer to an event.
fn answer(role: &mut Role, event: Event, now: Time) -> (Vec<(Address, Message)>, Post) {
    let mut post = Post::new();
    role.on(event, now, &mut post);
    (std::iter::from_fn(|| post.next_message()).collect(), post)
}

/// A prism that sends both tokens of a pair to the same side.
struct BothLeft(Role);

impl Part for BothLeft {
    fn on(&mut self, event: Event, now: Time, post: &mut Post) {
        let (sent, timers) = answer(&mut self.0, event, now);
        *post = timers;
        for &(_, message) in &sent {
            post.send(sent[0].0, message);
        }
    }
}

#[test]
fn a_prism_that_diffracts_both_to_the_left() {
    caught(&tree(), 6, |_, role| {
        matches!(role, Role::Prism(_)).then(|| Box::new(BothLeft(role.clone())) as Box<dyn Part>)
    });
}

/// A prism that believes every ring, and sends the last token to the toggle again.
struct StaleRing {
    role: Role,
    last: Option<(Address, Message)>,
}

impl Part for StaleRing {
    fn on(&mut self, event: Event, now: Time, post: &mut Post) {
        let (sent, timers) = answer(&mut self.role, event, now);
        *post = timers;
        if let (Event::Timer(_), [], Some((to, message))) = (event, &sent[..], self.last) {
            post.send(to, message);
        }
        for (to, message) in sent {
            self.last = Some((to, message));
            post.send(to, message);
        }
    }
}

#[test]
fn a_prism_that_believes_rings_that_are_over() {
    caught(&tree(), 6, |_, role| {
        let broken = || Box::new(StaleRing { role: role.clone(), last: None }) as Box<dyn Part>;
        matches!(role, Role::Prism(_)).then(broken)
    });
}

/// A prism that drops its token when the wait is over.
struct Drops(Role);

impl Part for Drops {
    fn on(&mut self, event: Event, now: Time, post: &mut Post) {
        let (sent, timers) = answer(&mut self.0, event, now);
        *post = timers;
        if !matches!(event, Event::Timer(_)) {
            sent.into_iter().for_each(|(to, message)| post.send(to, message));
        }
    }
}

#[test]
fn a_prism_that_drops_a_token_that_is_alone() {
    caught(&tree(), 6, |_, role| {
        matches!(role, Role::Prism(_)).then(|| Box::new(Drops(role.clone())) as Box<dyn Part>)
    });
}

/// A toggle that sometimes forgets which side is next.
struct Forgets {
    role: Role,
    fresh: Role,
    tokens: u32,
}

impl Part for Forgets {
    fn on(&mut self, event: Event, now: Time, post: &mut Post) {
        self.tokens += 1;
        if self.tokens.is_multiple_of(4) {
            self.role = self.fresh.clone();
        }
        self.role.on(event, now, post);
    }
}

#[test]
fn a_toggle_that_forgets() {
    for plan in [tree(), Plan::counting_network(4).unwrap()] {
        caught(&plan, 6, |_, role| {
            matches!(role, Role::Toggle(_)).then(|| {
                let (role, fresh) = (role.clone(), role.clone());
                Box::new(Forgets { role, fresh, tokens: 0 }) as Box<dyn Part>
            })
        });
    }
}

/// A toggle that sends the odd token of several to the left, whichever side is next.
struct OddLeft(Role);

impl Part for OddLeft {
    fn on(&mut self, event: Event, now: Time, post: &mut Post) {
        let (sent, _) = answer(&mut self.0, event, now);
        let counts = |message| if let Message::Ask { count, .. } = message { count } else { 0 };
        match sent[..] {
            [(one, few), (other, many)] => {
                let (few, many) =
                    if counts(few) > counts(many) { (many, few) } else { (few, many) };
                post.send(one.min(other), many);
                post.send(one.max(other), few);
            }
            _ => sent.into_iter().for_each(|(to, message)| post.send(to, message)),
        }
    }
}

#[test]
fn a_toggle_that_sends_the_odd_token_to_the_left() {
    caught_asking(5, &Plan::counting_network(4).unwrap(), 6, |_, role| {
        matches!(role, Role::Toggle(_)).then(|| Box::new(OddLeft(role.clone())) as Box<dyn Part>)
    });
}

/// A balancer that sends all tokens that travel together to the same side.
struct TogetherForEver(Role);

impl Part for TogetherForEver {
    fn on(&mut self, event: Event, now: Time, post: &mut Post) {
        let (sent, timers) = answer(&mut self.0, event, now);
        *post = timers;
        match event {
            Event::Message(Message::Ask { asker, count }) if count > 1 => {
                post.send(sent[0].0, Message::Ask { asker, count });
            }
            _ => sent.into_iter().for_each(|(to, message)| post.send(to, message)),
        }
    }
}

#[test]
fn a_balancer_that_does_not_part_tokens_that_travel_together() {
    let broken = |role: &Role| Box::new(TogetherForEver(role.clone())) as Box<dyn Part>;
    caught_asking(5, &tree(), 6, |_, role| matches!(role, Role::Prism(_)).then(|| broken(role)));
    caught_asking(5, &Plan::counting_network(4).unwrap(), 6, |_, role| {
        matches!(role, Role::Toggle(_)).then(|| broken(role))
    });
}

/// A dispenser whose numbers follow each other, though others give out those in between.
struct InARow(Role);

impl Part for InARow {
    fn on(&mut self, event: Event, now: Time, post: &mut Post) {
        let (sent, _) = answer(&mut self.0, event, now);
        for (to, message) in sent {
            if let Message::Numbers { first, count } = message {
                (first..first + count)
                    .for_each(|first| post.send(to, Message::Numbers { first, count: 1 }));
            }
        }
    }
}

#[test]
fn a_leaf_whose_numbers_follow_each_other() {
    caught_asking(20, &tree(), 6, |_, role| {
        matches!(role, Role::Dispenser(_)).then(|| Box::new(InARow(role.clone())) as Box<dyn Part>)
    });
}

/// A leaf that is never locked: the numbers it asked for are overwritten by those it asks for next.
struct NeverLocked {
    me: Address,
    parent: Address,
    batch: Vec<Address>,
}

impl Part for NeverLocked {
    fn on(&mut self, event: Event, _: Time, post: &mut Post) {
        match event {
            Event::Message(Message::Ask { asker, count }) => {
                self.batch = vec![asker];
                post.send(self.parent, Message::Ask { asker: self.me, count });
            }
            Event::Message(Message::Numbers { first, count }) => {
                for &asker in &self.batch {
                    post.send(asker, Message::Numbers { first, count });
                }
            }
            _ => {}
        }
    }
}

#[test]
fn a_combining_node_that_does_not_lock() {
    let shape = CombiningShape { clients: 4, waiting: Waiting::Fixed(5) };
    let plan = Plan::combining_tree(&shape).unwrap();
    // Two leaves below the root, which is role 2.
    caught(&plan, 4, |number, role| {
        let (me, parent) = (Address::Role(number), Address::Role(2));
        let broken = || Box::new(NeverLocked { me, parent, batch: Vec::new() }) as Box<dyn Part>;
        matches!(role, Role::Combiner(_)).then(broken)
    });
}

/// A node that splits answers wrongly: both children get the first number.
struct SplitsWrongly(Role);

impl Part for SplitsWrongly {
    fn on(&mut self, event: Event, now: Time, post: &mut Post) {
        let (sent, timers) = answer(&mut self.0, event, now);
        *post = timers;
        for (to, message) in sent {
            let wrong = match (event, message) {
                (
                    Event::Message(Message::Numbers { first, .. }),
                    Message::Numbers { count, .. },
                ) => Message::Numbers { first, count },
                _ => message,
            };
            post.send(to, wrong);
        }
    }
}

#[test]
fn a_combining_node_that_splits_wrongly() {
    let shape = CombiningShape { clients: 8, waiting: Waiting::Fixed(50) };
    caught(&Plan::combining_tree(&shape).unwrap(), 8, |_, role| {
        let broken = || Box::new(SplitsWrongly(role.clone())) as Box<dyn Part>;
        matches!(role, Role::Combiner(_)).then(broken)
    });
}

/// A member of a dissemination barrier that counts its messages, but not for each step.
struct AllStepsAlike {
    rank: u32,
    members: u32,
    waits: bool,
    step: u32,
    signals: u32,
    passed: u64,
}

impl AllStepsAlike {
    fn all(members: u32) -> Vec<Self> {
        let member =
            |rank| AllStepsAlike { rank, members, waits: false, step: 0, signals: 0, passed: 0 };
        (0..members).map(member).collect()
    }

    fn tell(&self, post: &mut Post) {
        let partner = (self.rank + (1 << self.step)) % self.members;
        post.send(Address::Client(partner), Message::Arrived { step: self.step });
    }

    fn go_on(&mut self, post: &mut Post) {
        while self.waits && self.signals > 0 {
            self.signals -= 1;
            self.step += 1;
            if self.step == self.members.next_power_of_two().trailing_zeros() {
                self.passed += 1;
                self.waits = false;
            } else {
                self.tell(post);
            }
        }
    }
}

impl Meets for AllStepsAlike {
    fn arrive(&mut self, post: &mut Post) {
        (self.waits, self.step) = (true, 0);
        self.tell(post);
        self.go_on(post);
    }
    fn on(&mut self, _: Message, post: &mut Post) {
        self.signals += 1;
        self.go_on(post);
    }
    fn passed(&self) -> u64 {
        self.passed
    }
}

#[test]
fn a_dissemination_barrier_that_does_not_count_for_each_step() {
    let error = (0..50).find_map(|seed| meet(AllStepsAlike::all(5), 3, seed).err());
    let error = error.expect("the fault is found");
    assert!(error.contains("before"), "{error}");
}

/// A tree barrier of depth 1 that neither waits for its root nor makes it wait.
struct Impatient {
    rank: u32,
    members: u32,
    heard: u32,
    waits: bool,
    passed: u64,
}

impl Meets for Impatient {
    fn arrive(&mut self, post: &mut Post) {
        self.waits = true;
        if self.rank == 0 {
            self.passed += 1;
        } else {
            post.send(Address::Client(0), Message::Arrived { step: self.rank - 1 });
        }
    }
    fn on(&mut self, message: Message, post: &mut Post) {
        match message {
            Message::Arrived { .. } => {
                self.heard += 1;
                if self.heard.is_multiple_of(self.members - 1) {
                    (1..self.members)
                        .for_each(|rank| post.send(Address::Client(rank), Message::Released));
                }
            }
            _ if std::mem::take(&mut self.waits) => self.passed += 1,
            _ => {}
        }
    }
    fn passed(&self) -> u64 {
        self.passed
    }
}

#[test]
fn a_tree_barrier_that_does_not_wait_for_its_root() {
    let member = |rank| Impatient { rank, members: 4, heard: 0, waits: false, passed: 0 };
    let error = (0..50).find_map(|seed| meet((0..4).map(member).collect(), 3, seed).err());
    let error = error.expect("the fault is found");
    assert!(error.contains("before"), "{error}");
}
