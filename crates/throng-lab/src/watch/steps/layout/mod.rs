//! Where things are in a picture: cards with the words of a part of the structure, wires between cards, and a home for
//! each processor.
//!
//! | layout | for |
//! |---|---|
//! | `tree` | trees of balancers: fixed, reactive, self-tuning |
//! | `network` | counting networks |
//! | `combining` | combining trees |
//! | `funnel` | the aggregating funnel |
//! | `columns` | barriers and all other counters: a column for each processor, with the words in its memory |

mod columns;
mod combining;
mod funnel;
mod network;
mod tree;

use std::collections::HashMap;

use super::choice::Structure;
use super::looks::Look;
use super::moment::Moment;
use super::recording::{Recording, Step};

/// Height of a row of words.
const ROW: f64 = 29.0;
const CHIP_HEIGHT: f64 = 25.0;
/// Height of a card's title.
const TITLE: f64 = 17.0;
const PADDING: f64 = 5.0;
/// Room below a card for the tokens that are at it.
pub const TOKENS: f64 = 46.0;
/// Distance of tokens in a row.
pub const TOKEN: f64 = 20.0;
/// Height of the row of homes.
const HOME: f64 = 66.0;
/// Most height of an arch between two cards.
pub const ARCH: f64 = 40.0;
/// Homes closer than this have their notes below.
const CLOSE: f64 = 95.0;
/// The least width of a picture.
const WIDTH: f64 = 880.0;

/// A part of the structure.
#[derive(Clone, Debug)]
pub struct Card {
    /// The left upper corner.
    pub x: f64,
    /// See `x`.
    pub y: f64,
    /// The size.
    pub width: f64,
    /// See `width`.
    pub height: f64,
    /// Its name.
    pub title: String,
}

/// A word.
#[derive(Clone, Debug)]
pub struct Chip {
    /// The left upper corner.
    pub x: f64,
    /// See `x`.
    pub y: f64,
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
    /// The word.
    pub word: usize,
    /// What the word is.
    pub label: &'static str,
    /// What its values mean.
    pub look: Look,
}

/// A line from a card to another, or from a home.
#[derive(Clone, Debug)]
pub struct Wire {
    /// Both ends: x and y.
    pub from: (f64, f64),
    /// See `from`.
    pub to: (f64, f64),
    /// The card that it leads to.
    pub card: usize,
}

/// Which cards take no part at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fading {
    Never,
    /// Nodes whose state is off.
    Roles,
    /// Nodes to which no links lead.
    Links,
}

/// A picture without its values.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The width of the picture.
    pub width: f64,
    /// The height.
    pub height: f64,
    /// All cards.
    pub cards: Vec<Card>,
    /// All words that are drawn.
    pub chips: Vec<Chip>,
    /// All wires.
    pub wires: Vec<Wire>,
    /// Whether wires run from left to right, and not up and down.
    pub is_level: bool,
    /// The place of each processor while it is outside.
    pub homes: Vec<(f64, f64)>,
    /// From a home to its note: below it where homes are close to each other, else on the right.
    pub note: (f64, f64),
    /// For each word, the card at which a processor is that uses it.
    card_of: Vec<Option<usize>>,
    /// The card of each node of a tree.
    nodes: HashMap<u64, usize>,
    fading: Fading,
}

