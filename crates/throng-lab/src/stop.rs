//! Ctrl-C: the first one ends a measurement in good order, the second one at once.

use std::process;
use std::sync::Once;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

/// Tells whether Ctrl-C was pressed.
#[derive(Debug)]
pub(crate) struct Stop(());

static WANTED: AtomicBool = AtomicBool::new(false);

impl Stop {
    /// Listens from now on. Where that is not possible, Ctrl-C ends the program at once, as usual.
    pub(crate) fn listen() -> Self {
        static LISTENING: Once = Once::new();
        LISTENING.call_once(|| {
            let _ = ctrlc::set_handler(|| {
                const INTERRUPTED: i32 = 130;
                if WANTED.swap(true, SeqCst) {
                    process::exit(INTERRUPTED);
                }
            });
        });
        Stop(())
    }

    pub(crate) fn is_wanted(&self) -> bool {
        WANTED.load(SeqCst)
    }
}
