//! A forced push that pops and pushes until there is room. In between another push may take the
//! room. Then a second item is taken out, and the first one is lost.

use throng::machine::Machine;
use throng::structures::pool::{PushError, Queue, QueueShape};
use throng_check::workload::{ForcePush, ForcedQueue, Parcel};

struct PopsThenPushes<M: Machine>(Queue<Parcel, M>);

impl<M: Machine> ForcePush<M> for PopsThenPushes<M> {
    fn force_push_on(&self, cpu: &M::Cpu, mut item: Parcel) -> Option<Parcel> {
        let mut oldest = None;
        while let Err(back) = self.0.try_push_on(cpu, item) {
            item = back.into_inner();
            oldest = self.0.try_pop_on(cpu).ok().or(oldest);
        }
        oldest
    }

    fn try_push_on(&self, cpu: &M::Cpu, item: Parcel) -> Result<(), Parcel> {
        self.0.try_push_on(cpu, item).map_err(PushError::into_inner)
    }

    fn try_pop_on(&self, cpu: &M::Cpu) -> Option<Parcel> {
        self.0.try_pop_on(cpu).ok()
    }
}

pub(crate) fn pops_then_pushes<M: Machine>(capacity: usize, processors: usize) -> ForcedQueue<M> {
    let queue = Queue::on_machine(QueueShape::tiny(Some(capacity), 0)).expect("a capacity above 0");
    ForcedQueue::over(Box::new(PopsThenPushes(queue)), capacity, processors)
}
