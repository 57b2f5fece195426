//! Samples a world a few times a second and keeps the text that viewers are shown. It is made once
//! for all viewers, so their number makes no difference.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::state::{About, Load, Snapshot, World};
use super::words::Words;

/// Time between two samples.
pub const TICK: Duration = Duration::from_millis(200);

/// Number of samples kept: one minute.
const REMEMBERED: usize = 300;

/// The last minute, and the text that viewers are shown now.
pub struct Sampler {
    world: Arc<dyn World>,
    began: Instant,
    past: Mutex<Past>,
    shown: Mutex<Arc<str>>,
}

#[derive(Debug, Default, Serialize)]
struct Past {
    /// Times of the samples, in milliseconds since the beginning.
    at_ms: VecDeque<u64>,
    per_second: VecDeque<u64>,
    depth: VecDeque<usize>,
    callers: VecDeque<usize>,
}

/// The text that viewers are shown.
#[derive(Serialize)]
struct Shown<'a> {
    at_ms: u64,
    about: &'a About,
    load: Load,
    words: Words,
    seen: &'a Snapshot,
    past: &'a Past,
}

impl Sampler {
    /// Returns a sampler of this world, with a first sample.
    pub fn new(world: Arc<dyn World>) -> Self {
        let sampler = Sampler {
            world,
            began: Instant::now(),
            past: Mutex::default(),
            shown: Mutex::new(Arc::from("")),
        };
        sampler.look();
        sampler
    }

    /// Returns the world.
    pub fn world(&self) -> &dyn World {
        &*self.world
    }

    /// Returns the last sample as JSON.
    pub fn shown(&self) -> Arc<str> {
        Arc::clone(&self.shown.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes a sample of the world.
    pub fn look(&self) {
        let (seen, load) = (self.world.snapshot(), self.world.load());
        let at_ms = self.began.elapsed().as_millis() as u64;
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        past.add(at_ms, load, &seen);
        let about = self.world.about();
        let words = Words::of(about, load, &seen);
        let shown = Shown { at_ms, about, load, words, seen: &seen, past: &past };
        let json = serde_json::to_string(&shown).expect("numbers and texts can always be written");
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Arc::from(json);
    }
}

impl Past {
    fn add(&mut self, at_ms: u64, load: Load, seen: &Snapshot) {
        if self.at_ms.len() == REMEMBERED {
            self.at_ms.pop_front();
            self.per_second.pop_front();
            self.depth.pop_front();
            self.callers.pop_front();
        }
        self.at_ms.push_back(at_ms);
        self.per_second.push_back(seen.per_second.round() as u64);
        self.depth.push_back(seen.groups_of.len());
        self.callers.push_back(load.callers);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::state::tests::{LOAD, about};
    use super::*;
    use crate::error::Error;

    /// A world in which nothing happens.
    pub(in crate::watch) struct Still {
        about: About,
        load: Mutex<Load>,
    }

    impl Still {
        pub(in crate::watch) fn new() -> Arc<Self> {
            Arc::new(Still { about: about(false), load: Mutex::new(LOAD) })
        }
    }

    impl World for Still {
        fn about(&self) -> &About {
            &self.about
        }
        fn load(&self) -> Load {
            *self.load.lock().unwrap()
        }
        fn set_load(&self, load: Load) {
            *self.load.lock().unwrap() = load;
        }
        fn snapshot(&self) -> Snapshot {
            Snapshot { per_second: 5.0, ..Snapshot::default() }
        }
        fn stop(&self) -> Result<(), Error> {
            Ok(())
        }
    }

    #[test]
    fn a_minute_is_remembered_and_no_more() {
        let sampler = Sampler::new(Still::new());
        (0..2 * REMEMBERED).for_each(|_| sampler.look());
        let shown: serde_json::Value = serde_json::from_str(&sampler.shown()).unwrap();
        for list in ["at_ms", "per_second", "depth", "callers"] {
            assert_eq!(shown["past"][list].as_array().unwrap().len(), REMEMBERED, "{list}");
        }
        assert_eq!(shown["load"]["callers"], 2);
        assert_eq!(shown["seen"]["per_second"], 5.0);
        assert!(shown["words"]["headline"].as_str().unwrap().starts_with("One word: 2 threads"));
    }

    #[test]
    fn all_viewers_are_given_the_same_text() {
        let sampler = Sampler::new(Still::new());
        assert!(Arc::ptr_eq(&sampler.shown(), &sampler.shown()), "it is not made again");
    }
}
