//! Channels in tasks, on two runtimes, with futures that are dropped at any time, and with threads beside them.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use async_executor::Executor;
use futures_lite::future::{block_on, or};
use futures_lite::stream::{self, StreamExt};
use throng::channel::{Receiver, RecvError, SendError, Sender, bounded, unbounded};
use throng::machine::SplitMix64;

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;
/// Runs all of these tasks to their end.
type Run = fn(Vec<Task>);

/// More threads than some machines have cores.
const THREADS: usize = 3;
const SLOWER: usize = if cfg!(miri) { 200 } else { 1 };

fn on_tokio(tasks: Vec<Task>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_time()
        .build()
        .expect("threads can be started");
    runtime.block_on(async {
        let tasks: Vec<_> = tasks.into_iter().map(tokio::spawn).collect();
        for task in tasks {
            task.await.expect("no task panics");
        }
    });
}

fn on_executor(tasks: Vec<Task>) {
    let executor = Executor::new();
    let (stop, stopped) = bounded::<()>(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| block_on(executor.run(stopped.recv_async())));
        }
        let tasks: Vec<_> = tasks.into_iter().map(|task| executor.spawn(task)).collect();
        block_on(async {
            for task in tasks {
                task.await;
            }
        });
        drop(stop);
    });
}

const RUNTIMES: [(&str, Run); 2] = [("tokio", on_tokio), ("async-executor", on_executor)];
/// `None` is unbounded.
const CAPACITIES: [Option<usize>; 4] = [Some(0), Some(1), Some(5), None];

fn of<T>(capacity: Option<usize>) -> (Sender<T>, Receiver<T>) {
    capacity.map_or_else(unbounded, bounded)
}

/// Counts the items that there are.
#[derive(Default)]
struct Alive(AtomicUsize);

struct Item {
    number: usize,
    alive: Arc<Alive>,
}

impl Item {
    fn new(number: usize, alive: &Arc<Alive>) -> Self {
        alive.0.fetch_add(1, SeqCst);
        Item { number, alive: Arc::clone(alive) }
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        self.alive.0.fetch_sub(1, SeqCst);
    }
}

/// What was received, number by number.
type Received = Arc<Mutex<Vec<usize>>>;

fn keep(received: &Received, item: &Item) {
    received.lock().unwrap().push(item.number);
}

fn sorted(received: &Received) -> Vec<usize> {
    let mut numbers = received.lock().unwrap().clone();
    numbers.sort_unstable();
    numbers
}

/// Polls a future some times, then drops it and returns `None`. Polls it again although nothing has woken it, too.
async fn at_most<F: Future>(polls: u64, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut left = polls;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        context.waker().wake_by_ref();
        future.as_mut().poll(context).map(Some)
    })
    .await
}

/// Lets other tasks run, sometimes.
async fn sometimes_yield(random: &mut SplitMix64) {
    if random.below(4) == 0 {
        futures_lite::future::yield_now().await;
    }
}

#[test]
fn tasks_and_threads_share_a_channel() {
    const SIDE: usize = 2;
    for (name, run) in RUNTIMES {
        for capacity in CAPACITIES {
            let each = 20_000 / SLOWER;
            let (sender, receiver) = of(capacity);
            let (alive, received) = (Arc::default(), Received::default());
            let mut tasks: Vec<Task> = Vec::new();
            let mut threads = Vec::new();
            for id in 0..SIDE {
                let first = 2 * id * each;
                let (ours, count) = (sender.clone(), Arc::clone(&alive));
                tasks.push(Box::pin(async move {
                    for number in first..first + each {
                        ours.send_async(Item::new(number, &count)).await.expect("it is open");
                    }
                }));
                let (ours, count) = (sender.clone(), Arc::clone(&alive));
                threads.push(thread::spawn(move || {
                    for number in first + each..first + 2 * each {
                        ours.send(Item::new(number, &count)).expect("it is open");
                    }
                }));
                let (ours, kept) = (receiver.clone(), Arc::clone(&received));
                tasks.push(Box::pin(async move {
                    while let Ok(item) = ours.recv_async().await {
                        keep(&kept, &item);
                    }
                }));
                let (ours, kept) = (receiver.clone(), Arc::clone(&received));
                threads
                    .push(thread::spawn(move || ours.iter().for_each(|item| keep(&kept, &item))));
            }
            drop((sender, receiver));
            run(tasks);
            threads.into_iter().for_each(|thread| thread.join().expect("no thread panics"));
            assert!(sorted(&received).into_iter().eq(0..2 * SIDE * each), "{name}, {capacity:?}");
            assert_eq!(alive.0.load(SeqCst), 0);
        }
    }
}

