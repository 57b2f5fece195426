//! Queues of every size: alone against a deque, and under every load.

use std::collections::VecDeque;

use proptest::prelude::*;
use throng::machine::{Cpu, Native, WayOut};
use throng::structures::pool::{PopError, PushError, Queue};
use throng_check::workload::{Kind, ObservedQueue, Step, kinds, queue_shape};
use throng_sim::{End, Faults, Sim, SimCpu, Simulation};

/// A call of a queue.
#[derive(Clone, Copy, Debug)]
enum Ask {
    TryPush,
    /// Waits for a microsecond.
    PushFor,
    TryPop,
    PopFor,
    Close,
}

fn asks() -> impl Strategy<Value = Ask> {
    prop_oneof![
        40 => Just(Ask::TryPush),
        4 => Just(Ask::PushFor),
        30 => Just(Ask::TryPop),
        4 => Just(Ask::PopFor),
        1 => Just(Ask::Close),
    ]
}

fn capacities() -> impl Strategy<Value = Option<usize>> {
    prop::option::of(prop_oneof![1_usize..5, 5_usize..40])
}

/// A model of a queue that is used by one processor.
#[derive(Default)]
struct Model {
    items: VecDeque<u64>,
    capacity: Option<usize>,
    closed: bool,
}

impl Model {
    fn push(&mut self, item: u64) -> Result<(), PushError<u64>> {
        if self.closed {
            return Err(PushError::Closed(item));
        }
        if self.capacity.is_some_and(|capacity| self.items.len() >= capacity) {
            return Err(PushError::Full(item));
        }
        self.items.push_back(item);
        Ok(())
    }

    fn pop(&mut self) -> Result<u64, PopError> {
        let nothing = if self.closed { PopError::Closed } else { PopError::Empty };
        self.items.pop_front().ok_or(nothing)
    }
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => Just(Step::TryPush),
        5 => (0_u64..500).prop_map(Step::PushFor),
        20 => Just(Step::TryPop),
        10 => (1_usize..6).prop_map(Step::TryPopMany),
        5 => (0_u64..500).prop_map(Step::PopFor),
        1 => Just(Step::Close),
        5 => (0_u32..500).prop_map(Step::Pause),
    ]
}

fn kind(index: usize) -> Kind<Sim> {
    let all = kinds();
    all[index % all.len()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    /// For one processor a queue is a deque with a bound and an end; over many pieces of memory,
    /// too.
    #[test]
    fn a_queue_is_a_deque(
        capacity in capacities(),
        block in 0_usize..6,
        asks in prop::collection::vec(asks(), 0..300),
    ) {
        let (cpu, mut model) = (Native::cpu(), Model { capacity, ..Model::default() });
        let queue = Queue::<u64, Native>::on_machine(queue_shape(capacity, block)).unwrap();
        let soon = || WayOut::within(&cpu, 1000);
        for (number, ask) in (0..).zip(asks) {
            match ask {
                Ask::TryPush => {
                    prop_assert_eq!(queue.try_push_on(&cpu, number), model.push(number));
                }
                Ask::PushFor => {
                    prop_assert_eq!(queue.push_on(&cpu, number, &soon()), model.push(number));
                }
                Ask::TryPop => prop_assert_eq!(queue.try_pop_on(&cpu), model.pop()),
                Ask::PopFor => prop_assert_eq!(queue.pop_on(&cpu, &soon()), model.pop()),
                Ask::Close => {
                    prop_assert_eq!(queue.close_on(&cpu), !model.closed);
                    model.closed = true;
                }
            }
            prop_assert_eq!(queue.len(), model.items.len());
            prop_assert_eq!(queue.is_empty(), model.items.is_empty());
            prop_assert_eq!(queue.is_closed(), model.closed);
            prop_assert_eq!(queue.capacity(), capacity);
        }
    }

    /// Holds for any programs and any disturbance.
    #[test]
    fn any_programs_are_served(
        index in 0_usize..100,
        capacity in capacities(),
        block in 1_usize..6,
        programs in prop::collection::vec(prop::collection::vec(steps(), 1..12), 1..8),
        seed: u64,
        delay_one_in in 1_u32..30,
        stalls in 0_usize..8,
    ) {
        let (kind, processors) = (kind(index), programs.len());
        let may = move |step: &Step| kind.can.be_closed || *step != Step::Close;
        let faults = Faults::none()
            .random_delays(delay_one_in, 500)
            .random_stalls(stalls, 60, 10_000);
        let outcome = Simulation::new()
            .processors(processors)
            .seed(seed)
            .faults(faults)
            .run(
                move || ObservedQueue::ticking(&kind, capacity, block, processors),
                move |observed, cpu| {
                    let program: Vec<Step> =
                        programs[cpu.id()].iter().copied().filter(may).collect();
                    observed.perform(cpu, cpu.id(), &program);
                },
            )
            .unwrap();
        prop_assert_eq!(outcome.end, End::Finished, "{}", kind.name);
        outcome.shared.settle(&SimCpu::outside(0));
    }
}
