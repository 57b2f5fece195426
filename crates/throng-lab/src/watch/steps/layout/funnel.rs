//! The aggregating funnel: the word that all numbers come from at the top, below it the places where callers gather.

use super::{Layout, TOKENS, WIDTH};
use crate::watch::steps::looks::Look;
use crate::watch::steps::recording::Recording;

pub(super) fn layout(recording: &Recording) -> Layout {
    let mut layout = Layout::empty(recording);
    let count = recording.count("taken");
    layout.width = WIDTH.max(count as f64 * 150.0);
    let main = recording.find("main", None, 0).map(|word| (word, "next", Look::Number));
    let main = layout.add(layout.width / 2.0, 6.0, "main", &[main.into_iter().collect()]);
    let top = 6.0 + layout.cards[main].height + TOKENS + 24.0;
    let mut bottom = top;
    for index in 0..count {
        let x = layout.width / count as f64 * (index as f64 + 0.5);
        let one = |name: &str, part, label, look| {
            recording.find(name, Some(index), part).map(|word| (word, label, look))
        };
        let taken = one("taken", 0, "tickets", Look::Number);
        let published = one("board", 0, "published", Look::Published);
        let batch = |which: usize| {
            let part = 1 + 3 * which;
            let first = one("board", part, "from", Look::Published);
            // Its values are numbers of tickets themselves.
            let first = first.map(|(word, label, _)| (word, label, Look::Number));
            [first, one("board", part + 1, "number", Look::Number)]
        };
        let rows = [[taken, published], batch(0), batch(1)];
        let rows = rows.map(|row| row.into_iter().flatten().collect());
        let card = layout.add(x, top, format!("aggregator {index}"), &rows);
        let (above, below) = (&layout.cards[main], &layout.cards[card]);
        bottom = below.y + below.height;
        let from = (above.x + above.width / 2.0, above.y + above.height);
        let to = (below.x + below.width / 2.0, below.y);
        layout.wires.push(super::Wire { from, to, card });
    }
    layout.add_homes(recording, bottom + TOKENS + 10.0, &[]);
    layout
}
