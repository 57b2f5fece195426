//! What programs ask of the types beside their methods: constants, traits, items that are not `Send`.

use std::collections::BTreeSet;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::thread;

use throng::pool::drop_in::{ArrayQueue, SegQueue};
use throng::{Barrier, Counter, Pool, Queue, counter::Hardware};

static IDS: Counter = Counter::new();
static TICKETS: Hardware = Hardware::new();
static QUEUE: Queue<u64> = Queue::unbounded();
static POOL: Pool<u64> = Pool::new();
static SEGMENTS: SegQueue<u64> = SegQueue::new();

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
}

#[test]
fn types_have_the_traits_of_their_peers() {
    fn shared<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
    shared::<Counter>();
    shared::<Barrier>();
    shared::<Queue<u64>>();
    shared::<Pool<u64>>();
    shared::<ArrayQueue<u64>>();
    shared::<SegQueue<u64>>();

    // Peers print their queues whatever the items are.
    struct Plain;
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
    assert_eq!(queue.into_iter().len(), 10);
    let queue: Queue<u32> = (0..3).collect();
    queue.close();
    (&queue).extend([7, 7]);
    assert!(queue.into_iter().eq(0..3), "a closed queue takes no more");

    let mut pool: Pool<u32> = (0..5).collect();
    pool.extend(5..10);
    assert_eq!(pool.into_iter().collect::<BTreeSet<_>>(), (0..10).collect());
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
