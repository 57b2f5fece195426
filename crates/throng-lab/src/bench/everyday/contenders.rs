//! The contenders: ours, and the queues and pools that a program would use today.

use concurrent_queue::ConcurrentQueue;
use crossbeam_queue::{ArrayQueue, SegQueue};
use serde::{Deserialize, Serialize};
use throng::structures::pool::Rsu;
use throng::{Pool, Queue, drop_in};

use super::bytes;
use super::cases::{Case, Load};
use super::groups::Group;
use super::team::{Figures, Order};
use super::{open, pairs, pipeline, single, stream, tree};
use crate::bench::queues::deque::Deques;
use crate::bench::queues::items::{Item, Words};
use crate::bench::queues::ours::{Channel, Tried};
use crate::bench::queues::peers::{
    CrossbeamChannel, Flume, Kanal, StandardBounded, StandardUnbounded,
};
use crate::bench::queues::run::Failure;
use crate::bench::queues::seats::Exchange;

/// The promise of a contender. Only contenders of the same kind are compared.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// First in, first out, with a bound.
    Bounded,
    /// First in, first out, without a bound.
    Unbounded,
    /// Unordered.
    Jobs,
}

/// A queue or pool that takes part.
#[derive(Clone, Copy)]
pub struct Contender {
    /// The name, as typed on a command line.
    pub name: &'static str,
    /// What it promises.
    pub kind: Kind,
    /// Whether it is of this library.
    pub is_ours: bool,
    groups: &'static [Group],
    /// Whether several threads may pop.
    many_consumers: bool,
    /// Whether refusing an item is measured. It is not where another row has the same refusal.
    refuses: bool,
    measure: fn(&Order<'_>) -> Result<Figures, Failure>,
}

impl std::fmt::Debug for Contender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.name.fmt(f)
    }
}

impl Contender {
    fn new(name: &'static str, kind: Kind, groups: &'static [Group]) -> Self {
        let measure = |order: &Order<'_>| unreachable!("{} has no run", order.method);
        Contender {
            name,
            kind,
            is_ours: false,
            groups,
            many_consumers: true,
            refuses: true,
            measure,
        }
    }

    fn of<F: Family>(name: &'static str, kind: Kind, groups: &'static [Group]) -> Self {
        Contender { measure: measure::<F>, ..Contender::new(name, kind, groups) }
    }

    fn ours(self) -> Self {
        Contender { is_ours: true, ..self }
    }

    fn one_consumer(self) -> Self {
        Contender { many_consumers: false, ..self }
    }

    /// Marks ours that wait: their `try_push` is that of the row `-try`.
    fn waiting(self) -> Self {
        Contender { refuses: false, ..self.ours() }
    }

    /// Returns whether this case can be measured with it, and says something new.
    pub fn suits(&self, case: &Case) -> bool {
        let is_bounded = self.kind == Kind::Bounded;
        self.groups.contains(&case.group)
            && (self.many_consumers || case.consumers() == 1)
            && match case.load {
                Load::Fill(_) | Load::FullPopPush => is_bounded && self.refuses,
                Load::Backlog(_) => !is_bounded && self.refuses,
                Load::Create(capacity) => is_bounded == capacity.is_some() && self.refuses,
                _ => true,
            }
    }

    /// Runs the case of this order once.
    pub(in crate::bench) fn measure(&self, order: &Order<'_>) -> Result<Figures, Failure> {
        (self.measure)(order)
    }
}

/// A queue for items of any type.
trait Family {
    /// The queue for items of this type.
    type Of<T: Item>: Exchange<T>;
}

/// Makes a [`Family`] of each queue with one parameter, its item.
macro_rules! families {
    ($($family:ident => $queue:ty),* $(,)?) => {
        $(
            struct $family;
            impl Family for $family {
                type Of<T: Item> = $queue;
            }
        )*
    };
}

families! {
    Waiting => Queue<T>,
    Trying => Tried<T>,
    OurArray => drop_in::ArrayQueue<T>,
    OurSegments => drop_in::SegQueue<T>,
    Channels => Channel<T>,
    Pools => Pool<T>,
    Rsus => Rsu<T>,
    Array => ArrayQueue<T>,
    Segments => SegQueue<T>,
    Crossbeam => CrossbeamChannel<T>,
    Concurrent => ConcurrentQueue<T>,
    Flumes => Flume<T>,
    Kanals => Kanal<T>,
    StdBounded => StandardBounded<T>,
    StdUnbounded => StandardUnbounded<T>,
    CrossbeamDeques => Deques<T>,
}

