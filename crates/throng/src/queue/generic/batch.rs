//! Popping several items with one ticket draw.

use super::Queue;
use crate::error::PopError;
use crate::machine::{Machine, WayOut};

impl<T, M: Machine> Queue<T, M> {
    /// Pops up to `most` items in order, and appends them to `items`. Returns the number of items
    /// popped. Never waits.
    ///
    /// Items whose slots are full are drawn by one compare-exchange for each ring. An item that is
    /// not in place yet is popped alone, by the rules of [`try_pop_on`](Queue::try_pop_on).
    ///
    /// # Errors
    /// [`PopError::Empty`] if the queue is empty or `most` is 0; [`PopError::Closed`] if it is also
    /// closed.
    pub fn try_pop_many_on(
        &self,
        cpu: &M::Cpu,
        items: &mut Vec<T>,
        most: usize,
    ) -> Result<usize, PopError> {
        let mut popped = 0;
        let mut end = PopError::Empty;
        while popped < most {
            popped += match self.pop_full(items, most - popped) {
                0 => match self.try_pop_on(cpu) {
                    Ok(item) => {
                        items.push(item);
                        1
                    }
                    Err(error) => {
                        end = error;
                        break;
                    }
                },
                full => full,
            };
        }
        if popped == 0 { Err(end) } else { Ok(popped) }
    }

    /// Like [`try_pop_many_on`](Queue::try_pop_many_on), but waits for the first item until the way
    /// out opens.
    ///
    /// # Errors
    /// If the way out opened, or the queue is empty and closed; also if `most` is 0.
    pub fn pop_many_on(
        &self,
        cpu: &M::Cpu,
        items: &mut Vec<T>,
        most: usize,
        way_out: &WayOut<'_, M>,
    ) -> Result<usize, PopError> {
        match self.try_pop_many_on(cpu, items, most) {
            Err(PopError::Empty) if most > 0 => {
                items.push(self.pop_on(cpu, way_out)?);
                Ok(1 + self.try_pop_many_on(cpu, items, most - 1).unwrap_or(0))
            }
            result => result,
        }
    }

    /// Pops the items at the head whose slots are full, up to `most`, from one ring. Returns the
    /// number of items popped.
    fn pop_full(&self, items: &mut Vec<T>, most: usize) -> usize {
        loop {
            let (head, ring) = (self.head(), self.front());
            // A ring has `len` slots; the look after that would come to the first one again.
            let tickets = (0..most.min(ring.len()) as i64).map(|i| head.next().plus(i));
            let seats =
                tickets.take_while(|ticket| ring.holds(*ticket)).map(|ticket| ring.seat(ticket));
            let full = seats.take_while(|seat| seat.is_full()).count();
            if full == 0 {
                return 0;
            }
            // Before the draw, so that no item is lost if the allocation fails.
            items.reserve(full);
            if !self.draw_pops_from(head, full) {
                continue;
            }
            if head.producers_sleep() {
                self.wake_producers(full as u64);
            }
            for i in 0..full as i64 {
                // SAFETY: the ticket was drawn to pop with. The slot was full, and only the consumer of a ticket that has
                // been drawn empties a slot.
                items.push(unsafe { self.take(ring.seat(head.next().plus(i))) });
            }
            return full;
        }
    }
}
