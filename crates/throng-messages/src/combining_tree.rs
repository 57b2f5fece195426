//! A combining tree of messages (Goodman, Vernon and Woest 1989; DT96, section 4.2 "CTree").
//!
//! ```text
//!                   root              a dispenser: answers every request at once
//!                 /      \
//!             node        node        two requests come, one goes up
//!             /  \        /  \
//!         leaf   leaf  leaf   leaf    one for every two clients
//!          /\     /\    /\     /\
//! ```
//!
//! A node that has a request holds it until its other child asks, too, or until the wait is over.
//! Then it asks its parent for the sum, in its own name, and is *locked* until the answer comes. It
//! splits the answer: its first child's numbers first, then its second's. Requests that arrive
//! while it is locked wait in the node. A node with a single child, which occurs if the number of
//! clients is no power of two, passes requests on at once. With one or two clients there is only
//! the root.
//!
//! # Why it counts
//!
//! All numbers come from the root, and every node gives each of its children as many of the numbers
//! it got as the child had asked for. The tree is linearizable: a number is fixed at the root,
//! between the request and the answer.
//!
//! A node needs one slot for each child. A client has at most one request in flight, and a node
//! that has asked is locked, so no child asks again before it is answered. The slot of a child is
//! free from then on: the node forgets a request in the event in which it answers it.
//!
//! # The wait of a node
//!
//! [`Waiting::Fixed`]: that long after the request came, or, if it came while the node was locked,
//! after the node was unlocked. [`Waiting::ForEver`]: until the other child asks. DT96 found that
//! best by far under high load, since a request that goes up alone keeps all later requests waiting
//! until it is back. But it **needs all clients to keep asking**: all clients below a child of the
//! root get their numbers together or not at all. The tree hangs as soon as one of them stops: when
//! clients ask at different rates, when one waits for the effect of another's next number, or when
//! a node dies. It does not hang if there are one or two clients, or if all ask at the same rate.
//!
//! # What is promised
//!
//! Slow messages make numbers late. If a node dies, all clients below it wait for ever. With
//! [`Waiting::Fixed`] the others continue, and with [`Waiting::ForEver`] those under the same child
//! of the root do not. The numbers that were on their way to the dead node are missing. No number
//! is given twice.

use crate::message::{Address, Event, Message, Time, Timer};
use crate::post::Post;

/// The time for which a node holds a request that is alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// This time, in the host's unit. With 0 no requests ever combine: of two children, at most one
    /// asks while the node is locked.
    Fixed(Time),
    /// Until the other child asks. **Hangs if clients do not all keep asking**: see the
    /// [shape](CombiningShape).
    ForEver,
}

/// The shape of a combining tree.
///
/// With [`Waiting::ForEver`] all clients below a child of the root get their numbers together: if
/// one of them stops asking, the others wait for ever. Use it if all clients ask at the same rate.
///
/// ```
/// use throng_messages::{CombiningShape, Plan, Waiting};
///
/// let plan = Plan::combining_tree(&CombiningShape { clients: 6, waiting: Waiting::Fixed(100) })?;
/// // Three leaves, two nodes above them, the root.
/// assert_eq!((plan.len(), plan.clients()), (6, Some(6)));
/// # Ok::<(), throng::ShapeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CombiningShape {
    /// The number of clients, numbered from 0. No other may ask.
    pub clients: usize,
    /// The time for which a node holds a request that is alone.
    pub waiting: Waiting,
}

/// The state of a node's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has at most one request, and holds it.
    Open,
    /// It has asked for these numbers, for its two children, and waits for the answer.
    Locked([Option<u64>; 2]),
}

/// A node in which two requests are combined into one.
#[derive(Clone, Debug)]
pub struct Combiner {
    me: Address,
    parent: Address,
    children: [Option<Address>; 2],
    waiting: Waiting,
    state: State,
    /// The count of numbers that each child asks for and the node has not asked for yet. Sums are
    /// modulo 2^64, like numbers, so a sum may be 0.
    requests: [Option<u64>; 2],
    /// The number of waits begun, which identifies the present wait.
    waits: u64,
}

impl Combiner {
    pub(crate) fn new(
        me: u32,
        parent: u32,
        children: [Option<Address>; 2],
        waiting: Waiting,
    ) -> Self {
        Combiner {
            me: Address::Role(me),
            parent: Address::Role(parent),
            children,
            waiting,
            state: State::Open,
            requests: [None; 2],
            waits: 0,
        }
    }

    pub(crate) fn parent(&self) -> Address {
        self.parent
    }

    /// Takes a request in, ends the wait for another one, or splits an answer.
    pub fn on(&mut self, event: Event, now: Time, post: &mut Post) {
        match event {
            Event::Message(Message::Ask { asker, count }) => {
                let Some(child) = self.children.iter().position(|&child| child == Some(asker))
                else {
                    debug_assert!(false, "{asker:?} is no child of {:?}", self.me);
                    return;
                };
                debug_assert_eq!(self.requests[child], None, "{asker:?} asked again too early");
                self.requests[child] = Some(count);
                if self.state == State::Open {
                    self.consider(now, post);
                }
            }
            Event::Message(Message::Numbers { first, .. }) => {
                if let State::Locked(batch) = std::mem::replace(&mut self.state, State::Open) {
                    self.split(first, batch, post);
                    self.consider(now, post);
                }
            }
            Event::Timer(Timer(wait)) => {
                if wait == self.waits && self.state == State::Open {
                    self.ask(post);
                }
            }
            Event::Message(_) => {}
        }
    }

