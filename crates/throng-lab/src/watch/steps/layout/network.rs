//! Counting networks: tokens enter on the left and leave on the right.

use throng::structures::counter::{End, Wiring};

use super::{Layout, Put, Wire};
use crate::watch::steps::looks::Look;
use crate::watch::steps::recording::Recording;

const COLUMN: f64 = 148.0;

pub(super) fn layout(recording: &Recording) -> Layout {
    let mut layout = Layout::empty(recording);
    layout.is_level = true;
    let width = recording.count("output");
    let wiring = Wiring::bitonic(width);
    let count = wiring.balancers.len();
    // How far each balancer is from the outputs. Wires lead to balancers of lower numbers.
    let mut distance = vec![0_usize; count];
    let mut height = vec![0.0; count];
    for (index, ends) in wiring.balancers.iter().enumerate() {
        let of = |end: &End| match *end {
            End::Balancer(next) => (distance[next as usize] + 1, height[next as usize]),
            End::Output(wire) => (0, f64::from(wire)),
        };
        let [a, b] = [of(&ends[0]), of(&ends[1])];
        (distance[index], height[index]) = (a.0.max(b.0), (a.1 + b.1) / 2.0 + 0.01 * index as f64);
    }
    let deepest = distance.iter().copied().max().map_or(0, |most| most + 1);
    layout.width = (COLUMN * (deepest + 2) as f64).max(super::WIDTH);
    let column = layout.width / (deepest as f64 + 1.4);
    // Two outputs, each with a row of tokens below it.
    let row = 2.0 * 76.0;
    let rows = |name: &str, index: usize, look| -> Vec<Vec<Put>> {
        let label = if name == "toggle" { "toggle" } else { "next" };
        match recording.all(name, Some(index))[..] {
            [lock, number] => vec![vec![(lock, "lock", Look::Lock), (number, label, look)]],
            [number] => vec![vec![(number, label, look)]],
            _ => vec![Vec::new()],
        }
    };
    let mut cards = vec![0; count];
    for level in (0..deepest).rev() {
        let mut of_level: Vec<usize> =
            (0..count).filter(|&balancer| distance[balancer] == level).collect();
        of_level.sort_by(|&a, &b| height[a].total_cmp(&height[b]));
        let pitch = row * width as f64 / 2.0 / of_level.len().max(1) as f64;
        for (place, &balancer) in of_level.iter().enumerate() {
            let x = column * ((deepest - level) as f64 - 0.1);
            let y = 12.0 + pitch * (place as f64 + 0.5) - 30.0;
            let words = rows("toggle", balancer, Look::Toggle);
            cards[balancer] = layout.add(x, y, format!("balancer {balancer}"), &words);
        }
    }
    let tall = row * width as f64 / 2.0;
    let outputs: Vec<usize> = (0..width)
        .map(|wire| {
            let x = column * (deepest as f64 + 0.85);
            let y = 12.0 + tall / width as f64 * (wire as f64 + 0.5) - 26.0;
            layout.add(x, y, format!("output {wire}"), &rows("output", wire, Look::Number))
        })
        .collect();
    let middle = |card: &super::Card| card.y + card.height / 2.0;
    let mut wires = Vec::new();
    for (balancer, ends) in wiring.balancers.iter().enumerate() {
        for (side, end) in ends.iter().enumerate() {
            let to = match *end {
                End::Balancer(next) => cards[next as usize],
                End::Output(wire) => outputs[wire as usize],
            };
            let (a, b) = (&layout.cards[cards[balancer]], &layout.cards[to]);
            let from = (a.x + a.width, middle(a) + if side == 0 { -9.0 } else { 9.0 });
            wires.push(Wire { from, to: (b.x, middle(b)), card: to });
        }
    }
    layout.wires = wires;
    layout.add_homes(recording, tall.max(row) + 34.0, &[]);
    layout
}
