//! The common part of both checkers: a machine whose words are their atomics, one operation for
//! one.

/// Makes `$machine` a [`Machine`](throng::machine::Machine) with words around a checker's
/// `AtomicU64`.
///
/// `AtomicU64`, `fence` and `thread` must be in scope: those of the checker. More functions of the machine may follow.
macro_rules! machine_of_checker {
    ($machine:ident, $word:ident, $cell:ident, $cpu:ident $(, $fences:item)*) => {
        // SAFETY: words are the checker's atomics, waits end only when they may, and `explore`
        // numbers the processors.
        unsafe impl Machine for $machine {
            type Word = $word;
            type Cell<T: Send> = $cell<T>;
            type Cpu = $cpu;
            type Spot = ();

            fn spot(_place: Place) {}

            fn fence(order: Ordering) {
                fence(order);
            }

            $($fences)*
        }

        /// A word: the checker's atomic.
        #[derive(Debug)]
        pub struct $word(AtomicU64);

        impl Word<$machine> for $word {
            fn new(value: u64, _spot: &()) -> Self {
                $word(AtomicU64::new(value))
            }

            fn load(&self, order: Ordering) -> u64 {
                self.0.load(order)
            }

            fn store(&self, value: u64, order: Ordering) {
                self.0.store(value, order);
            }

            fn swap(&self, value: u64, order: Ordering) -> u64 {
                self.0.swap(value, order)
            }

            fn compare_exchange(
                &self,
                current: u64,
                new: u64,
                success: Ordering,
                failure: Ordering,
            ) -> Result<u64, u64> {
                self.0.compare_exchange(current, new, success, failure)
            }

            fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
                self.0.fetch_add(value, order)
            }

            fn fetch_sub(&self, value: u64, order: Ordering) -> u64 {
                self.0.fetch_sub(value, order)
            }

            fn fetch_or(&self, value: u64, order: Ordering) -> u64 {
                self.0.fetch_or(value, order)
            }

            fn fetch_and(&self, value: u64, order: Ordering) -> u64 {
                self.0.fetch_and(value, order)
            }

            fn wait_while(
                &self,
                _cpu: &$cpu,
                order: Ordering,
                mut blocked: impl FnMut(u64) -> bool,
            ) -> u64 {
                loop {
                    let value = self.0.load(order);
                    if !blocked(value) {
                        return value;
                    }
                    thread::yield_now();
                }
            }

            fn sleep_while(
                &self,
                cpu: &$cpu,
                order: Ordering,
                way_out: &WayOut<'_, $machine>,
                mut blocked: impl FnMut(u64) -> bool,
            ) -> Option<u64> {
                for look in 0.. {
                    let value = self.0.load(order);
                    if !blocked(value) {
                        return Some(value);
                    }
                    if way_out.is_open(cpu) {
                        // The way out may have been opened after the event.
                        let value = self.0.load(order);
                        return (!blocked(value)).then_some(value);
                    }
                    cpu.look_again(look);
                }
                unreachable!("no wait looks that often")
            }

            fn spin_while(
                &self,
                _cpu: &$cpu,
                polls: u32,
                order: Ordering,
                mut blocked: impl FnMut(u64) -> bool,
            ) -> u64 {
                let mut value = self.0.load(order);
                for _ in 1..polls {
                    if !blocked(value) {
                        break;
                    }
                    value = self.0.load(order);
                }
                value
            }
        }
    };
}

pub(super) use machine_of_checker;
