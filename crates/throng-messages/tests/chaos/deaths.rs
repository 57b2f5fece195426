//! A node that dies makes others wait, but no number is given twice.

use crate::host::{Chaos, Part, parts};
use throng::machine::SplitMix64;
use throng_messages::{
    CombiningShape, Delay, DiffractingShape, Event, Plan, Post, Role, Time, Waiting,
};

/// A role that dies after a number of events.
struct Mortal {
    role: Role,
    events_left: u64,
}

impl Part for Mortal {
    fn on(&mut self, event: Event, now: Time, post: &mut Post) {
        if let Some(left) = self.events_left.checked_sub(1) {
            self.events_left = left;
            self.role.on(event, now, post);
        }
    }
}

#[test]
fn no_number_is_given_twice_when_a_role_dies() {
    let waiting = Waiting::Fixed(20);
    for plan in [
        Plan::diffracting_tree(&DiffractingShape::new(8, Delay::adaptive(20, 100))).unwrap(),
        Plan::counting_network(4).unwrap(),
        Plan::combining_tree(&CombiningShape { clients: 12, waiting }).unwrap(),
    ] {
        let mut unanswered = 0;
        for seed in 0..300 {
            let mut random = SplitMix64::from_state(seed);
            let victim = random.below(plan.len() as u64) as usize;
            let role = plan.roles()[victim].clone();
            let mut parts = parts(&plan);
            parts[victim] = Box::new(Mortal { role, events_left: random.below(20) });
            let most = [1, 10][seed as usize % 2];
            let mut chaos = Chaos::new(plan.clone(), parts, 12, seed).at_most(most);
            // It ends nevertheless: no message is in flight any more.
            match chaos.run(&[5; 12]) {
                Ok(()) => {}
                Err(error) if error.ends_with("is never answered") => unanswered += 1,
                Err(error) => panic!("{}: {error}", plan.name()),
            }
            let mut all: Vec<u64> = chaos.got.into_iter().flatten().collect();
            let many = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), many, "{}, role {victim}", plan.name());
        }
        assert!(unanswered > 100, "{}: few have died in time", plan.name());
    }
}