fn measure<F: Family>(order: &Order<'_>) -> Result<Figures, Failure> {
    match order.case.load {
        Load::Burst(_)
        | Load::Fill(_)
        | Load::FullPopPush
        | Load::Create(_)
        | Load::PushPop
        | Load::Backlog(_) => single::run::<F::Of<u64>>(order),
        Load::Bytes(fill) => bytes::run::<F::Of<bytes::Pair>, F::Of<u64>>(order, fill),
        Load::Stream(64) => stream::run::<Words<8>, F::Of<Words<8>>>(order),
        Load::Stream(256) => stream::run::<Words<32>, F::Of<Words<32>>>(order),
        Load::Stream(_) => stream::run::<u64, F::Of<u64>>(order),
        Load::Open(loads) => open::run::<F::Of<open::Stamped>>(order, loads),
        Load::Pairs(work_ns) => pairs::run::<F::Of<u64>>(order, work_ns),
        Load::Pipeline(each) => pipeline::run::<F::Of<u64>>(order, each),
        Load::Tree(work_ns) => tree::run::<F::Of<u64>>(order, work_ns),
    }
}

/// Returns a run that knows trees of jobs only.
macro_rules! tree_only {
    ($run:path) => {
        |order| match order.case.load {
            Load::Tree(work_ns) => $run(order, work_ns),
            _ => unreachable!("this row is listed for trees only"),
        }
    };
}

/// Cases of queues and channels.
const QUEUES: &[Group] =
    &[Group::Single, Group::Stream, Group::Open, Group::Pairs, Group::Pipeline];
/// The same, and the memory they take: ours and crossbeam's.
const WITH_BYTES: &[Group] =
    &[Group::Single, Group::Bytes, Group::Stream, Group::Open, Group::Pairs, Group::Pipeline];
/// Types that stand in for crossbeam's; with several threads they are the rows `-try`.
const DROP_IN: &[Group] = &[Group::Single, Group::Bytes];
/// A deque belongs to one thread: cases of several.
const DEQUES: &[Group] = &[Group::Stream, Group::Open, Group::Pairs, Group::Pipeline, Group::Tree];
const PAIRS_AND_TREE: &[Group] = &[Group::Pairs, Group::Tree];
const TREE: &[Group] = &[Group::Tree];

/// Returns all contenders, ours first.
pub fn all() -> Vec<Contender> {
    use Kind::{Bounded, Jobs, Unbounded};
    let run = Contender::new;
    vec![
        Contender::of::<Waiting>("queue", Bounded, QUEUES).waiting(),
        Contender::of::<Trying>("queue-try", Bounded, WITH_BYTES).ours(),
        Contender::of::<OurArray>("drop-in-array", Bounded, DROP_IN).ours(),
        Contender::of::<Waiting>("queue-unbounded", Unbounded, QUEUES).waiting(),
        Contender::of::<Trying>("queue-unbounded-try", Unbounded, &Group::ALL).ours(),
        Contender::of::<OurSegments>("drop-in-seg", Unbounded, DROP_IN).ours(),
        Contender::of::<Channels>("channel", Bounded, QUEUES).ours(),
        Contender::of::<Channels>("channel-unbounded", Unbounded, QUEUES).ours(),
        Contender::of::<Pools>("pool", Jobs, &Group::ALL).ours(),
        Contender::of::<Rsus>("rsu", Jobs, PAIRS_AND_TREE).ours(),
        Contender::of::<Array>("array-queue", Bounded, WITH_BYTES),
        Contender::of::<Segments>("seg-queue", Unbounded, &Group::ALL),
        Contender::of::<Crossbeam>("crossbeam-bounded", Bounded, QUEUES),
        Contender::of::<Crossbeam>("crossbeam-unbounded", Unbounded, QUEUES),
        Contender::of::<Concurrent>("concurrent-bounded", Bounded, QUEUES),
        Contender::of::<Concurrent>("concurrent-unbounded", Unbounded, QUEUES),
        Contender::of::<Flumes>("flume-bounded", Bounded, QUEUES),
        Contender::of::<Flumes>("flume-unbounded", Unbounded, QUEUES),
        Contender::of::<Kanals>("kanal-bounded", Bounded, QUEUES),
        Contender::of::<Kanals>("kanal-unbounded", Unbounded, QUEUES),
        Contender::of::<StdBounded>("std-bounded", Bounded, QUEUES).one_consumer(),
        Contender::of::<StdUnbounded>("std-unbounded", Unbounded, QUEUES).one_consumer(),
        Contender::of::<CrossbeamDeques>("crossbeam-deque", Jobs, DEQUES),
        Contender { measure: tree_only!(tree::rayon_join), ..run("rayon-join", Jobs, TREE) },
        Contender { measure: tree_only!(tree::rayon_spawn), ..run("rayon-spawn", Jobs, TREE) },
    ]
}

/// A row of the summary: a contender, or one that another program has measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// What it promises.
    pub kind: Kind,
    /// Whether it is of this library.
    pub is_ours: bool,
}

