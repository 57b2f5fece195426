//! Combining trees: the total at the top, a leaf for every two processors.

use super::{Layout, Put, TOKENS, WIDTH, size};
use crate::watch::steps::looks::Look;
use crate::watch::steps::recording::Recording;

pub(super) fn layout(recording: &Recording) -> Layout {
    let mut layout = Layout::empty(recording);
    let width = recording.choice.processors.div_ceil(2).next_power_of_two();
    let rows = |node: usize| -> Vec<Vec<Put>> {
        let words = recording.all("combining node", Some(node));
        match words[..] {
            [state, request, result] => vec![
                vec![(state, "state", Look::Combining)],
                vec![(request, "request", Look::Number), (result, "result", Look::Number)],
            ],
            [lock, status, waits, first, second, result] => vec![
                vec![(lock, "lock", Look::Lock), (status, "status", Look::CombiningLocked)],
                vec![(waits, "waits", Look::Number), (first, "first", Look::Number)],
                vec![(second, "second", Look::Number), (result, "result", Look::Number)],
            ],
            _ => {
                let total = recording.find("total", None, 0);
                vec![total.map(|word| (word, "total", Look::Number)).into_iter().collect()]
            }
        }
    };
    let cards: Vec<Vec<Vec<Put>>> = (1..2 * width).map(rows).collect();
    let widest = cards.iter().map(|rows| size("node 00", rows).0).fold(0.0, f64::max);
    layout.width = WIDTH.max(width as f64 * (widest + 14.0));
    let mut y = 6.0;
    for level in 0..=width.ilog2() {
        let first = 1_usize << level;
        for node in first..2 * first {
            let x = layout.width / first as f64 * ((node - first) as f64 + 0.5);
            let title = if node == 1 { "root".to_owned() } else { format!("node {node}") };
            layout.add(x, y, title, &cards[node - 1]);
        }
        y += size("", &cards[2 * first - 2]).1 + TOKENS + 6.0;
    }
    for node in 2..2 * width {
        layout.wire_down(node / 2 - 1, node - 1, if node % 2 == 0 { 0.25 } else { 0.75 });
    }
    layout.add_homes(recording, y, &[]);
    layout
}
