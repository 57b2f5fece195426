//! What programs ask of the types beside their methods: constants, traits, items that are not `Send`.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Debug;
use std::iter::FusedIterator;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::thread;

use throng::barrier::{BarrierBuilder, BarrierWaitResult, Member, WaitResult};
use throng::channel::{Receiver, Sender};
use throng::counter::{CounterBuilder, CounterStats};
use throng::drop_in::{ArrayQueue, ConcurrentQueue, ForcePushError, SegQueue};
use throng::loops::{Crew, CrewBuilder, Indices};
use throng::pool::PoolBuilder;
use throng::queue::{Closed, PopError, PopTimeoutError, PushError, PushTimeoutError};
use throng::{Barrier, Counter, Pool, Queue, ShapeError, structures::counter::Hardware};

static IDS: Counter = Counter::new();
static TICKETS: Hardware = Hardware::new();
static QUEUE: Queue<u64> = Queue::unbounded();
static POOL: Pool<u64> = Pool::new();
static SEGMENTS: SegQueue<u64> = SegQueue::new();
static TASKS: ConcurrentQueue<u64> = ConcurrentQueue::unbounded();

#[test]
fn statics_serve_many_threads() {
    const THREADS: u64 = 4;
    const ITEMS: u64 = 1000;
    let drawn: BTreeSet<u64> = thread::scope(|scope| {
        let draw = || {
            let ids: Vec<u64> = (0..ITEMS).map(|_| IDS.next()).collect();
            for &id in &ids {
                TICKETS.next();
                QUEUE.push(id).expect("it is open");
                POOL.push(id).expect("it is open");
                SEGMENTS.push(id);
                TASKS.push(id).expect("it is open");
            }
            ids
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(draw)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("it draws")).collect()
    });
    assert!(drawn.into_iter().eq(0..THREADS * ITEMS));
    assert_eq!(TICKETS.next(), THREADS * ITEMS);
    let sum = (0..THREADS * ITEMS).sum::<u64>();
    assert_eq!(QUEUE.drain().sum::<u64>(), sum);
    assert_eq!(POOL.drain().sum::<u64>(), sum);
    assert_eq!(std::iter::from_fn(|| SEGMENTS.pop()).sum::<u64>(), sum);
    assert_eq!(TASKS.try_iter().sum::<u64>(), sum);
}

/// Neither `Clone` nor `Debug` nor anything else.
struct Plain;