/// Sends the numbers, each until a future for it was ready. Returns how many futures were dropped before.
async fn send_and_give_up(
    sender: Sender<Item>,
    numbers: std::ops::Range<usize>,
    alive: Arc<Alive>,
    seed: u64,
) -> usize {
    let (mut random, mut given_up) = (SplitMix64::from_state(seed), 0);
    for number in numbers {
        loop {
            let future = sender.send_async(Item::new(number, &alive));
            match at_most(random.below(4), future).await {
                Some(sent) => break sent.expect("it is open"),
                None => given_up += 1,
            }
            sometimes_yield(&mut random).await;
        }
    }
    given_up
}

async fn recv_and_give_up(receiver: Receiver<Item>, kept: Received, seed: u64) {
    let mut random = SplitMix64::from_state(seed);
    loop {
        match at_most(random.below(4), receiver.recv_async()).await {
            Some(Ok(item)) => keep(&kept, &item),
            Some(Err(RecvError)) => return,
            None => {}
        }
        sometimes_yield(&mut random).await;
    }
}

#[test]
fn nothing_is_lost_with_futures_that_are_dropped() {
    for (name, run) in RUNTIMES {
        for capacity in CAPACITIES {
            let each = 10_000 / SLOWER;
            let (sender, receiver) = of(capacity);
            let (alive, received) = (Arc::<Alive>::default(), Received::default());
            let given_up = Arc::new(AtomicUsize::new(0));
            let mut tasks: Vec<Task> = Vec::new();
            for id in 0..3 {
                let numbers = id * each..(id + 1) * each;
                let sends =
                    send_and_give_up(sender.clone(), numbers, Arc::clone(&alive), id as u64);
                let given_up = Arc::clone(&given_up);
                tasks.push(Box::pin(async move {
                    given_up.fetch_add(sends.await, SeqCst);
                }));
                let (receiver, kept) = (receiver.clone(), Arc::clone(&received));
                tasks.push(Box::pin(recv_and_give_up(receiver, kept, 100 + id as u64)));
            }
            // These never give up: they would wait for ever if a wake-up were lost.
            let (ours, kept) = (receiver.clone(), Arc::clone(&received));
            tasks.push(Box::pin(async move {
                while let Ok(item) = ours.recv_async().await {
                    keep(&kept, &item);
                }
            }));
            let (ours, count) = (sender.clone(), Arc::clone(&alive));
            tasks.push(Box::pin(async move {
                for number in 3 * each..4 * each {
                    ours.send_async(Item::new(number, &count)).await.expect("it is open");
                }
            }));
            drop((sender, receiver));
            run(tasks);
            let mut numbers = sorted(&received);
            if capacity == Some(0) {
                // A receiver may have taken the item of a future that was dropped then.
                numbers.dedup();
            }
            assert!(numbers.into_iter().eq(0..4 * each), "{name}, {capacity:?}");
            assert_eq!(alive.0.load(SeqCst), 0, "an item was not dropped");
            let given_up = given_up.load(SeqCst);
            assert!(given_up > 0 || SLOWER > 1, "{name}: no future was dropped");
        }
    }
}

/// The time-outs of a runtime drop futures, too.
#[test]
fn nothing_is_lost_with_time_outs() {
    let count = 300 / SLOWER.min(30);
    let (sender, receiver) = bounded(1);
    let (alive, received) = (Arc::<Alive>::default(), Received::default());
    let mut tasks: Vec<Task> = Vec::new();
    for _ in 0..2 {
        let (ours, kept) = (receiver.clone(), Arc::clone(&received));
        tasks.push(Box::pin(async move {
            loop {
                let time = Duration::from_micros(20);
                match tokio::time::timeout(time, ours.recv_async()).await {
                    Ok(Ok(item)) => keep(&kept, &item),
                    Ok(Err(RecvError)) => return,
                    Err(_) => {}
                }
            }
        }));
    }
    drop(receiver);
    let count_alive = Arc::clone(&alive);
    let source = thread::spawn(move || {
        for number in 0..count {
            thread::sleep(Duration::from_micros(number as u64 % 50));
            sender.send(Item::new(number, &count_alive)).expect("it is open");
        }
    });
    on_tokio(tasks);
    source.join().expect("no thread panics");
    assert!(sorted(&received).into_iter().eq(0..count));
    assert_eq!(alive.0.load(SeqCst), 0);
}