impl Row {
    /// The row of a contender.
    pub fn of(contender: &Contender) -> Self {
        let Contender { name, kind, is_ours, .. } = *contender;
        Row { name: name.to_owned(), kind, is_ours }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::{self, Threads};
    use super::*;
    use crate::bench::queues::check::Wrong;
    use crate::bench::queues::items::STOP;
    use crate::bench::queues::seats::{Attempts, Retry};
    use crate::bench::setup::Pinning;
    use crate::bench::window::Times;
    use std::collections::VecDeque;
    use std::sync::Mutex;
    use std::time::Duration;

    fn run(contender: &Contender, case: &Case, ms: u64) -> Result<Figures, Failure> {
        let times = Times { warm_up: Duration::ZERO, measure: Duration::from_millis(ms) };
        contender.measure(&Order {
            method: contender.name,
            case,
            bounded: contender.kind == Kind::Bounded,
            in_order: contender.kind != Kind::Jobs,
            times,
            depth: Some(10),
            pinning: &Pinning::find(),
        })
    }

    fn case(name: &str, threads: usize) -> Case {
        let all = cases::all(&Threads::exactly(vec![threads]));
        all.into_iter().find(|case| case.name == name).unwrap()
    }

    #[test]
    fn every_contender_is_right_in_every_case_that_suits_it() {
        for contender in all() {
            for mut case in cases::all(&Threads::exactly(vec![1, 3])) {
                if matches!(case.load, Load::Backlog(_)) {
                    case.load = Load::Backlog(5000);
                }
                // Counting bytes disturbs other tests, and is disturbed by them.
                if contender.suits(&case) && case.group != Group::Bytes {
                    // On a busy machine threads may start only when the time is up.
                    let is_checked = [2, 20, 200, 2000]
                        .into_iter()
                        .any(|ms| run(&contender, &case, ms).unwrap().checked > 0);
                    assert!(is_checked, "{} in {}", contender.name, case.name);
                }
            }
        }
    }

    #[test]
    fn each_kind_of_ours_meets_its_peers() {
        let suits = |name: &str, case: &Case| {
            all().into_iter().find(|row| row.name == name).unwrap().suits(case)
        };
        assert!(suits("std-bounded", &case("open-1:1-1M", 4)));
        assert!(!suits("std-bounded", &case("open-1:3-1M", 4)), "it has one consumer");
        assert!(suits("queue-try", &case("fill-2", 1)) && !suits("queue", &case("fill-2", 1)));
        assert!(!suits("seg-queue", &case("fill-2", 1)), "it is never full");
        assert!(suits("rayon-join", &case("tree-20", 2)) && !suits("queue", &case("tree-20", 2)));
        assert!(
            suits("pool", &case("create-unbounded", 1)) && !suits("pool", &case("create-16", 1))
        );
    }

    /// A queue that does something wrong with every hundredth item.
    struct Broken<T, const WHAT: u32>(Mutex<(u64, VecDeque<T>)>);

    const LOST_AND_TWICE: u32 = 0;
    const REPLACED: u32 = 1;

    struct BrokenFamily<const WHAT: u32>;
    impl<const WHAT: u32> Family for BrokenFamily<WHAT> {
        type Of<T: Item> = Broken<T, WHAT>;
    }

    impl<T: Item, const WHAT: u32> Exchange<T> for Broken<T, WHAT> {
        type Seat<'a> = Retry<&'a Self>;

        fn build(_room: Option<usize>) -> Self {
            Broken(Mutex::default())
        }

        fn seat(&self, _pops: bool) -> Self::Seat<'_> {
            Retry(self)
        }
    }

    impl<T: Item, const WHAT: u32> Attempts<T> for &Broken<T, WHAT> {
        fn try_put(&mut self, item: T) -> Result<(), T> {
            let (count, items) = &mut *self.0.lock().unwrap();
            *count += 1;
            let value = item.value().unwrap_or(STOP);
            let is_hit = *count % 100 == 0 && value != STOP && value > 1;
            match WHAT {
                LOST_AND_TWICE if is_hit => items.push_back(T::of(value - 1)),
                REPLACED if is_hit => items.push_back(T::of(value + 1)),
                _ => items.push_back(item),
            }
            Ok(())
        }

        fn try_take(&mut self) -> Option<T> {
            self.0.lock().unwrap().1.pop_front()
        }
    }

    fn failure<const WHAT: u32>(name: &str, threads: usize) -> Wrong {
        let broken = Contender::of::<BrokenFamily<WHAT>>("broken", Kind::Unbounded, &Group::ALL);
        match run(&broken, &case(name, threads), 30) {
            Err(Failure::Wrong(wrong)) => wrong,
            other => panic!("not caught in {name}: {other:?}"),
        }
    }

    #[test]
    fn a_queue_that_loses_an_item_or_gives_it_twice_is_caught() {
        for name in ["burst-16", "push-pop", "backlog-1M"] {
            failure::<LOST_AND_TWICE>(name, 1);
            failure::<REPLACED>(name, 1);
        }
        for name in ["stream-8", "open-1:1-100k", "pairs-0", "pairs-untimed"] {
            failure::<LOST_AND_TWICE>(name, 2);
            failure::<REPLACED>(name, 2);
        }
        failure::<LOST_AND_TWICE>("pipeline-1", 3);
    }

    #[test]
    fn a_queue_that_takes_more_than_fits_is_caught() {
        let broken = Contender::of::<BrokenFamily<9>>("broken", Kind::Bounded, &Group::ALL);
        let Err(Failure::Wrong(wrong)) = run(&broken, &case("fill-2", 1), 1) else {
            panic!("not caught")
        };
        assert_eq!(wrong, Wrong::Room { capacity: 2 });
    }
}
