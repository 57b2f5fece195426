//! A diffracting tree of messages (DT96, section 4.1 and Figure 17).
//!
//! ```text
//!                    prism ───────┬──> prism ... ──> dispenser  0, 2, 4 ..
//!   client ──Ask──>  prism ──> toggle                    │
//!                    prism ───────┴──> prism ... ──> dispenser  1, 3, 5 ..
//!      ^                                                 │
//!      └──────────────────── Numbers ────────────────────┘
//! ```
//!
//! A balancer consists of prisms and a toggle. A token, which is the message [`Ask`](Message::Ask),
//! comes to one of the prisms, chosen at random by its sender. The prism holds it for a while. If
//! another token comes in that time, the two are *diffracted*: the first goes left, the second
//! right, and the toggle gets neither. If none comes, the token goes to the toggle, which sends its
//! tokens left and right in turn. "Left" and "right" are the balancers of the next level, or, after
//! the last, the dispensers. The first level decides the lowest bit of the number, so dispensers
//! are numbered bit-reversed, like the leaves of [`throng::structures::counter::DiffractingTree`].
//!
//! A number takes log2(width) + 2 messages if the token is diffracted on all levels, one more for
//! each toggle.
//!
//! Tokens that one client sends together travel together as far as they can. Pairs of them meet in
//! the first prism and part there at once: half of the tokens go left, half right. An odd one is a
//! token that is alone. So `count` numbers take no more messages than `count` requests for one
//! number, and less than 3 width of them if `count` is a multiple of the width. A prism's delay
//! does not learn from such pairs.
//!
//! # Why it counts
//!
//! Tokens enter a balancer through its prisms only. A prism sends them on in pairs, one to each
//! side, or to the toggle, and the one toggle alternates. So when no token is inside, as many have
//! left on the left as on the right, or one more. It is a balancer, however slow messages are, and
//! a tree of balancers counts (DT96, Lemma 5.20 and Theorem 5.21). A timer may ring after its token
//! has left: the prism then holds no token, or another one. So that it does not cut the wait of
//! that one short, each token that is held has a number, and a ring that bears another number is
//! ignored.
//!
//! # The wait of a prism
//!
//! A prism waits for its *delay* (see [`Delay`]). An adaptive delay is doubled whenever two tokens
//! meet and halved whenever one has waited in vain: "spin" of DT96, section 4.3.1. If the least is
//! 0, the delay of a prism with little traffic becomes 0: it sends every token to the toggle at
//! once and sets no timer.
//!
//! Then no tokens can meet there any more, and twice 0 is 0, so such a prism needs another sign of
//! a higher load. It remembers when its last token came. If the next comes *soon* after, within the
//! prism's first delay, then a wait for as long as that gap would have been a diffraction, and this
//! counts as one: the delay becomes twice the gap, and the token that has just come is held. DT96
//! does not say what it did in this case. Its first delays say how long a wait is worth while, so
//! they are used here.
//!
//! # What is promised
//!
//! Slow messages make numbers late, and have no other effect. If the node of a role dies, tokens
//! that are there or come there are lost: their askers wait for ever, and their numbers may be
//! missing below those that others get. No number is given twice. Prisms are chosen at random, so
//! sooner or later every client comes to a dead one.

use crate::balancer::Way;
use crate::message::{Address, Event, Message, Time, Timer};
use crate::post::Post;
use throng::ShapeError;
use throng::machine::SplitMix64;
use throng::structures::counter::diffracting::Prisms;

/// The time for which prisms hold a token that is alone, in the host's unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delay {
    /// The first delays: one for all levels, or one for each from the root down. An adaptive prism
    /// whose delay has fallen to 0 begins to wait again when two tokens come within this time. So
    /// it should not be below the time between tokens under high load.
    pub first: Vec<Time>,
    /// The smallest adaptive delay. With 0 a prism with little traffic sends a token that is alone
    /// on at once.
    pub least: Time,
    /// The largest adaptive delay.
    pub most: Time,
    /// Whether each prism learns from its tokens. If not, the delay stays at its first value.
    pub adaptive: bool,
}

impl Delay {
    /// Returns a delay that never changes. A token that is alone waits for all of it.
    #[must_use]
    pub fn fixed(delay: Time) -> Self {
        Delay { first: vec![delay], least: delay, most: delay, adaptive: false }
    }

    /// Returns an adaptive delay, from 0 to `most`, that begins with `first`.
    #[must_use]
    pub fn adaptive(first: Time, most: Time) -> Self {
        Delay { first: vec![first], least: 0, most, adaptive: true }
    }

