//! Looking for a job in the leaves of all processors.

use super::Pool;
use super::leaf::{Leaf, NoJob, Own, Steal};
use crate::machine::{Cpu, Machine};

/// How certain a search is that there is no job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nothing {
    /// Each leaf was empty, or in use, when it was looked at.
    IsLikely,
    /// All leaves were empty at the same time.
    IsSure,
    /// All leaves were empty at the same time, and no push was in progress.
    AndNoPush,
}

/// The result of a search.
pub(super) enum Found<T> {
    Job(T),
    /// All leaves were empty, with the certainty that was asked for.
    Nothing,
    /// All leaves were empty at the same time, and there will be no more jobs.
    Closed,
}

impl<T, M: Machine> Pool<T, M> {
    /// Looks at the leaf whose turn it is. Takes its oldest job if that was the oldest at the last
    /// look as well.
    pub(super) fn take_turn(&self, own: &mut Own<T, M>, home: &Leaf<T, M>) -> Option<T> {
        let id = own.turn.leaf;
        let leaf = self.leaves.iter_from(id).next()?;
        let taken = leaf.oldest_taken();
        let Some(seen) = own.turn.seen else {
            own.turn.seen = Some(taken);
            own.turn.pops_left = self.shape.turn_every;
            return None;
        };
        let job = if seen != taken {
            None
        } else {
            match leaf.steal(own, home, 0) {
                Steal::Job { job, .. } => Some(job),
                Steal::Empty(_) => None,
                // The next pop looks again.
                Steal::Busy => return None,
            }
        };
        own.turn.leaf = self.leaves.id_after(id);
        own.turn.seen = None;
        own.turn.pops_left = self.shape.turn_every;
        job
    }

    /// Looks at all leaves until it has a job, or knows with the certainty `nothing` that there is
    /// none.
    #[cold]
    pub(super) fn search(&self, cpu: &M::Cpu, home: &Leaf<T, M>, nothing: Nothing) -> Found<T> {
        for round in 0.. {
            let state = self.idle.state();
            let is_closed = state.is_closing();
            if is_closed && !state.is_closed() {
                // A push may have failed already, so "empty" is not a correct answer any more.
                self.end_close(cpu);
            }
            let mut puts = 0_u64;
            let look_at_all = |own: &mut Own<T, M>| {
                let mut is_sure = true;
                for leaf in self.leaves.iter_from(own.found_at) {
                    let look = match self.take_from(cpu, own, home, leaf) {
                        Steal::Job { job, moved } => return Ok((job, moved)),
                        Steal::Empty(look) => look,
                        Steal::Busy => {
                            is_sure = false;
                            continue;
                        }
                    };
                    puts = puts.wrapping_add(look.puts);
                    is_sure &= nothing != Nothing::AndNoPush || !look.is_pushing;
                }
                Err(is_sure)
            };
            // SAFETY: `home` is the leaf of `cpu`, and `take_from` does not ask for what it owns.
            let is_sure = match unsafe { home.with_own(look_at_all) } {
                Ok((job, moved)) => {
                    // Sleepers have not seen the moved jobs.
                    if moved > 0 && self.idle.state().has_sleepers() {
                        self.wake_one(cpu);
                    }
                    return Found::Job(job);
                }
                Err(is_sure) => is_sure,
            };
            if nothing == Nothing::IsLikely && !is_closed {
                return Found::Nothing;
            }
            // Puts only grow. If their sum has not changed, no job came, not even to a new leaf,
            // and all leaves were empty when the last one was looked at. If the pool is being
            // closed by now, the next round will say so, unless it finds a job.
            if is_sure {
                let again = self
                    .leaves
                    .iter()
                    .fold(0, |puts: u64, leaf| puts.wrapping_add(leaf.look().puts));
                if again == puts && self.idle.state().is_closing() == is_closed {
                    return if is_closed { Found::Closed } else { Found::Nothing };
                }
            }
            cpu.retry(round);
        }
        unreachable!("rounds do not end")
    }

    /// Takes a job from `leaf`, and moves others to `home`.
    fn take_from(
        &self,
        cpu: &M::Cpu,
        own: &mut Own<T, M>,
        home: &Leaf<T, M>,
        leaf: &Leaf<T, M>,
    ) -> Steal<T> {
        if leaf.id() != home.id() {
            if self.shape.most_moved > 0 && leaf.look().jobs > 1 {
                home.have_room(cpu, own);
            }
            let steal = leaf.steal(own, home, self.shape.most_moved);
            if let Steal::Job { .. } = steal {
                own.found_at = leaf.id();
            }
            return steal;
        }
        let look = home.look();
        match () {
            () if look.is_locked => Steal::Busy,
            () if look.jobs == 0 => Steal::Empty(look),
            () => {
                let job = match home.pop(own) {
                    Ok(job) => Some(job),
                    Err(NoJob::Contended) => home.pop_contended(cpu, own),
                    Err(NoJob::Empty) => None,
                };
                job.map_or(Steal::Busy, |job| Steal::Job { job, moved: 0 })
            }
        }
    }
}
