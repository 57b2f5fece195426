//! `throng watch --counter` and `--barrier`: a structure at work, step by step.
//!
//! ```text
//!   choice      structure, machine, processors, seed: what an address says
//!     │
//!   recording   the run: every access to shared memory, as the simulator recorded it
//!     │
//!   moment      the state after step k         layout   where each word is in the picture
//!     └──────────────┬──────────────────────────────┘
//!   draw        SVG: a frame of the page, or a file     story   the step in a sentence
//!     │
//!   site        request -> answer: the page, GET /run, GET /frame, GET /still.svg
//! ```
//!
//! There is one drawing, made here. The page asks for the frame of a step, and moves the tokens from one frame to the next.

pub mod choice;
pub mod draw;
pub mod layout;
pub mod looks;
pub mod moment;
pub mod recording;
pub mod site;
pub mod story;

use choice::Choice;
use draw::Form;
use layout::Layout;
use moment::Moment;
use recording::Recording;
use throng_papers::error::Error;

/// Returns the drawing of one step as a file that stands by itself. The last step stands for all behind it.
///
/// # Errors
/// If the structure cannot be built or run.
pub fn still(choice: &Choice, step: usize) -> Result<String, Error> {
    let recording = Recording::of(choice)?;
    let layout = Layout::of(&recording);
    Ok(draw::svg(&Moment::of(&recording, step), &layout, Form::File))
}

#[cfg(test)]
mod tests {
    use super::choice::Structure;
    use super::*;
    use throng_papers::machines::Machine;

    fn run(structure: Structure) -> Recording {
        Recording::of(&Choice::of(structure).unwrap()).unwrap()
    }

    #[test]
    fn every_structure_is_recorded_and_the_same_seed_gives_the_same_steps() {
        for structure in Structure::all() {
            let choice = Choice::of(structure).unwrap();
            let recording = run(structure);
            assert!(recording.steps.len() >= choice.processors * choice.calls, "{structure:?}");
            assert!(!recording.is_cut, "{structure:?}");
            assert!(recording.calls.iter().all(|call| call.end.is_some()), "{structure:?}");
            assert!(run(structure).steps == recording.steps, "{structure:?}: another run");
            if let Structure::Counter(_) = structure {
                let mut values: Vec<u64> = recording.calls.iter().map(|call| call.value).collect();
                values.sort_unstable();
                assert_eq!(values, Vec::from_iter(0..values.len() as u64), "{structure:?}");
            }
            let ends = (0..recording.steps.len()).filter(|&step| recording.ends_call(step));
            assert_eq!(ends.count(), recording.calls.len(), "{structure:?}");
        }
    }

    #[test]
    fn another_seed_gives_another_run() {
        for structure in Structure::all() {
            let other = Choice { seed: 2, ..Choice::of(structure).unwrap() };
            assert!(Recording::of(&other).unwrap().steps != run(structure).steps, "{structure:?}");
        }
    }

    #[test]
    fn a_step_takes_effect_after_it_was_issued_and_the_found_values_follow_from_those_written() {
        for structure in Structure::all() {
            let recording = run(structure);
            let mut values = vec![None; recording.words.len()];
            for step in &recording.steps {
                assert!(step.issued < step.time, "{structure:?}: {step:?}");
                let before = values[step.word].replace(step.value());
                let is_cell = recording.words[step.word].name == "guarded value";
                assert!(
                    is_cell || before.is_none_or(|it| it == step.found),
                    "{structure:?}: {step:?}"
                );
            }
        }
    }

    #[test]
    fn all_steps_of_barriers_and_many_of_counters_are_at_a_card() {
        for structure in Structure::all() {
            let recording = run(structure);
            let layout = Layout::of(&recording);
            let mut cards = 0;
            for step in &recording.steps {
                cards += usize::from(layout.card_of(&recording, step).is_some());
            }
            let all = recording.steps.len();
            let least = if matches!(structure, Structure::Barrier(_)) { all } else { all / 3 };
            assert!(cards >= least, "{structure:?}: {cards} of {all} steps are at a card");
        }
    }

    #[test]
    fn the_drawing_of_every_structure_has_each_processor_once_and_is_small() {
        for structure in Structure::all() {
            for processors in [1, 2, 8, 13, 32] {
                let choice = Choice { processors, ..Choice::of(structure).unwrap() };
                let recording = Recording::of(&choice).unwrap();
                let layout = Layout::of(&recording);
                for step in [0, recording.last() / 2, recording.last(), usize::MAX] {
                    let moment = Moment::of(&recording, step);
                    let drawn = draw::svg(&moment, &layout, Form::Page);
                    assert_eq!(drawn.matches("data-processor").count(), processors);
                    assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{structure:?}");
                    assert!(drawn.len() < 400_000, "{structure:?}: {} bytes", drawn.len());
                }
            }
        }
    }

    #[test]
    fn a_structure_runs_on_every_machine() {
        for machine in throng_papers::machines::all() {
            let structure = Structure::counter("diffracting").unwrap();
            let choice = Choice { machine, ..Choice::of(structure).unwrap() };
            assert!(Recording::of(&choice).unwrap().steps.len() > 100);
        }
        assert!(Machine::find("nothing").is_err());
    }

    /// Looks for a run with a certain event, and returns the sentence about it.
    fn told(structure: Structure, part: &str) -> String {
        let recording = run(structure);
        let layout = Layout::of(&recording);
        let sentences = (0..recording.steps.len())
            .map(|step| story::sentence(&Moment::of(&recording, step), &layout));
        let found = sentences.rev().find(|sentence| sentence.contains(part));
        found.unwrap_or_else(|| panic!("{structure:?}: never {part:?}"))
    }

    #[test]
    fn what_makes_a_structure_is_told() {
        for (name, part) in [
            ("diffracting", "it goes left, processor"),
            ("diffracting", "flips the toggle of node 1: it goes"),
            ("diffracting", "waits for a partner at node"),
            ("reactive", "unfolds node 1"),
            ("reactive", "folds node 1"),
            ("self-tuning", "grows leaf 1"),
            ("funnel", "fetches numbers"),
            ("combining-tree", "for all that it combines"),
            ("counting-network", "flips toggle"),
        ] {
            told(Structure::counter(name).unwrap(), part);
        }
        for structure in Structure::all() {
            if matches!(structure, Structure::Barrier(_)) {
                told(structure, "; this wakes processor");
                told(structure, "it leaves round 2");
            }
        }
    }
}
