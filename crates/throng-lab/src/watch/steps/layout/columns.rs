//! A column for each processor, with the words in its memory, and above all columns the words that are nowhere in
//! particular. A wire leads to each card from where its writers come.

use std::collections::{BTreeMap, BTreeSet};

use super::{ARCH, CLOSE, Layout, Put, TOKENS, WIDTH, Wire, size};
use crate::watch::steps::choice::Structure;
use crate::watch::steps::looks::Look;
use crate::watch::steps::recording::Recording;

/// Most words of a card.
const WORDS: usize = 8;
const GAP: f64 = 30.0;

/// A card: its first word, name, index and home.
type Key = (usize, &'static str, Option<usize>, Option<usize>);
/// The title of a card, and its rows of words.
type Contents = (String, Vec<Vec<Put>>);

pub(super) fn layout(recording: &Recording) -> Layout {
    let mut layout = Layout::empty(recording);
    let processors = recording.choice.processors;
    let used: BTreeSet<usize> = recording.steps.iter().map(|step| step.word).collect();
    // Words of a line are made one after another, so cards are in the order of their first words.
    let mut lines: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for &word in &used {
        let about = &recording.words[word];
        let home = about.home.filter(|&home| home < processors);
        let first = recording.find(about.name, about.index, 0).unwrap_or(word);
        lines.entry((first, about.name, about.index, home)).or_default().push(word);
    }
    let in_row = if processors <= 8 { 2 } else { 1 };
    let card = |name: &str, index: Option<usize>, words: &[usize], in_row: usize| {
        let shown: Vec<Put> = words[..words.len().min(WORDS)]
            .iter()
            .map(|&word| (word, label(recording, word), look(recording, word)))
            .collect();
        let title = index.map_or_else(|| name.to_owned(), |index| format!("{name} {index}"));
        (title, shown.chunks(in_row).map(<[Put]>::to_vec).collect::<Vec<_>>())
    };
    let mut central = Vec::new();
    let mut columns: Vec<Vec<_>> = vec![Vec::new(); processors];
    for (&(_, name, index, home), words) in &lines {
        match home {
            None => central.push((card(name, index, words, 4), words)),
            Some(home) => columns[home].push((card(name, index, words, in_row), words)),
        }
    }
    let cards = columns.iter().flatten().chain(&central);
    let sizes: Vec<f64> = cards.map(|((title, rows), _)| size(title, rows).0).collect();
    let widest = sizes.iter().copied().fold(40.0, f64::max);
    let has_columns = columns.iter().any(|column| !column.is_empty());
    let across = if has_columns { (widest + 8.0) * processors as f64 } else { WIDTH };
    let above: f64 = central.iter().map(|((title, rows), _)| size(title, rows).0 + 24.0).sum();
    layout.width = WIDTH.max(across).max(above);

    // The central words.
    let mut x = (layout.width - above) / 2.0 + 12.0;
    let mut y = if central.is_empty() { ARCH + 6.0 } else { 6.0 };
    for ((title, rows), words) in &central {
        let (width, height) = size(title, rows);
        let card = layout.add(x + width / 2.0, 6.0, title.clone(), rows);
        words.iter().for_each(|&word| layout.card_of[word] = Some(card));
        x += width + 24.0;
        y = f64::max(y, 6.0 + height + TOKENS + 14.0);
    }
    // The columns, from the bottom up.
    let tall = |column: &Vec<(Contents, &Vec<usize>)>| {
        column.iter().map(|((title, rows), _)| size(title, rows).1 + GAP).sum::<f64>()
    };
    let bottom = y + columns.iter().map(tall).fold(0.0, f64::max) + 10.0;
    for (id, column) in columns.iter().enumerate() {
        let x = layout.width / processors as f64 * (id as f64 + 0.5);
        let mut y = bottom;
        for ((title, rows), words) in column {
            y -= size(title, rows).1 + GAP;
            let card = layout.add(x, y, title.clone(), rows);
            words.iter().for_each(|&word| layout.card_of[word] = Some(card));
        }
    }
    for id in 0..processors {
        let x = layout.width / processors as f64 * (id as f64 + 0.5);
        layout.homes.push((x, bottom + 18.0));
    }
    if layout.width / (processors as f64) < CLOSE {
        layout.note = (0.0, 21.0);
    }
    layout.height = bottom + 62.0;
    wires(recording, &mut layout);
    layout
}

/// Adds a wire to each card that is written: from the card at which its writer was before, or from its writer's home.
fn wires(recording: &Recording, layout: &mut Layout) {
    let mut seen = BTreeSet::new();
    let mut at: Vec<(usize, Option<usize>)> = vec![(usize::MAX, None); recording.choice.processors];
    for step in &recording.steps {
        let Some(card) = layout.card_of[step.word] else { continue };
        let (call, before) = at[step.processor];
        let before = if call == step.call { before } else { None };
        at[step.processor] = (step.call, Some(card));
        let key = (before, before.is_none().then_some(step.processor), card);
        if step.written.is_none() || before == Some(card) || !seen.insert(key) {
            continue;
        }
        let to = &layout.cards[card];
        let middle = to.x + to.width / 2.0;
        let (from, to) = match before {
            Some(before) => {
                let before = &layout.cards[before];
                let from = (before.x + before.width / 2.0, before.y);
                // Cards beside each other are joined by an arch above them.
                let is_beside = (before.y - to.y).abs() < to.height;
                (from, (middle, if is_beside { before.y } else { to.y + to.height }))
            }
            None => {
                let (x, y) = layout.homes[step.processor];
                ((x, y - 12.0), (middle, to.y + to.height))
            }
        };
        layout.wires.push(Wire { from, to, card });
    }
}

const FLAGS: [&str; 8] =
    ["flag 0", "flag 1", "flag 2", "flag 3", "flag 4", "flag 5", "flag 6", "flag 7"];
const STEPS: [&str; 8] =
    ["step 0", "step 1", "step 2", "step 3", "step 4", "step 5", "step 6", "step 7"];

fn label(recording: &Recording, word: usize) -> &'static str {
    let word = &recording.words[word];
    match (word.name, word.part) {
        ("queue node", 0) => "next",
        ("queue node", 1) => "waits",
        ("arrivals", 0) => "arrivals",
        ("arrivals", 1) => "rounds",
        ("arrivals", 2) => "sleepers",
        ("arrived", _) if is_locked(recording) => ["lock", "count", "sense"][word.part.min(2)],
        ("arrived", _) if recording.words.iter().all(|w| w.name != "arrived" || w.part == 0) => {
            if is_bytes(recording) {
                "flags"
            } else {
                "count"
            }
        }
        ("arrived", part) => FLAGS[part % FLAGS.len()],
        ("signals", part) => STEPS[part % STEPS.len()],
        _ => "",
    }
}

fn look(recording: &Recording, word: usize) -> Look {
    let word = &recording.words[word];
    match (word.name, word.part) {
        ("queue tail", _) | ("queue node", 0) => Look::Processor,
        ("backoff lock", _) => Look::Lock,
        ("arrived", 0) if is_locked(recording) => Look::Lock,
        ("arrived", _) if is_bytes(recording) => Look::Bytes,
        ("guarded value", _) => Look::Hidden,
        ("balance", _) => Look::Signed,
        _ => Look::Number,
    }
}

fn is_bytes(recording: &Recording) -> bool {
    matches!(recording.choice.structure, Structure::Barrier(name)
        if name.ends_with("-bytes") || name.ends_with("-all-go-on"))
}

fn is_locked(recording: &Recording) -> bool {
    matches!(recording.choice.structure, Structure::Barrier(name) if name.ends_with("-locked"))
}
