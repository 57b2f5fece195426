//! The types that stand in for crossbeam's.

use throng::drop_in;

use crate::bench::queues::items::Item;
use crate::bench::queues::seats::{Attempts, Exchange, Retry};

impl<T: Item> Exchange<T> for drop_in::ArrayQueue<T> {
    type Seat<'a> = Retry<&'a Self>;

    fn build(room: Option<usize>) -> Self {
        drop_in::ArrayQueue::new(room.expect("this row is listed with a bound"))
    }

    fn seat(&self, _pops: bool) -> Retry<&Self> {
        Retry(self)
    }
}

impl<T: Item> Attempts<T> for &drop_in::ArrayQueue<T> {
    #[inline(always)]
    fn try_put(&mut self, item: T) -> Result<(), T> {
        self.push(item)
    }

    #[inline(always)]
    fn try_take(&mut self) -> Option<T> {
        self.pop()
    }
}

impl<T: Item> Exchange<T> for drop_in::SegQueue<T> {
    type Seat<'a> = Retry<&'a Self>;

    fn build(_room: Option<usize>) -> Self {
        drop_in::SegQueue::new()
    }

    fn seat(&self, _pops: bool) -> Retry<&Self> {
        Retry(self)
    }
}

impl<T: Item> Attempts<T> for &drop_in::SegQueue<T> {
    #[inline(always)]
    fn try_put(&mut self, item: T) -> Result<(), T> {
        self.push(item);
        Ok(())
    }

    #[inline(always)]
    fn try_take(&mut self) -> Option<T> {
        self.pop()
    }
}