/// Compiles if the types have the traits. Each function is one trait or one group of traits.
#[test]
fn types_have_the_traits_of_their_peers() {
    fn shared<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe + Debug>() {}
    shared::<Counter>();
    shared::<Barrier>();
    shared::<Member>();
    shared::<Queue<Plain>>();
    shared::<Pool<Plain>>();
    shared::<Crew>();
    shared::<Indices>();
    shared::<ArrayQueue<Plain>>();
    shared::<SegQueue<Plain>>();
    shared::<ConcurrentQueue<Plain>>();
    shared::<Sender<Plain>>();
    shared::<Receiver<Plain>>();
    shared::<Hardware>();

    fn made_of_nothing<T: Default>() {}
    made_of_nothing::<Counter>();
    made_of_nothing::<Queue<Plain>>();
    made_of_nothing::<Pool<Plain>>();
    made_of_nothing::<Crew>();
    made_of_nothing::<SegQueue<Plain>>();
    made_of_nothing::<Hardware>();

    fn collection<T: FromIterator<Plain> + Extend<Plain>>() {}
    collection::<Queue<Plain>>();
    collection::<Pool<Plain>>();
    fn extended_by_reference<T>()
    where
        for<'a> &'a T: Extend<Plain>,
    {
    }
    extended_by_reference::<Queue<Plain>>();
    extended_by_reference::<Pool<Plain>>();

    fn emptied<T: IntoIterator<Item = Plain, IntoIter: Debug>>() {}
    emptied::<Queue<Plain>>();
    emptied::<Pool<Plain>>();
    emptied::<ArrayQueue<Plain>>();
    emptied::<SegQueue<Plain>>();
    emptied::<ConcurrentQueue<Plain>>();
    emptied::<Receiver<Plain>>();
    fn emptied_by_reference<T, I>()
    where
        for<'a> &'a T: IntoIterator<Item = I, IntoIter: Debug + FusedIterator>,
    {
    }
    emptied_by_reference::<Queue<Plain>, Plain>();
    emptied_by_reference::<Pool<Plain>, Plain>();
    emptied_by_reference::<Receiver<Plain>, Plain>();
    emptied_by_reference::<Indices, usize>();

    fn printed<T: Debug>() {}
    printed::<throng::queue::Drain<'_, Plain>>();
    printed::<throng::pool::Drain<'_, Plain>>();
    printed::<Member>();
    printed::<CrewBuilder>();
    printed::<CounterStats>();
    fn builder<T: Clone + Debug>() {}
    builder::<BarrierBuilder>();
    builder::<CounterBuilder>();
    builder::<PoolBuilder<Plain>>();

    fn error<T: Error + Send + Sync + 'static>() {}
    error::<Closed<Plain>>();
    error::<PushError<Plain>>();
    error::<PushTimeoutError<Plain>>();
    error::<ForcePushError<Plain>>();
    error::<PopError>();
    error::<PopTimeoutError>();
    error::<throng::barrier::Broken>();
    error::<ShapeError>();

    // As from `std::sync`.
    let same: fn(BarrierWaitResult) -> WaitResult = |result| result;
    assert!(same(Barrier::new(1).wait()).is_leader());

    // Peers print their queues whatever the items are.
    let (few, many) = (ArrayQueue::new(2), SegQueue::new());
    assert!(few.push(Plain).is_ok());
    many.push(Plain);
    assert_eq!(format!("{few:?} {many:?}"), "ArrayQueue { .. } SegQueue { .. }");
    let (queue, pool): (Queue<Plain>, Pool<Plain>) = Default::default();
    assert!(format!("{queue:?}{pool:?}").contains("len: 0"));
}

#[test]
fn queues_and_pools_are_collected_extended_and_emptied() {
    let mut queue: Queue<u32> = (0..5).collect();
    queue.extend(5..8);
    (&queue).extend([8, 9]);
    assert!(queue.into_iter().eq(0..10));
    let queue: Queue<u32> = (0..3).collect();
    queue.close();
    (&queue).extend([7, 7]);
    assert!(queue.into_iter().eq(0..3), "a closed queue takes no more");

    let mut pool: Pool<u32> = (0..5).collect();
    pool.extend(5..10);
    (&pool).extend([10, 11]);
    pool.close();
    (&pool).extend([7, 7]);
    let (mut jobs, all) = (BTreeSet::new(), (0..12).collect());
    for job in &pool {
        jobs.insert(job);
    }
    assert_eq!(jobs, all, "a closed pool takes no more");
    let pool: Pool<u32> = (0..12).collect();
    assert_eq!(pool.into_iter().collect::<BTreeSet<_>>(), all);
}

#[test]
fn items_need_be_send_only_where_they_are_sent() {
    /// As in many a crate: no bound on the type.
    struct Owner<T> {
        jobs: Pool<T>,
        items: Queue<T>,
    }
    let item = Rc::new(7);
    let owner = Owner { jobs: Pool::new(), items: Queue::bounded(2) };
    owner.jobs.push(Rc::clone(&item)).expect("it is open");
    owner.items.push(Rc::clone(&item)).expect("it is open");
    assert_eq!(owner.jobs.pop(), owner.items.pop());
    owner.jobs.push(Rc::clone(&item)).expect("it is open");
    drop(owner);
    assert_eq!(Rc::strong_count(&item), 1, "what was inside is dropped");
}