/// The future that loses a race has received nothing.
#[test]
fn two_channels_can_be_raced() {
    let count = 500 / SLOWER;
    let ((one, from_one), (two, from_two)) = (bounded(1), bounded(0));
    for sender in [one, two] {
        thread::spawn(move || (0..count).for_each(|number| sender.send(number).unwrap()));
    }
    let mut sums = [0, 0];
    block_on(async {
        for _ in 0..2 * count {
            let first = async { (0, from_one.recv_async().await) };
            let second = async { (1, from_two.recv_async().await) };
            // One of the two may be disconnected before the other.
            let (from, number) = match or(first, second).await {
                (0, Err(RecvError)) => (1, from_two.recv_async().await),
                (1, Err(RecvError)) => (0, from_one.recv_async().await),
                received => received,
            };
            sums[from] += number.expect("there is another one");
        }
    });
    assert_eq!(sums, [count * (count - 1) / 2; 2]);
    assert_eq!(block_on(from_one.recv_async()), Err(RecvError));
    assert_eq!(block_on(from_two.recv_async()), Err(RecvError));
}

#[test]
fn a_channel_is_a_stream() {
    for (_, run) in RUNTIMES {
        for capacity in CAPACITIES {
            let (sender, receiver) = of(capacity);
            let mut messages = receiver.stream();
            drop(receiver);
            let stream = stream::poll_fn(move |context| Pin::new(&mut messages).poll_next(context));
            let sum = Arc::new(AtomicUsize::new(0));
            let total = Arc::clone(&sum);
            run(vec![
                Box::pin(async move {
                    for number in 0..200 {
                        sender.send_async(number).await.expect("the stream is there");
                    }
                }),
                Box::pin(async move {
                    let doubled = stream.filter(|number| number % 2 == 0).map(|number| 2 * number);
                    total.store(doubled.fold(0, |sum, number| sum + number).await, SeqCst);
                }),
            ]);
            assert_eq!(sum.load(SeqCst), 2 * (0..200).step_by(2).sum::<usize>());
        }
    }
}

#[test]
fn tasks_that_wait_notice_that_the_other_side_is_gone() {
    for (_, run) in RUNTIMES {
        for capacity in [0, 1] {
            let (sender, receiver) = bounded(capacity);
            (0..capacity).for_each(|number| sender.send(number).unwrap());
            let mut tasks: Vec<Task> = Vec::new();
            for number in 5..8 {
                let sender = sender.clone();
                tasks.push(Box::pin(async move {
                    assert_eq!(sender.send_async(number).await, Err(SendError(number)));
                }));
            }
            let (alone, nothing) = bounded::<u8>(capacity);
            for _ in 0..3 {
                let nothing = nothing.clone();
                tasks.push(Box::pin(async move {
                    let mut stream = nothing.stream();
                    assert_eq!(nothing.recv_async().await, Err(RecvError));
                    let next = poll_fn(|context| Pin::new(&mut stream).poll_next(context)).await;
                    assert_eq!(next, None);
                }));
            }
            let dropping = thread::spawn(move || {
                thread::sleep(Duration::from_millis(20));
                drop((alone, receiver));
            });
            run(tasks);
            dropping.join().expect("no thread panics");
        }
    }
}

/// A future that was ready and is polled again does no harm.
#[test]
fn futures_can_be_polled_again() {
    let (sender, receiver) = bounded(3);
    block_on(async {
        let mut send = sender.send_async(1);
        assert_eq!((&mut send).await, Ok(()));
        assert!(futures_lite::future::poll_once(&mut send).await.is_none());
        sender.send_async(2).await.unwrap();
        let mut recv = receiver.recv_async();
        assert_eq!(((&mut recv).await, recv.await), (Ok(1), Ok(2)));
    });
    assert!(receiver.is_empty());
}
