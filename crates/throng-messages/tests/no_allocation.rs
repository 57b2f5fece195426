//! Roles and members allocate nothing for a message once they have been made.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use throng::machine::SplitMix64;
use throng_messages::{
    Address, BarrierKind, CombiningShape, Delay, DiffractingShape, Event, Plan, Post, Time, Timer,
    Waiting,
};

/// The system's allocator, which counts what each thread allocates.
struct Counted;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is done by `System`, with the same arguments. The count is a thread-local
// without a destructor and made without allocating, so that an allocator can access it.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; the memory came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// A host that lets `clients` ask `each` times, all at once. All timers ring when no other event is
/// left. The host keeps timers in preallocated memory.
struct Host {
    plan: Plan,
    roles: Vec<throng_messages::Role>,
    post: Post,
    timers: Vec<(u32, Time, Timer)>,
    now: Time,
    random: SplitMix64,
}

impl Host {
    fn new(plan: Plan) -> Self {
        Host {
            roles: plan.clone().into_roles(),
            plan,
            post: Post::new(),
            timers: Vec::with_capacity(1000),
            now: 0,
            random: SplitMix64::from_state(1),
        }
    }

    /// Lets each client ask once. Returns the count of numbers given out.
    fn round(&mut self, clients: u32) -> u32 {
        let mut answers = 0;
        for client in 0..clients {
            let (to, message) = self.plan.ask(client, &mut self.random);
            self.post.send(to, message);
        }
        loop {
            while let Some((to, message)) = self.post.next_message() {
                self.now += 1;
                match to {
                    Address::Role(role) => self.handle(role, Event::Message(message)),
                    Address::Client(_) => answers += 1,
                }
            }
            let Some((role, time, timer)) = self.timers.pop() else { return answers };
            self.now = self.now.max(time);
            self.handle(role, Event::Timer(timer));
        }
    }

    fn handle(&mut self, role: u32, event: Event) {
        self.roles[role as usize].on(event, self.now, &mut self.post);
        while let Some((time, timer)) = self.post.next_timer() {
            self.timers.push((role, time, timer));
        }
    }
}

#[test]
fn roles_allocate_nothing_for_a_message() {
    let waiting = Waiting::Fixed(10);
    let plans = [
        Plan::central(),
        Plan::diffracting_tree(&DiffractingShape::new(16, Delay::adaptive(8, 100))).unwrap(),
        Plan::counting_network(8).unwrap(),
        Plan::combining_tree(&CombiningShape { clients: 37, waiting }).unwrap(),
    ];
    for plan in plans {
        let name = plan.name();
        let mut host = Host::new(plan);
        assert_eq!(host.round(37), 37);
        let before = ALLOCATIONS.get();
        let answers: u32 = (0..300).map(|_| host.round(37)).sum();
        assert_eq!((name, ALLOCATIONS.get() - before, answers), (name, 0, 300 * 37));
    }
}

#[test]
fn members_of_barriers_allocate_nothing_for_a_message() {
    for kind in [BarrierKind::Dissemination, BarrierKind::Tree { fan_in: 3 }] {
        let mut members = kind.members(37).unwrap();
        let mut post = Post::new();
        let mut round = || {
            members.iter_mut().for_each(|member| member.arrive(&mut post));
            while let Some((Address::Client(to), message)) = post.next_message() {
                members[to as usize].on(message, &mut post);
            }
        };
        round();
        let before = ALLOCATIONS.get();
        (0..300).for_each(|_| round());
        assert_eq!((kind.name(), ALLOCATIONS.get() - before), (kind.name(), 0));
        assert!(members.iter().all(|member| member.passed() == 301));
    }
}

#[test]
fn what_is_allocated_is_counted() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(Box::new(7)));
    assert_eq!(ALLOCATIONS.get() - before, 1);
}
