//! The workloads: which threads push and which pop.

/// A workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Every thread pushes one item and pops one, in turn.
    Pairs,
    /// Half of the threads push, the others pop.
    Even,
    /// One thread pushes, the others pop.
    OneProducer,
    /// One thread pops, the others push.
    OneConsumer,
    /// Every thread pushes many items and then pops as many.
    Bursts,
    /// As pairs, with large items.
    Large,
    /// No thread pushes; all look for an item.
    Empty,
}

/// Number of items in a burst.
pub const BURST: usize = 32;

/// The program of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Pushes and pops.
    Both,
    /// Pushes only.
    Producer,
    /// Pops only.
    Consumer,
    /// Polls an empty queue.
    Poller,
}

impl Role {
    /// Returns whether the role takes items out.
    pub fn pops(self) -> bool {
        self != Role::Producer
    }
}

impl Mix {
    /// All workloads.
    pub const ALL: [Mix; 7] = [
        Mix::Pairs,
        Mix::Even,
        Mix::OneProducer,
        Mix::OneConsumer,
        Mix::Bursts,
        Mix::Large,
        Mix::Empty,
    ];

    /// Returns the name, as typed on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Mix::Pairs => "pairs",
            Mix::Even => "even",
            Mix::OneProducer => "one-producer",
            Mix::OneConsumer => "one-consumer",
            Mix::Bursts => "bursts",
            Mix::Large => "large",
            Mix::Empty => "empty",
        }
    }

    /// Describes the workload, for the line above a table.
    pub const fn in_words(self) -> &'static str {
        match self {
            Mix::Pairs => "every thread pushes one item and pops one, in turn",
            Mix::Even => "half of the threads push, the others pop",
            Mix::OneProducer => "one thread pushes, the others pop",
            Mix::OneConsumer => "one thread pops, the others push",
            Mix::Bursts => "every thread pushes 32 items and then pops 32",
            Mix::Large => "as pairs, with items of 256 bytes",
            Mix::Empty => "all threads poll an empty queue",
        }
    }

    /// Returns the name for messages.
    pub(super) fn of_messages(self) -> String {
        format!("the mix {}", self.name())
    }

    /// Returns the fewest threads it makes sense for.
    pub const fn least_threads(self) -> usize {
        match self {
            Mix::Even | Mix::OneProducer | Mix::OneConsumer => 2,
            Mix::Pairs | Mix::Bursts | Mix::Large | Mix::Empty => 1,
        }
    }

    /// Returns the role of each thread. Producers and consumers are mixed, so that not one half of
    /// the machine pushes to the other.
    pub fn roles(self, threads: usize) -> Vec<Role> {
        let producers = match self {
            Mix::Pairs | Mix::Bursts | Mix::Large => return vec![Role::Both; threads],
            Mix::Empty => return vec![Role::Poller; threads],
            Mix::Even => threads / 2,
            Mix::OneProducer => 1,
            Mix::OneConsumer => threads - 1,
        };
        spread(producers, threads)
    }
}

/// Returns the roles of `threads` threads, of which `producers` push and the others pop, evenly
/// mixed.
pub(in crate::bench) fn spread(producers: usize, threads: usize) -> Vec<Role> {
    let before = |rank: usize| rank * producers / threads;
    let role = |rank| match before(rank + 1) - before(rank) {
        0 => Role::Consumer,
        _ => Role::Producer,
    };
    (0..threads).map(role).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn producers(mix: Mix, threads: usize) -> usize {
        let roles = mix.roles(threads);
        assert_eq!(roles.len(), threads);
        roles.iter().filter(|&&role| role == Role::Producer).count()
    }

    #[test]
    fn every_side_gets_its_share() {
        for threads in 2..100 {
            assert_eq!(producers(Mix::Even, threads), threads / 2);
            assert_eq!(producers(Mix::OneProducer, threads), 1);
            assert_eq!(producers(Mix::OneConsumer, threads), threads - 1);
            assert_eq!(producers(Mix::Pairs, threads), 0);
        }
        use Role::{Consumer, Producer};
        assert_eq!(Mix::Even.roles(4), [Consumer, Producer, Consumer, Producer]);
    }

    #[test]
    fn names_are_told_apart() {
        let names: HashSet<&str> = Mix::ALL.iter().map(|mix| mix.name()).collect();
        assert_eq!(names.len(), Mix::ALL.len());
        assert!(Mix::Bursts.in_words().contains(&BURST.to_string()));
    }
}
