//! Trees of balancers: the root at the top, leaves at the bottom.

use super::{Fading, Layout, Put, TOKENS, WIDTH, size};
use crate::watch::steps::looks::Look;
use crate::watch::steps::recording::Recording;

/// Most slots of a prism in a row.
const SLOTS: usize = 4;
const GAP: f64 = 16.0;

/// What the words of a tree are called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fixed,
    Reactive,
    SelfTuning,
}

pub(super) fn layout(recording: &Recording) -> Layout {
    let kind = if recording.count("node state") > 0 {
        Kind::Reactive
    } else if recording.count("link") > 0 {
        Kind::SelfTuning
    } else {
        Kind::Fixed
    };
    let width = match kind {
        Kind::Fixed => recording.count("leaf"),
        Kind::Reactive => recording.count("node state") / 2,
        Kind::SelfTuning => recording.count("leaf") / 2,
    };
    let locks = locks(recording);
    let cards: Vec<(String, Vec<Vec<Put>>)> =
        (1..2 * width).map(|node| card(recording, kind, node, width, &locks)).collect();

    let mut layout = Layout::empty(recording);
    layout.fading = match kind {
        Kind::Fixed => Fading::Never,
        Kind::Reactive => Fading::Roles,
        Kind::SelfTuning => Fading::Links,
    };
    let sizes: Vec<(f64, f64)> = cards.iter().map(|(title, rows)| size(title, rows)).collect();
    let widest = sizes[width - 1..].iter().map(|size| size.0).fold(0.0, f64::max);
    layout.width = WIDTH.max(width as f64 * (widest + GAP));
    let mut y = 18.0;
    for level in 0..=width.ilog2() {
        let first = 1_usize << level;
        for node in first..2 * first {
            let x = layout.width / first as f64 * ((node - first) as f64 + 0.5);
            let (title, rows) = &cards[node - 1];
            let card = layout.add(x, y, title.clone(), rows);
            layout.nodes.insert(node as u64, card);
        }
        let tallest = sizes[first - 1..2 * first - 1].iter().map(|size| size.1).fold(0.0, f64::max);
        y += tallest + TOKENS + 4.0;
    }
    for node in 2..2 * width {
        let start = if node % 2 == 0 { 0.25 } else { 0.75 };
        layout.wire_down(node / 2 - 1, node - 1, start);
    }
    layout.add_homes(recording, y + 4.0, &[("location", Look::Location)]);
    layout
}

/// Returns the title and the words of a node.
fn card(
    recording: &Recording,
    kind: Kind,
    node: usize,
    width: usize,
    locks: &[Vec<Put>],
) -> (String, Vec<Vec<Put>>) {
    let one = |name: &str, part, label, look| {
        recording.find(name, Some(node), part).map(|word| (word, label, look))
    };
    let is_balancer = node < width;
    let mut rows: Vec<Vec<Put>> = Vec::new();
    match kind {
        Kind::Fixed if !is_balancer => {
            // The first side decides the lowest bit of the number.
            let depth = width.ilog2();
            let sides = node - width;
            let leaf = if depth == 0 { 0 } else { sides.reverse_bits() >> (usize::BITS - depth) };
            let words = recording.all("leaf", Some(leaf));
            let row = match words[..] {
                [lock, next] => vec![(lock, "lock", Look::Lock), (next, "next", Look::Number)],
                _ => words.iter().map(|&word| (word, "next", Look::Number)).collect(),
            };
            return (format!("leaf {leaf}"), vec![row]);
        }
        Kind::Fixed => {}
        Kind::Reactive => {
            let mut row: Vec<Put> = one("node state", 0, "role", Look::Role).into_iter().collect();
            row.extend(locks.get(node).into_iter().flatten());
            rows.push(row);
        }
        Kind::SelfTuning => {
            rows.push(
                [one("link", 0, "link", Look::Link), one("visitors", 0, "visitors", Look::Number)]
                    .into_iter()
                    .flatten()
                    .collect(),
            );
            rows.push(
                [one("leaf", 0, "lock", Look::Lock), one("leaf", 1, "next", Look::Number)]
                    .into_iter()
                    .flatten()
                    .collect(),
            );
            rows.push(
                [one("turn", 0, "turn", Look::Number), one("mind", 1, "vote", Look::Vote)]
                    .into_iter()
                    .flatten()
                    .collect(),
            );
        }
    }
    if is_balancer {
        let slots: Vec<Put> = recording
            .all("prism", Some(node))
            .into_iter()
            .map(|word| (word, "prism", Look::Processor))
            .collect();
        rows.extend(slots.chunks(SLOTS).map(<[Put]>::to_vec));
        let toggle = recording.all("toggle", Some(node));
        rows.push(match toggle[..] {
            [lock, turn] => vec![(lock, "lock", Look::Lock), (turn, "toggle", Look::Toggle)],
            _ => toggle.iter().map(|&word| (word, "toggle", Look::Toggle)).collect(),
        });
    }
    let title =
        if kind == Kind::Fixed { format!("balancer {node}") } else { format!("node {node}") };
    (title, rows)
}

/// Returns, for each node of a reactive tree, the word of its lock. It has no index: it was made next after the node's
/// state.
fn locks(recording: &Recording) -> Vec<Vec<Put>> {
    let mut locks = vec![Vec::new(); recording.count("node state")];
    let mut node = 0;
    for (word, about) in recording.words.iter().enumerate() {
        match (about.name, about.index) {
            ("node state", Some(index)) => node = index,
            ("queue tail", _) => locks[node].push((word, "queue", Look::Processor)),
            ("guarded value", _) => locks[node].push((word, "number", Look::Hidden)),
            _ => {}
        }
    }
    locks
}