    /// Returns the first delay of each level.
    pub(crate) fn levels(&self, depth: u32) -> Result<Vec<Time>, ShapeError> {
        let levels = depth as usize;
        if self.first.len() != 1 && self.first.len() != levels {
            let allowed = format!("1, or {levels}: one for each level of the tree");
            return Err(ShapeError::new("number of first delays", self.first.len(), allowed));
        }
        if self.adaptive {
            if self.least > self.most {
                let allowed = format!("at most {}, the most", self.most);
                return Err(ShapeError::new("least delay", as_usize(self.least), allowed));
            }
            let allowed = as_usize(self.least)..=as_usize(self.most);
            for &first in &self.first {
                ShapeError::check_range("first delay", as_usize(first), allowed.clone())?;
            }
        }
        Ok((0..levels).map(|level| self.first[level % self.first.len()]).collect())
    }
}

fn as_usize(time: Time) -> usize {
    usize::try_from(time).unwrap_or(usize::MAX)
}

/// The shape of a diffracting tree.
///
/// ```
/// use throng::structures::counter::diffracting::Prisms;
/// use throng_messages::{Delay, DiffractingShape, Plan};
///
/// let shape = DiffractingShape::new(4, Delay::adaptive(50, 1000));
/// let plan = Plan::diffracting_tree(&DiffractingShape { prisms: Prisms::Sizes(vec![3, 1]), ..shape })?;
/// // The root: 3 prisms and a toggle. Two below: a prism and a toggle each. Four dispensers.
/// assert_eq!(plan.len(), 4 + 2 * 2 + 4);
/// # Ok::<(), throng::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffractingShape {
    /// The number of dispensers: a power of two.
    pub width: usize,
    /// The number of prisms of a balancer, level by level.
    pub prisms: Prisms,
    /// The time for which a prism waits.
    pub delay: Delay,
    /// The seed of the random choices of tokens.
    pub seed: u64,
}

impl DiffractingShape {
    /// Returns a shape of this width, with the numbers of prisms of DT96.
    #[must_use]
    pub fn new(width: usize, delay: Delay) -> Self {
        DiffractingShape { width, prisms: Prisms::Dt96, delay, seed: 0 }
    }
}

/// The role in which tokens meet: `PrismProc` of DT96, Figure 17.
#[derive(Clone, Debug)]
pub struct Prism {
    pub(crate) next: [Way; 2],
    pub(crate) toggle: u32,
    /// The token that waits for another.
    held: Option<Message>,
    /// The number of tokens that were held, which identifies the one that is held now.
    holds: u64,
    /// The time when the last token came that found no other here.
    came: Option<Time>,
    delay: Time,
    /// The bounds of the delay, or `None` if it is fixed.
    bounds: Option<(Time, Time)>,
    /// The time within which a token after another might have met it.
    soon: Time,
    random: SplitMix64,
}

impl Prism {
    pub(crate) fn new(
        next: [Way; 2],
        toggle: u32,
        first: Time,
        delay: &Delay,
        random: SplitMix64,
    ) -> Self {
        Prism {
            next,
            toggle,
            held: None,
            holds: 0,
            came: None,
            delay: first,
            bounds: delay.adaptive.then_some((delay.least, delay.most)),
            soon: first.max(1),
            random,
        }
    }

    /// Returns the time for which the next token that is alone will be held.
    #[must_use]
    pub fn delay(&self) -> Time {
        self.delay
    }

    /// Takes a token in, or ends the wait for another one.
    pub fn on(&mut self, event: Event, now: Time, post: &mut Post) {
        match event {
            Event::Message(Message::Ask { asker, count }) => {
                if count > 1 {
                    let half = Message::Ask { asker, count: count / 2 };
                    self.part(half, half, post);
                }
                if count % 2 == 1 {
                    self.meet(Message::Ask { asker, count: 1 }, now, post);
                }
            }
            Event::Timer(Timer(hold)) if hold == self.holds => {
                if let Some(token) = self.held.take() {
                    post.send(Address::Role(self.toggle), token);
                    self.set_delay(self.delay / 2);
                }
            }
            _ => {}
        }
    }

    /// Sends `left` and `right`, which are equally many tokens, to the two sides.
    fn part(&mut self, left: Message, right: Message, post: &mut Post) {
        for (way, tokens) in self.next.into_iter().zip([left, right]) {
            post.send(way.pick(&mut self.random), tokens);
        }
    }

    /// Lets a single token meet the one that is held, or be held.
    fn meet(&mut self, token: Message, now: Time, post: &mut Post) {
        match self.held.take() {
            Some(first) => {
                self.part(first, token, post);
                self.set_delay(self.delay.saturating_mul(2));
            }
            None => self.take_in(token, now, post),
        }
    }