/// A word to be put on a card: its number, a label, and what its values mean.
type Put = (usize, &'static str, Look);

impl Layout {
    /// Returns the layout for a run.
    pub fn of(recording: &Recording) -> Self {
        let Structure::Counter(name) = recording.choice.structure else {
            return columns::layout(recording);
        };
        match name {
            "combining-tree" | "combining-tree-locked" => combining::layout(recording),
            "funnel" => funnel::layout(recording),
            _ if name.starts_with("counting-network") => network::layout(recording),
            _ if name == "reactive" || name.starts_with("self-tuning") => tree::layout(recording),
            _ if name.starts_with("diffracting") => tree::layout(recording),
            _ => columns::layout(recording),
        }
    }

    fn empty(recording: &Recording) -> Self {
        Layout {
            width: WIDTH,
            height: 0.0,
            cards: Vec::new(),
            chips: Vec::new(),
            wires: Vec::new(),
            is_level: false,
            homes: Vec::new(),
            note: (13.0, 3.4),
            card_of: vec![None; recording.words.len()],
            nodes: HashMap::new(),
            fading: Fading::Never,
        }
    }

    /// Adds a card whose upper edge has its middle at `x`, `y`. Returns its number.
    fn add(&mut self, x: f64, y: f64, title: impl Into<String>, rows: &[Vec<Put>]) -> usize {
        let title = title.into();
        let (width, height) = size(&title, rows);
        let card = self.cards.len();
        let left = x - width / 2.0;
        for (index, row) in rows.iter().enumerate() {
            let widths: f64 = row.iter().map(|put| chip_width(put) + 4.0).sum();
            let mut at = x - (widths - 4.0) / 2.0;
            let top = y + TITLE + index as f64 * ROW;
            for put in row {
                let &(word, label, look) = put;
                let width = chip_width(put);
                let height = CHIP_HEIGHT;
                self.chips.push(Chip { x: at, y: top, width, height, word, label, look });
                self.card_of[word] = Some(card);
                at += width + 4.0;
            }
        }
        self.cards.push(Card { x: left, y, width, height, title });
        card
    }

    /// Adds a wire from below the tokens of a card to the upper edge of another.
    fn wire_down(&mut self, from: usize, to: usize, start: f64) {
        let (above, below) = (&self.cards[from], &self.cards[to]);
        let from = (above.x + above.width * start, above.y + above.height);
        let to_at = (below.x + below.width / 2.0, below.y);
        self.wires.push(Wire { from, to: to_at, card: to });
    }

    /// Adds the homes of all processors below `y`, with the words of this name that each has.
    fn add_homes(&mut self, recording: &Recording, y: f64, own: &[(&'static str, Look)]) {
        let count = recording.choice.processors;
        let rows = count.div_ceil(16);
        let in_row = count.div_ceil(rows);
        let is_used =
            |name| recording.steps.iter().any(|step| recording.words[step.word].name == name);
        let own: Vec<(&'static str, Look)> =
            own.iter().copied().filter(|own| is_used(own.0)).collect();
        if self.width / (in_row as f64) < CLOSE {
            self.note = (0.0, if own.is_empty() { 21.0 } else { 52.0 });
        }
        for id in 0..count {
            let x = self.width / in_row as f64 * ((id % in_row) as f64 + 0.5);
            let top = y + (id / in_row) as f64 * HOME;
            self.homes.push((x, top + 14.0));
            for (index, &(name, look)) in own.iter().enumerate() {
                let Some(word) = recording.find(name, Some(id), 0) else { continue };
                let width = 42.0;
                let at = x - width / 2.0;
                let (y, height) = (top + 34.0 + index as f64 * 26.0, 23.0);
                self.chips.push(Chip { x: at, y, width, height, word, label: name, look });
            }
        }
        self.height = y + rows as f64 * HOME;
    }

    /// Returns the card at which a step takes place.
    pub fn card_of(&self, recording: &Recording, step: &Step) -> Option<usize> {
        let word = &recording.words[step.word];
        if word.name != "location" {
            return self.card_of[step.word];
        }
        // A processor is at the node that its location names.
        let node = if step.value() != 0 { step.value() } else { step.found };
        let is_own = word.index == Some(step.processor);
        is_own.then(|| self.nodes.get(&(node & 0xffff_ffff)).copied()).flatten()
    }

    /// Returns the card of a word.
    pub fn card_at(&self, word: usize) -> Option<usize> {
        self.card_of[word]
    }

    /// Returns the node of a card in a tree.
    pub fn node_of(&self, card: usize) -> Option<u64> {
        self.nodes.iter().find(|(_, at)| **at == card).map(|(&node, _)| node)
    }

    /// Returns, for each card, whether it takes no part at a moment.
    pub fn faded(&self, moment: &Moment<'_>) -> Vec<bool> {
        let recording = moment.recording;
        let mut faded = vec![false; self.cards.len()];
        for (&node, &card) in &self.nodes {
            let index = node as usize;
            faded[card] = match self.fading {
                Fading::Never => false,
                Fading::Roles => {
                    let state = recording.find("node state", Some(index), 0);
                    // A node that no processor looks at stays off, except the root.
                    let state = state.and_then(|word| moment.value(word));
                    state.map_or(index != 1, |state| state & 3 == 0)
                }
                Fading::Links => {
                    let is_balancer = |node: usize| {
                        let link = recording.find("link", Some(node), 0);
                        link.and_then(|link| moment.value(link)) == Some(1)
                    };
                    let mut above = index / 2;
                    while above > 0 && is_balancer(above) {
                        above /= 2;
                    }
                    above > 0
                }
            };
        }
        faded
    }
}

impl Recording {
    /// Returns the word of a name, an index and a part.
    pub fn find(&self, name: &str, index: Option<usize>, part: usize) -> Option<usize> {
        self.words
            .iter()
            .position(|word| word.name == name && word.index == index && word.part == part)
    }

    /// Returns all words of a name and an index.
    fn all(&self, name: &str, index: Option<usize>) -> Vec<usize> {
        let is_it =
            |&word: &usize| self.words[word].name == name && self.words[word].index == index;
        (0..self.words.len()).filter(is_it).collect()
    }

    /// Returns the number of indices of a name: one more than the largest.
    fn count(&self, name: &str) -> usize {
        let named = self.words.iter().filter(|word| word.name == name);
        named.filter_map(|word| word.index).max().map_or(0, |most| most + 1)
    }
}

fn chip_width(put: &Put) -> f64 {
    match put.2 {
        Look::Number | Look::Signed => 38.0,
        Look::Processor | Look::Lock | Look::Location | Look::Hidden => 42.0,
        Look::Toggle | Look::Vote | Look::Bytes => 52.0,
        Look::Link | Look::Role | Look::Published => 58.0,
        Look::Combining | Look::CombiningLocked => 66.0,
    }
}

/// Returns the size of a card.
fn size(title: &str, rows: &[Vec<Put>]) -> (f64, f64) {
    let row = |row: &Vec<Put>| row.iter().map(|put| chip_width(put) + 4.0).sum::<f64>() - 4.0;
    let widest = rows.iter().map(row).fold(6.2 * title.chars().count() as f64, f64::max);
    (widest + 2.0 * PADDING, TITLE + rows.len() as f64 * ROW + 1.0)
}