    /// Sends the request of an open node up, or waits for more requests, after its requests have
    /// changed.
    fn consider(&mut self, now: Time, post: &mut Post) {
        let all_asked = (0..2).all(|i| self.children[i].is_none() || self.requests[i].is_some());
        if all_asked || self.waiting == Waiting::Fixed(0) {
            self.ask(post);
        } else if self.requests != [None; 2] {
            self.waits += 1;
            if let Waiting::Fixed(time) = self.waiting {
                post.ring_at(now.saturating_add(time), Timer(self.waits));
            }
        }
    }

    fn ask(&mut self, post: &mut Post) {
        let batch = std::mem::take(&mut self.requests);
        if batch != [None; 2] {
            let count = batch.into_iter().flatten().fold(0, u64::wrapping_add);
            self.state = State::Locked(batch);
            post.send(self.parent, Message::Ask { asker: self.me, count });
        }
    }

    fn split(&self, mut first: u64, batch: [Option<u64>; 2], post: &mut Post) {
        for (child, count) in self.children.into_iter().zip(batch) {
            if let (Some(child), Some(count)) = (child, count) {
                post.send(child, Message::Numbers { first, count });
                first = first.wrapping_add(count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, Role};

    /// Returns the first leaf of a tree for four clients, or the second leaf of a tree for three,
    /// which has one client only.
    fn leaf(clients: usize, number: usize, waiting: Waiting) -> Combiner {
        let plan = Plan::combining_tree(&CombiningShape { clients, waiting }).unwrap();
        match plan.into_roles().swap_remove(number) {
            Role::Combiner(node) => node,
            other => panic!("{}", other.name()),
        }
    }

    fn ask(asker: Address, count: u64) -> Message {
        Message::Ask { asker, count }
    }

    fn numbers(first: u64, count: u64) -> Event {
        Event::Message(Message::Numbers { first, count })
    }

    const ROOT: Address = Address::Role(2);
    const LEAF: Address = Address::Role(0);
    const A: Address = Address::Client(0);
    const B: Address = Address::Client(1);

    type Done = (Vec<(Address, Message)>, Option<(Time, Timer)>);

    /// Returns the effects of one event on a node: the messages with their receivers, and the timer
    /// that it sets.
    fn on(node: &mut Combiner, event: Event, now: Time) -> Done {
        let mut post = Post::new();
        node.on(event, now, &mut post);
        (std::iter::from_fn(|| post.next_message()).collect(), post.next_timer())
    }

    #[test]
    fn two_requests_become_one_and_the_answer_is_split() {
        let mut node = leaf(4, 0, Waiting::ForEver);
        assert_eq!(on(&mut node, Event::Message(ask(B, 1)), 0), (vec![], None));
        assert_eq!(on(&mut node, Event::Message(ask(A, 1)), 9), (vec![(ROOT, ask(LEAF, 2))], None));
        let split = |first| Message::Numbers { first, count: 1 };
        assert_eq!(on(&mut node, numbers(7, 2), 20).0, [(A, split(7)), (B, split(8))]);
    }

    #[test]
    fn what_comes_while_the_node_is_locked_waits_and_then_has_its_own_wait() {
        let mut node = leaf(4, 0, Waiting::Fixed(10));
        assert_eq!(on(&mut node, Event::Message(ask(A, 1)), 0), (vec![], Some((10, Timer(1)))));
        assert_eq!(on(&mut node, Event::Timer(Timer(1)), 10).0, [(ROOT, ask(LEAF, 1))]);
        assert_eq!(on(&mut node, Event::Message(ask(B, 1)), 11), (vec![], None));
        assert_eq!(on(&mut node, Event::Timer(Timer(1)), 12), (vec![], None), "it is locked");
        let (sent, timer) = on(&mut node, numbers(0, 1), 50);
        assert_eq!(sent, [(A, Message::Numbers { first: 0, count: 1 })]);
        assert_eq!(timer, Some((60, Timer(2))));
        assert_eq!(on(&mut node, Event::Timer(Timer(1)), 51), (vec![], None), "an old ring");
        assert_eq!(on(&mut node, Event::Message(ask(A, 1)), 55).0, [(ROOT, ask(LEAF, 2))]);
    }

    #[test]
    fn without_a_wait_and_with_a_single_child_requests_go_up_at_once() {
        let mut without_wait = leaf(4, 0, Waiting::Fixed(0));
        assert_eq!(
            on(&mut without_wait, Event::Message(ask(B, 1)), 0),
            (vec![(ROOT, ask(LEAF, 1))], None)
        );
        let mut single = leaf(3, 1, Waiting::ForEver);
        let (client, leaf) = (Address::Client(2), Address::Role(1));
        let up = on(&mut single, Event::Message(ask(client, 1)), 0);
        assert_eq!(up, (vec![(ROOT, ask(leaf, 1))], None));
    }

    #[test]
    fn trees_have_optimal_depth() {
        for (clients, roles, levels) in
            [(1, 1, 1), (2, 1, 1), (3, 3, 2), (4, 3, 2), (5, 6, 3), (256, 255, 8), (257, 264, 9)]
        {
            let shape = CombiningShape { clients, waiting: Waiting::ForEver };
            let plan = Plan::combining_tree(&shape).unwrap();
            assert_eq!((plan.len(), plan.longest_way()), (roles, 2 * levels), "{clients} clients");
        }
    }
}