    /// Takes in a token that finds no other here.
    fn take_in(&mut self, token: Message, now: Time, post: &mut Post) {
        let before = self.came.replace(now);
        if self.delay == 0 {
            let gap = before.map_or(Time::MAX, |before| now.saturating_sub(before));
            if gap <= self.soon {
                self.set_delay(gap.saturating_mul(2).max(1));
            }
        }
        if self.delay == 0 {
            post.send(Address::Role(self.toggle), token);
        } else {
            self.holds += 1;
            self.held = Some(token);
            post.ring_at(now.saturating_add(self.delay), Timer(self.holds));
        }
    }

    fn set_delay(&mut self, delay: Time) {
        if let Some((least, most)) = self.bounds {
            self.delay = delay.clamp(least, most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, Role};

    const TOKEN: Event = Event::Message(Message::Ask { asker: Address::Client(0), count: 1 });

    /// Returns the one prism of a tree of width 2; its toggle is role 1, its dispensers are 2 and
    /// 3.
    fn prism(delay: Delay) -> Prism {
        let shape = DiffractingShape::new(2, delay);
        match Plan::diffracting_tree(&shape).unwrap().into_roles().swap_remove(0) {
            Role::Prism(prism) => prism,
            other => panic!("{}", other.name()),
        }
    }

    /// Returns the effects of one event on a prism: the receivers of its tokens, and the timer that
    /// it sets.
    fn on(prism: &mut Prism, event: Event, now: Time) -> (Vec<u32>, Option<(Time, Timer)>) {
        let mut post = Post::new();
        prism.on(event, now, &mut post);
        let timer = post.next_timer();
        let mut sent = Vec::new();
        while let Some((Address::Role(role), _)) = post.next_message() {
            sent.push(role);
        }
        (sent, timer)
    }

    #[test]
    fn two_tokens_that_meet_go_left_and_right_and_the_delay_doubles() {
        let mut prism = prism(Delay::adaptive(10, 30));
        assert_eq!(on(&mut prism, TOKEN, 5), (vec![], Some((15, Timer(1)))));
        assert_eq!(on(&mut prism, TOKEN, 6), (vec![2, 3], None));
        assert_eq!(prism.delay(), 20);
        assert_eq!(on(&mut prism, TOKEN, 7), (vec![], Some((27, Timer(2)))));
        assert_eq!(on(&mut prism, TOKEN, 7), (vec![2, 3], None));
        assert_eq!(prism.delay(), 30, "the most");
    }

    #[test]
    fn a_token_that_waits_in_vain_goes_to_the_toggle_and_the_delay_is_halved() {
        let mut prism = prism(Delay::adaptive(10, 30));
        let _ = on(&mut prism, TOKEN, 0);
        assert_eq!(on(&mut prism, Event::Timer(Timer(1)), 10), (vec![1], None));
        assert_eq!(prism.delay(), 5);
    }

    #[test]
    fn a_ring_for_a_token_that_has_left_is_ignored() {
        let mut prism = prism(Delay::fixed(10));
        let _ = on(&mut prism, TOKEN, 0);
        assert_eq!(on(&mut prism, TOKEN, 1).0, [2, 3]);
        assert_eq!(on(&mut prism, Event::Timer(Timer(1)), 10), (vec![], None), "no token is held");
        let _ = on(&mut prism, TOKEN, 11);
        assert_eq!(on(&mut prism, Event::Timer(Timer(1)), 12), (vec![], None), "another is held");
        assert_eq!(on(&mut prism, Event::Timer(Timer(2)), 21), (vec![1], None));
        assert_eq!(on(&mut prism, Event::Timer(Timer(2)), 21), (vec![], None), "rung twice");
    }

    #[test]
    fn a_prism_that_few_come_to_sends_tokens_on_at_once_until_a_crowd_comes() {
        let mut prism = prism(Delay::adaptive(10, 1000));
        let mut now = 0;
        for waits in [10, 5, 2, 1] {
            let timer = Timer(prism.holds + 1);
            assert_eq!(on(&mut prism, TOKEN, now), (vec![], Some((now + waits, timer))));
            assert_eq!(on(&mut prism, Event::Timer(timer), now + waits).0, [1]);
            now += waits + 100;
        }
        assert_eq!(prism.delay(), 0);
        for _ in 0..10 {
            now += 100;
            assert_eq!(on(&mut prism, TOKEN, now), (vec![1], None));
        }
        // Within the first delay, 10: soon. Twice the gap would have been enough.
        assert_eq!(on(&mut prism, TOKEN, now + 4), (vec![], Some((now + 12, Timer(5)))));
        assert_eq!(on(&mut prism, TOKEN, now + 8), (vec![2, 3], None));
        assert_eq!(prism.delay(), 16);
    }

    #[test]
    fn a_fixed_delay_stays_and_0_is_no_delay() {
        let mut prism = prism(Delay::fixed(0));
        for now in [0, 0, 1, 1] {
            assert_eq!(on(&mut prism, TOKEN, now), (vec![1], None));
        }
    }
}
