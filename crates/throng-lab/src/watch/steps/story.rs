//! A step in words.

use throng_sim::Operation;

use super::choice::{REACTIVE, Structure};
use super::layout::Layout;
use super::looks::Look;
use super::moment::{Doing, Moment};
use super::recording::{Recording, Step};

/// Returns a sentence about the step of a moment.
pub fn sentence(moment: &Moment<'_>, layout: &Layout) -> String {
    let Some(step) = moment.now() else { return "Nothing happens.".to_owned() };
    let recording = moment.recording;
    let mut text = format!("Processor {} ", step.processor);
    text.push_str(
        &own_words(recording, moment.step).unwrap_or_else(|| plain(recording, layout, step)),
    );
    let woken = woken(moment);
    if !woken.is_empty() {
        text.push_str(&format!("; this wakes {}", list(&woken)));
    }
    if recording.ends_call(moment.step) {
        let value = recording.calls[step.call].value;
        text.push_str(&match recording.choice.structure {
            Structure::Counter(_) => format!("; its call returns {value}"),
            Structure::Barrier(_) => format!("; it leaves round {value}"),
        });
    }
    text.push('.');
    text
}

/// Returns the processors whose wait the step of a moment ends.
pub fn woken(moment: &Moment<'_>) -> Vec<usize> {
    let Some(step) = moment.now().filter(|step| step.written.is_some()) else { return Vec::new() };
    let steps = &moment.recording.steps;
    let is_woken = |token: &super::moment::Token| {
        token.doing == Doing::Waiting
            && token.waits_for == Some(step.processor)
            && token.last.is_some_and(|last| steps[last].word == step.word)
            && token.next.is_some_and(|next| {
                let between = &steps[moment.step + 1..next];
                !between.iter().any(|later| later.word == step.word && later.written.is_some())
            })
    };
    let tokens = moment.tokens.iter().enumerate();
    tokens.filter(|(_, token)| is_woken(token)).map(|(id, _)| id).collect()
}

/// Returns the steps at which something happens that a reader looks for: tokens meet, nodes fold or unfold, members wake.
pub fn events(recording: &Recording) -> Vec<usize> {
    let is_event = |step: &Step| {
        let word = &recording.words[step.word];
        let is_changed = step.written.is_some_and(|written| written != step.found);
        match word.name {
            "location" => {
                step.operation == Operation::CompareExchange
                    && is_changed
                    && word.index != Some(step.processor)
            }
            "node state" | "link" | "mode" => is_changed,
            "combining node" => {
                let is_locked = recording.find(word.name, word.index, 3).is_some();
                is_changed && word.part == usize::from(is_locked) && step.value() == 2
            }
            "main" | "total" | "root" => is_changed && step.value() > step.found + 1,
            "bell" | "arrivals" | "over" | "group is here" | "signals" => is_changed,
            _ => false,
        }
    };
    let steps = recording.steps.iter().enumerate();
    steps.filter(|(_, step)| is_event(step)).map(|(index, _)| index).collect()
}

