//! The state of a run after one of its steps: values, tokens, heat.

use throng_sim::Operation;

use super::recording::{Recording, Step};

/// Heat is the share of a word in the time of this many steps for each processor.
const HEAT_STEPS: usize = 8;

/// What a processor is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It is outside, between two calls.
    Outside,
    /// Its access takes effect in this step.
    Acting,
    /// It has issued an access that has yet to take effect.
    Coming,
    /// It has looked at a word and will look at it again.
    Waiting,
    /// It pauses.
    Pausing,
}

/// A processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is doing.
    pub doing: Doing,
    /// Its last step.
    pub last: Option<usize>,
    /// Its next step.
    pub next: Option<usize>,
    /// If it waits: the processor whose write ends the wait.
    pub waits_for: Option<usize>,
    /// The value of its last call that has ended.
    pub returned: Option<u64>,
}

/// The state after a step.
#[derive(Clone, Debug)]
pub struct Moment<'a> {
    /// The run.
    pub recording: &'a Recording,
    /// The step.
    pub step: usize,
    /// The value of each word, or that which its first access will find.
    pub values: Vec<Option<u64>>,
    /// The processors.
    pub tokens: Vec<Token>,
    /// The heat of each word, from 0 to 1.
    pub heat: Vec<f64>,
}

impl<'a> Moment<'a> {
    /// Returns the state after step `step`, or after the last one.
    pub fn of(recording: &'a Recording, step: usize) -> Self {
        let step = step.min(recording.last());
        let mut values = vec![None; recording.words.len()];
        for later in recording.steps.iter().rev() {
            values[later.word] = Some(later.found);
        }
        for done in recording.steps.iter().take(step + 1) {
            values[done.word] = Some(done.value());
        }
        let tokens = (0..recording.choice.processors).map(|id| token(recording, step, id));
        let tokens = tokens.collect();
        Moment { recording, step, values, tokens, heat: heat(recording, step) }
    }

    /// Returns the step itself, if there are any.
    pub fn now(&self) -> Option<&'a Step> {
        self.recording.steps.get(self.step)
    }

    /// Returns the value of a word.
    pub fn value(&self, word: usize) -> Option<u64> {
        self.values[word]
    }
}

fn token(recording: &Recording, step: usize, id: usize) -> Token {
    let steps = &recording.steps;
    let now = steps.get(step).map_or(0, |step| step.time);
    let done = &steps[..steps.len().min(step + 1)];
    let last = done.iter().rposition(|step| step.processor == id);
    let next = match last {
        Some(last) => recording.next_of(last),
        None => steps.iter().position(|step| step.processor == id),
    };
    let is_coming = next.is_some_and(|next| steps[next].issued <= now);
    let is_outside = last.is_none_or(|last| last != step && recording.ends_call(last));
    let looks_again = |last: usize, next: usize| {
        let (before, after) = (&steps[last], &steps[next]);
        before.word == after.word
            && before.operation == Operation::Load
            && after.operation == Operation::Load
            && before.call == after.call
    };
    let is_waiting =
        last.zip(next).is_some_and(|(last, next)| looks_again(last, next) && last != step);
    let doing = match last {
        Some(last) if last == step => Doing::Acting,
        _ if is_waiting => Doing::Waiting,
        _ if is_coming => Doing::Coming,
        _ if is_outside => Doing::Outside,
        _ => Doing::Pausing,
    };
    let waits_for = last.filter(|_| doing == Doing::Waiting).and_then(|last| {
        // Looks that change nothing are part of the wait.
        let mut look = last;
        while let Some(next) = recording.next_of(look).filter(|&next| looks_again(look, next)) {
            look = next;
        }
        let awaited = steps[look].word;
        let writes = |step: &&Step| step.word == awaited && step.written.is_some();
        steps[step.min(look)..look].iter().rev().find(writes).map(|step| step.processor)
    });
    let is_its = |call: &&super::recording::Call| call.processor == id;
    let ended = recording.calls.iter().filter(is_its);
    let mut ended = ended.filter(|call| call.end.is_some_and(|end| end <= now));
    Token { doing, last, next, waits_for, returned: ended.next_back().map(|call| call.value) }
}

/// Returns, for each word, its share in the time that the last steps took.
fn heat(recording: &Recording, step: usize) -> Vec<f64> {
    let span = HEAT_STEPS * recording.choice.processors;
    let end = recording.steps.len().min(step + 1);
    let recent = &recording.steps[end.saturating_sub(span)..end];
    let mut heat = vec![0.0; recording.words.len()];
    for step in recent {
        heat[step.word] += step.cost() as f64;
    }
    let all: f64 = recent.iter().map(|step| step.cost() as f64).sum();
    heat.iter_mut().for_each(|heat| *heat /= all.max(1.0));
    heat
}
