//! A thread that runs some roles.

use crate::message::{Address, Event, Message, Time, Timer};
use crate::plan::Plan;
use crate::post::Post;
use crate::role::Role;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// An item of a service thread's channel.
#[derive(Debug)]
pub(super) enum Letter {
    /// A message for one of its roles.
    Message { role: u32, message: Message },
    /// The thread must end.
    Stop,
}

/// Returns the thread that has the role. Neighbours have different ones.
pub(super) fn of_role(role: u32, services: usize) -> usize {
    role as usize % services
}

/// Ends all threads.
pub(super) fn stop(services: &[Sender<Letter>]) {
    for service in services {
        // A thread that has ended needs no item.
        let _ = service.send(Letter::Stop);
    }
}

/// The number of messages that are handled before timers are checked. Messages go first because a
/// partner that has come is better than a wait that is over. But a stream of messages must not keep
/// a timer from ringing.
const BATCH: usize = 64;

#[derive(Debug)]
pub(super) struct Service {
    number: usize,
    /// The roles of this thread, in the order of their numbers.
    roles: Vec<Role>,
    letters: Receiver<Letter>,
    services: Arc<[Sender<Letter>]>,
    clients: Arc<[Sender<Message>]>,
    post: Post,
    /// Timers to ring, the earliest first: the time, the role, the timer.
    timers: BinaryHeap<Reverse<(Time, u32, u64)>>,
    started: Instant,
}

impl Service {
    pub(super) fn new(
        plan: &Plan,
        number: usize,
        letters: Receiver<Letter>,
        services: Arc<[Sender<Letter>]>,
        clients: Arc<[Sender<Message>]>,
        started: Instant,
    ) -> Self {
        Service {
            number,
            roles: plan.roles().iter().skip(number).step_by(services.len()).cloned().collect(),
            letters,
            services,
            clients,
            post: Post::new(),
            timers: BinaryHeap::new(),
            started,
        }
    }

    pub(super) fn run(mut self) {
        while let Some(first) = self.wait() {
            let mut next = Some(first);
            for _ in 0..BATCH {
                match next.take().or_else(|| self.letters.try_recv().ok()) {
                    Some(Letter::Message { role, message }) => {
                        self.handle(role, Event::Message(message));
                    }
                    Some(Letter::Stop) => return,
                    None => break,
                }
            }
        }
    }

    /// Rings timers until an item comes.
    fn wait(&mut self) -> Option<Letter> {
        loop {
            let Some(&Reverse((time, role, timer))) = self.timers.peek() else {
                return self.letters.recv().ok();
            };
            let now = self.now();
            if time <= now {
                self.timers.pop();
                self.handle(role, Event::Timer(Timer(timer)));
                continue;
            }
            match self.letters.recv_timeout(Duration::from_nanos(time - now)) {
                Ok(letter) => return Some(letter),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    fn now(&self) -> Time {
        self.started.elapsed().as_nanos() as Time
    }

    /// Handles an event, and the events on this thread that follow from it.
    fn handle(&mut self, role: u32, event: Event) {
        self.tell(role, event);
        while let Some((to, message)) = self.post.next_message() {
            // A receiver that is gone needs no message.
            match to {
                Address::Client(client) => {
                    let _ = self.clients[client as usize].send(message);
                }
                Address::Role(role) if self.has(role) => self.tell(role, Event::Message(message)),
                Address::Role(role) => {
                    let service = of_role(role, self.services.len());
                    let _ = self.services[service].send(Letter::Message { role, message });
                }
            }
        }
    }

    fn has(&self, role: u32) -> bool {
        of_role(role, self.services.len()) == self.number
    }

    fn tell(&mut self, role: u32, event: Event) {
        let now = self.now();
        self.roles[role as usize / self.services.len()].on(event, now, &mut self.post);
        while let Some((time, Timer(timer))) = self.post.next_timer() {
            self.timers.push(Reverse((time, role, timer)));
        }
    }
}

impl Drop for Service {
    /// If this thread panics, clients would wait for ever for the work of its roles. So the others
    /// end, too. Then no thread is left that can answer, and clients see that.
    fn drop(&mut self) {
        if thread::panicking() {
            stop(&self.services);
        }
    }
}