/// Returns what the step means for the structure, if that is known.
fn own_words(recording: &Recording, at: usize) -> Option<String> {
    let step = &recording.steps[at];
    let word = &recording.words[step.word];
    let index = word.index.unwrap_or_default();
    let Step { operation, found, written, processor, .. } = *step;
    let is_own = index == processor;
    let side = |count: u64| if count & 1 == 0 { "left" } else { "right" };
    Some(match (word.name, operation) {
        ("prism", Operation::Swap) => match found {
            0 => format!("writes its id into the prism of node {index}, and finds the slot empty"),
            _ if found == processor as u64 + 1 => {
                format!("finds its own id in the prism of node {index}")
            }
            _ => format!(
                "writes its id into the prism of node {index}, and finds processor {} there",
                found - 1
            ),
        },
        ("location", Operation::Store) if step.value() != 0 => {
            format!("is at node {} now, and can be met there", step.value() & 0xffff_ffff)
        }
        ("location", Operation::CompareExchange) => match (is_own, written.is_some()) {
            (true, true) => "withdraws, so that no other can diffract it".to_owned(),
            (true, false) => "finds that a partner has diffracted it: it goes right".to_owned(),
            (false, true) => {
                format!("meets processor {index}: it goes left, processor {index} goes right")
            }
            (false, false) => format!("comes too late: processor {index} is gone"),
        },
        ("location", Operation::Load) if is_own && found == 0 => {
            "sees that a partner has diffracted it: it goes right".to_owned()
        }
        ("location", Operation::Load) if is_own => {
            format!("waits for a partner at node {}", found & 0xffff_ffff)
        }
        ("toggle", Operation::FetchAdd) => {
            format!("flips toggle {index}: it goes {}", side(found))
        }
        ("toggle", Operation::Store) if word.part == 1 => {
            format!("flips the toggle of node {index}: it goes {}", side(found))
        }
        ("toggle", _) if word.part == 0 && is_locked_toggle(recording, index) => {
            match (operation, written) {
                (Operation::CompareExchange, Some(_)) => {
                    format!("takes the lock of toggle {index}")
                }
                (Operation::Store, _) => format!("frees the lock of toggle {index}"),
                _ if found == 0 => format!("sees that the lock of toggle {index} is free"),
                _ => format!("finds the lock of toggle {index} taken"),
            }
        }
        ("leaf" | "output", Operation::FetchAdd) => {
            format!("takes {found} from {} {index}", word.name)
        }
        ("node state", Operation::Store) => {
            let role = Look::Role.show(written).text;
            let before = Look::Role.show(Some(found)).text;
            match (before.as_str(), role.as_str()) {
                ("counts", "balances") => format!("unfolds node {index}: it balances from now on"),
                ("balances", "counts") => format!("folds node {index}: it counts from now on"),
                _ if role == "off" => format!("switches node {index} off"),
                _ => format!("changes node {index}: it {role} from now on"),
            }
        }
        ("guarded value", _) => {
            let waited = waited(recording, at)?;
            let verdict = if waited > REACTIVE.unfold_above {
                format!(", longer than {}: crowded", REACTIVE.unfold_above)
            } else if waited < REACTIVE.fold_below {
                format!(", less than {}: idle", REACTIVE.fold_below)
            } else {
                String::new()
            };
            format!("holds the counter's lock, {waited} cycles after it asked{verdict}")
        }
        ("link", Operation::Store) => match written {
            Some(1) => format!("grows leaf {index}: from now on it is a balancer"),
            _ => format!("shrinks node {index}: from now on it is a leaf"),
        },
        ("taken", Operation::FetchAdd) => {
            format!("takes ticket {found} at aggregator {index}")
        }
        ("main", Operation::FetchAdd) => {
            format!("fetches {} from main for its batch", numbers(found, step.value()))
        }
        ("total", Operation::FetchAdd) => {
            format!("adds {} to the total, for all that it combines", step.value() - found)
        }
        _ => return None,
    })
}

fn numbers(first: u64, end: u64) -> String {
    if end == first + 1 {
        format!("number {first}")
    } else {
        format!("numbers {first} to {}", end - 1)
    }
}

fn is_locked_toggle(recording: &Recording, index: usize) -> bool {
    recording.find("toggle", Some(index), 1).is_some()
}

/// Returns the time for which a caller of the reactive tree waited for a counter's lock, at the step that uses the number
/// under it. `None` if the lock was taken for another purpose.
pub fn waited(recording: &Recording, at: usize) -> Option<u64> {
    let step = &recording.steps[at];
    let name = |other: &Step| recording.words[other.word].name;
    let own = recording.steps[..at].iter().rev();
    let mut own = own.filter(|other| other.processor == step.processor);
    let asked = own.find(|other| !name(other).starts_with("queue"))?;
    let is_asked = name(asked) == "node state" && asked.operation == Operation::Load;
    (is_asked && asked.call == step.call).then(|| step.time - asked.time)
}

/// Returns the words for an access that means nothing special.
fn plain(recording: &Recording, layout: &Layout, step: &Step) -> String {
    let chip = layout.chips.iter().find(|chip| chip.word == step.word);
    let look = chip.map_or(Look::Number, |chip| chip.look);
    let shown = |value| look.show(Some(value)).text;
    let name = recording.name_of(step.word);
    let name = match chip.map(|chip| chip.label) {
        Some(label) if !label.is_empty() && label != recording.words[step.word].name => {
            format!("{label} of {name}")
        }
        _ => name,
    };
    let (found, value) = (shown(step.found), shown(step.value()));
    match (step.operation, step.written) {
        (Operation::Load, _) => format!("looks at {name}: {found}"),
        (Operation::Cell, _) => format!("uses {name}"),
        (Operation::Store, _) => format!("writes {value} to {name}"),
        (Operation::Swap, _) => format!("swaps {value} into {name}, where it finds {found}"),
        (Operation::CompareExchange, None) => {
            format!("finds {found} in {name}, and changes nothing")
        }
        (Operation::CompareExchange, _) => format!("changes {name} from {found} to {value}"),
        (Operation::FetchAdd, _) if look == Look::Number => {
            format!("adds {} to {name}: {value}", step.value().wrapping_sub(step.found))
        }
        _ => format!("changes {name} from {found} to {value}"),
    }
}

fn list(processors: &[usize]) -> String {
    let names: Vec<String> = processors.iter().map(usize::to_string).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!("processor {one}"),
        [most @ .., last] => format!("processors {} and {last}", most.join(", ")),
    }
}
