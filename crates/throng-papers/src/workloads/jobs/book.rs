//! What happened to each job of a run.

use super::Job;

/// The records of a run. Keeping them costs no simulated time.
#[derive(Debug, Default)]
pub(super) struct Book {
    /// For each job, by its serial: whether it was taken out.
    taken: Vec<bool>,
    taken_count: u64,
    done_count: u64,
    /// The first error.
    wrong: Option<String>,
    /// When the last job that counts was done.
    pub(super) finished_at: Option<u64>,
    pub(super) solutions: u64,
    /// Cycles of all calls that put a job in, and of all calls that took one out.
    pub(super) put_cycles: u64,
    pub(super) take_cycles: u64,
}

impl Book {
    /// Records a new job, which is about to be put in.
    pub(super) fn make(&mut self, content: u64) -> Job {
        self.taken.push(false);
        Job { serial: self.taken.len() as u64 - 1, content }
    }

    /// Records that a job was taken out.
    pub(super) fn take(&mut self, job: Job) {
        let Job { serial, .. } = job;
        match self.taken.get_mut(serial as usize) {
            Some(taken) if !*taken => {
                *taken = true;
                self.taken_count += 1;
            }
            Some(_) => self.go_wrong(format!("job {serial} was taken twice")),
            None => self.go_wrong(format!("job {serial} was taken, but never put in")),
        }
    }

    fn go_wrong(&mut self, what: String) {
        self.wrong.get_or_insert(what);
    }

    /// Records that a job that was taken out is done.
    pub(super) fn finish(&mut self) {
        self.done_count += 1;
    }

    pub(super) fn made(&self) -> u64 {
        self.taken.len() as u64
    }

    pub(super) fn done(&self) -> u64 {
        self.done_count
    }

    /// Returns whether an error was recorded. Such a run need not be waited for.
    pub(super) fn is_wrong(&self) -> bool {
        self.wrong.is_some()
    }

    /// Checks that every job was created once, taken once, and done.
    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(wrong) = &self.wrong {
            return Err(wrong.clone());
        }
        if let Some(lost) = self.taken.iter().position(|taken| !taken) {
            return Err(format!("job {lost} was never taken, {} jobs done", self.done_count));
        }
        if self.done_count != self.taken_count {
            let (done, taken) = (self.done_count, self.taken_count);
            return Err(format!("{taken} jobs taken, {done} jobs done"));
        }
        Ok(())
    }
}
