//! A moment as SVG: for the page, which gives it its colours, and as a file that stands by itself.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use throng_sim::Operation;

use super::choice::{REACTIVE, Structure};
use super::layout::{ARCH, Card, Layout, TOKEN};
use super::looks::Look;
use super::moment::{Doing, Moment};
use super::story::{self, sentence};

/// The colours and shapes of a drawing; part of the page, and of each file.
pub const STYLE: &str = include_str!("drawing.css");

/// Steps in the strip of the schedule: before and behind the present one.
const BEFORE: usize = 52;
const BEHIND: usize = 27;
const STRIP_LEFT: f64 = 74.0;
const STRIP_ROW: f64 = 11.0;
/// Height of the title of a file.
const HEAD: f64 = 64.0;
const RADIUS: f64 = 9.0;

/// Whether a drawing is part of a page or a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Without colours and title, which the page has.
    Page,
    /// With all that it needs.
    File,
}

/// Returns the drawing of a moment.
pub fn svg(moment: &Moment<'_>, layout: &Layout, form: Form) -> String {
    let Layout { width, height, .. } = *layout;
    let head = if form == Form::File { HEAD } else { 0.0 };
    let strip = moment.recording.choice.processors as f64 * STRIP_ROW + 40.0;
    let all = head + height + strip;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"steps\" viewBox=\"0 0 {width:.0} {all:.0}\" \
         role=\"img\" aria-label=\"{}\">\n",
        escaped(&sentence(moment, layout))
    );
    if form == Form::File {
        let _ = write!(
            out,
            "<style>{STYLE}</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n"
        );
        title(&mut out, moment, layout);
        let _ = writeln!(out, "<g transform=\"translate(0 {head:.0})\">");
    }
    Picture { moment, layout, places: places(moment, layout) }.draw(&mut out);
    schedule(&mut out, moment, width, height);
    out.push_str(if form == Form::File { "</g>\n</svg>\n" } else { "</svg>\n" });
    out
}

fn title(out: &mut String, moment: &Moment<'_>, layout: &Layout) {
    let recording = moment.recording;
    let (structure, seed) = (recording.choice.structure, recording.choice.seed);
    let time = moment.now().map_or(0, |step| step.time);
    let text = format!(
        "{}, {} processors, seed {seed}: step {} of {}, cycle {time}",
        structure.name(),
        recording.choice.processors,
        moment.step,
        recording.last()
    );
    let _ = writeln!(out, "<text class=\"head\" x=\"14\" y=\"24\">{}</text>", escaped(&text));
    let text = escaped(&sentence(moment, layout));
    let _ = writeln!(out, "<text class=\"sentence\" x=\"14\" y=\"45\">{text}</text>");
}

/// Where each token is.
fn places(moment: &Moment<'_>, layout: &Layout) -> Vec<(f64, f64)> {
    let recording = moment.recording;
    let card_at = |from: Option<usize>, processor: usize| {
        let mut at = from?;
        let call = recording.steps[at].call;
        loop {
            let step = &recording.steps[at];
            if step.processor == processor {
                if step.call != call {
                    return None;
                }
                if let Some(card) = layout.card_of(recording, step) {
                    return Some(card);
                }
            }
            at = at.checked_sub(1)?;
        }
    };
    let cards: Vec<Option<usize>> = moment
        .tokens
        .iter()
        .enumerate()
        .map(|(id, token)| match token.doing {
            Doing::Outside => None,
            Doing::Coming => card_at(token.next, id),
            Doing::Acting | Doing::Waiting | Doing::Pausing => card_at(token.last, id),
        })
        .collect();
    let mut taken: HashMap<usize, usize> = HashMap::new();
    let mut total: HashMap<usize, usize> = HashMap::new();
    cards.iter().flatten().for_each(|&card| *total.entry(card).or_default() += 1);
    cards
        .iter()
        .enumerate()
        .map(|(id, card)| match *card {
            None => layout.homes[id],
            Some(card) => {
                let place = taken.entry(card).or_default();
                let at = beside(&layout.cards[card], *place, total[&card]);
                *place += 1;
                at
            }
        })
        .collect()
}

/// Returns the place of the n-th of all tokens at a card: in rows below it.
fn beside(card: &Card, n: usize, all: usize) -> (f64, f64) {
    let in_row = ((card.width + 16.0) / TOKEN).max(3.0) as usize;
    let (row, place) = (n / in_row, n % in_row);
    let in_this = in_row.min(all - row * in_row);
    let x = card.x + card.width / 2.0 + (place as f64 - (in_this as f64 - 1.0) / 2.0) * TOKEN;
    (x, card.y + card.height + 12.0 + row as f64 * TOKEN)
}

struct Picture<'a> {
    moment: &'a Moment<'a>,
    layout: &'a Layout,
    places: Vec<(f64, f64)>,
}

impl Picture<'_> {
    fn draw(&self, out: &mut String) {
        let Picture { moment, layout, .. } = *self;
        let faded = layout.faded(moment);
        for wire in &layout.wires {
            let ((x, y), (to_x, to_y)) = (wire.from, wire.to);
            let class = if faded[wire.card] { "wire faded" } else { "wire" };
            let bend = if layout.is_level {
                let middle = (x + to_x) / 2.0;
                format!("{middle:.1} {y:.1} {middle:.1} {to_y:.1}")
            } else if (y - to_y).abs() < 1.0 {
                // The curve rises to three quarters of its control points.
                let top = y - (8.0 + 0.05 * (to_x - x).abs()).min(ARCH) / 0.75;
                format!("{x:.1} {top:.1} {to_x:.1} {top:.1}")
            } else {
                let middle = (y + to_y) / 2.0;
                format!("{x:.1} {middle:.1} {to_x:.1} {middle:.1}")
            };
            let _ = writeln!(
                out,
                "<path class=\"{class}\" d=\"M{x:.1} {y:.1}C{bend} {to_x:.1} {to_y:.1}\"/>"
            );
        }
        let moods = moods(moment);
        for (index, card) in layout.cards.iter().enumerate() {
            let Card { x, y, width, height, title } = card;
            let class = if faded[index] { "card faded" } else { "card" };
            let mood = layout.node_of(index).and_then(|node| moods.get(&node));
            let middle = x + width / 2.0;
            let _ = writeln!(
                out,
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
                 height=\"{height:.1}\" rx=\"7\"/><text class=\"{class} title\" x=\"{middle:.1}\" \
                 y=\"{:.1}\">{}</text>",
                y + 12.0,
                escaped(title)
            );
            if let Some(mood) = mood {
                let _ = writeln!(
                    out,
                    "<text class=\"mood\" x=\"{middle:.1}\" y=\"{:.1}\">{mood}</text>",
                    y - 3.0
                );
            }
        }
        for index in 0..layout.chips.len() {
            self.chip(out, index, &faded);
        }
        self.homes(out);
        self.arrows(out);
        for id in 0..self.places.len() {
            self.token(out, id);
        }
    }

    fn chip(&self, out: &mut String, index: usize, faded: &[bool]) {
        let Picture { moment, layout, .. } = self;
        let chip = &layout.chips[index];
        let (x, y, width, height) = (chip.x, chip.y, chip.width, chip.height);
        let heat = moment.heat[chip.word];
        if heat >= 0.03 {
            let opacity = (heat.sqrt() * 1.1).min(0.9);
            let _ = writeln!(
                out,
                "<rect class=\"glow\" opacity=\"{opacity:.2}\" x=\"{:.1}\" y=\"{:.1}\" \
                 width=\"{:.1}\" height=\"{:.1}\" rx=\"9\"/>",
                x - 4.0,
                y - 4.0,
                width + 8.0,
                height + 8.0
            );
        }
        let shown = chip.look.show(moment.value(chip.word));
        let is_hit = moment.now().is_some_and(|step| step.word == chip.word);
        let card = layout.card_at(chip.word);
        let mut class = String::from("chip");
        for (name, is) in [
            (" on", shown.is_on),
            (" hit", is_hit),
            (" faded", card.is_some_and(|card| faded[card])),
        ] {
            if is {
                class.push_str(name);
            }
        }
        let (middle, base) = (x + width / 2.0, y + height - 6.0);
        let _ = write!(
            out,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\" rx=\"5\"/><text class=\"label\" x=\"{middle:.1}\" y=\"{:.1}\">{}</text>",
            y + 7.6,
            chip.label
        );
        if let Some(id) = shown.processor {
            let _ = writeln!(
                out,
                "<circle cx=\"{middle:.1}\" cy=\"{:.1}\" r=\"7\" fill=\"{}\"/>\
                 <text class=\"id small\" x=\"{middle:.1}\" y=\"{:.1}\">{id}</text>",
                base - 2.6,
                colour(id),
                base + 0.4
            );
        } else {
            let _ = writeln!(
                out,
                "<text class=\"value\" x=\"{middle:.1}\" y=\"{base:.1}\">{}</text>",
                escaped(&shown.text)
            );
        }
    }

    /// The place of each processor outside, and the number that its last call returned.
    fn homes(&self, out: &mut String) {
        let kind = self.moment.recording.choice.structure;
        let (note_x, note_y) = self.layout.note;
        let class = if note_x > 0.0 { "got" } else { "got below" };
        for (id, &(x, y)) in self.layout.homes.iter().enumerate() {
            let returned =
                self.moment.tokens[id].returned.map_or_else(String::new, |value| match kind {
                    Structure::Counter(_) => format!("got {value}"),
                    Structure::Barrier(_) => format!("round {value}"),
                });
            let _ = writeln!(
                out,
                "<circle class=\"home\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\"/>\
                 <text class=\"home\" x=\"{x:.1}\" y=\"{:.1}\">{id}</text>\
                 <text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\">{returned}</text>",
                y + 3.4,
                x + note_x,
                y + note_y
            );
        }
    }

    /// From the acting processor to the word that it uses, and from each waiting one to that which ends its wait.
    fn arrows(&self, out: &mut String) {
        let Picture { moment, layout, places } = self;
        for (id, token) in moment.tokens.iter().enumerate() {
            if let Some(other) = token.waits_for.filter(|&other| other != id) {
                line(out, "waits", places[id], places[other]);
            }
        }
        let Some(step) = moment.now() else { return };
        for chip in layout.chips.iter().filter(|chip| chip.word == step.word) {
            let to = (chip.x + chip.width / 2.0, chip.y + chip.height);
            line(out, "reach", places[step.processor], to);
        }
    }

    fn token(&self, out: &mut String, id: usize) {
        let (x, y) = self.places[id];
        let class = match self.moment.tokens[id].doing {
            Doing::Outside => "outside",
            Doing::Acting => "acting",
            Doing::Coming => "coming",
            Doing::Waiting => "waiting",
            Doing::Pausing => "pausing",
        };
        let _ = writeln!(
            out,
            "<g class=\"token {class}\" data-processor=\"{id}\" transform=\"translate({x:.1} {y:.1})\">\
             <circle class=\"ring\" r=\"{:.1}\"/><circle class=\"body\" r=\"{RADIUS}\" fill=\"{}\"/>\
             <text class=\"id\" y=\"3.5\">{id}</text></g>",
            RADIUS + 3.0,
            colour(id)
        );
    }
}

/// Draws a line between two tokens or from a token to a word, if they are apart.
fn line(out: &mut String, class: &str, (x, y): (f64, f64), (to_x, to_y): (f64, f64)) {
    let (along, down) = (to_x - x, to_y - y);
    let length = along.hypot(down);
    if length < 2.0 * RADIUS {
        return;
    }
    let end = if class == "waits" { 1.0 - (RADIUS + 4.0) / length } else { 1.0 };
    let (to_x, to_y) = (x + along * end, y + down * end);
    let (mid_x, mid_y) = (x + along / 2.0 - down * 0.14, y + down / 2.0 + along * 0.14);
    let bent = if class == "waits" { format!("Q{mid_x:.1} {mid_y:.1} ") } else { "L".to_owned() };
    let _ = write!(out, "<path class=\"{class}\" d=\"M{x:.1} {y:.1}{bent}{to_x:.1} {to_y:.1}\"/>");
    if class == "waits" {
        // The head of the arrow, in the direction in which the curve ends.
        let (way_x, way_y) = (to_x - mid_x, to_y - mid_y);
        let way = way_x.hypot(way_y).max(1.0);
        let (way_x, way_y) = (6.0 * way_x / way, 6.0 * way_y / way);
        let _ = write!(
            out,
            "<path class=\"point\" d=\"M{to_x:.1} {to_y:.1}l{:.1} {:.1}M{to_x:.1} {to_y:.1}l{:.1} {:.1}\"/>",
            -way_x - way_y * 0.5,
            -way_y + way_x * 0.5,
            -way_x + way_y * 0.5,
            -way_y - way_x * 0.5
        );
    }
    out.push('\n');
}

/// The strip below the picture: a row for each processor, a column for each step.
fn schedule(out: &mut String, moment: &Moment<'_>, width: f64, top: f64) {
    let recording = moment.recording;
    let processors = recording.choice.processors;
    let first = moment.step.saturating_sub(BEFORE);
    let end = recording.steps.len().min(first + BEFORE + BEHIND);
    let column = (width - STRIP_LEFT - 10.0) / (BEFORE + BEHIND) as f64;
    let x = |step: usize| STRIP_LEFT + (step - first) as f64 * column;
    let y = |row: usize| top + 22.0 + row as f64 * STRIP_ROW;
    let tall = processors as f64 * STRIP_ROW;
    let now = moment.now().map_or(0, |step| step.time);
    let at = x(moment.step) + column / 2.0;
    let _ = writeln!(
        out,
        "<text class=\"strip\" x=\"10\" y=\"{:.1}\">schedule</text>\
         <rect class=\"present\" x=\"{:.1}\" y=\"{:.1}\" width=\"{column:.1}\" height=\"{:.1}\"/>\
         <text class=\"present\" x=\"{at:.1}\" y=\"{:.1}\">step {}, cycle {now}</text>",
        top + 16.0,
        x(moment.step),
        top + 20.0,
        tall + 4.0,
        top + 16.0,
        moment.step
    );
    for row in 0..processors {
        let middle = y(row) + STRIP_ROW / 2.0;
        let _ = writeln!(
            out,
            "<text class=\"strip\" x=\"10\" y=\"{:.1}\">processor {row}</text>\
             <path class=\"row\" d=\"M{STRIP_LEFT} {middle:.1}H{:.1}\"/>",
            middle + 3.0,
            width - 10.0
        );
    }
    for index in first..end {
        let step = &recording.steps[index];
        let class = match (step.operation, step.written) {
            (Operation::Load, _) | (_, None) => "look",
            _ => "write",
        };
        let later = if index > moment.step { " later" } else { "" };
        let _ = writeln!(
            out,
            "<rect class=\"{class}{later}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
             rx=\"1.5\" fill=\"{fill}\" stroke=\"{fill}\"/>",
            x(index) + 1.0,
            y(step.processor) + 1.5,
            column - 2.0,
            STRIP_ROW - 3.0,
            fill = colour(step.processor)
        );
    }
}

/// Returns, for each node of a reactive tree that counts, how many of its last calls in a row agree that it should change.
fn moods(moment: &Moment<'_>) -> HashMap<u64, String> {
    let recording = moment.recording;
    let mut moods: HashMap<u64, (u32, u32)> = HashMap::new();
    if recording.choice.structure != Structure::Counter("reactive") {
        return HashMap::new();
    }
    let mut node_of = HashMap::new();
    let mut node = 0;
    for (word, about) in recording.words.iter().enumerate() {
        match (about.name, about.index) {
            ("node state", Some(index)) => node = index as u64,
            ("guarded value", _) => drop(node_of.insert(word, node)),
            _ => {}
        }
    }
    let mut counting = HashSet::new();
    for (index, step) in recording.steps.iter().enumerate().take(moment.step + 1) {
        let word = &recording.words[step.word];
        if word.name == "node state" {
            let node = word.index.unwrap_or_default() as u64;
            if step.written.is_some() {
                moods.remove(&node);
            }
            if Look::Role.show(Some(step.value())).text == "counts" {
                counting.insert(node);
            } else {
                counting.remove(&node);
            }
        }
        let Some(node) = node_of.get(&step.word).filter(|node| counting.contains(node)) else {
            continue;
        };
        let Some(waited) = story::waited(recording, index) else { continue };
        let (idle, crowded) = moods.entry(*node).or_default();
        *idle = if waited < REACTIVE.fold_below { *idle + 1 } else { 0 };
        *crowded = if waited > REACTIVE.unfold_above { *crowded + 1 } else { 0 };
    }
    let run = REACTIVE.run;
    let told = |(node, (idle, crowded)): (u64, (u32, u32))| {
        let text = if crowded > 0 {
            format!("crowded: {} of {run}", crowded.min(run))
        } else {
            format!("idle: {} of {run}", idle.min(run))
        };
        (idle > 0 || crowded > 0).then_some((node, text))
    };
    moods.into_iter().filter_map(told).collect()
}

/// Returns the colour of a processor: hues as far apart as can be, dark enough for white letters.
pub fn colour(id: usize) -> String {
    let hue = (id as f64 * 137.508 + 210.0) % 360.0;
    let lightness = if id.is_multiple_of(2) { 0.42 } else { 0.36 };
    let part = |n: f64| {
        let k = (n + hue / 30.0) % 12.0;
        let a = 0.62 * f64::min(lightness, 1.0 - lightness);
        let value = lightness - a * f64::max(-1.0, (k - 3.0).min(9.0 - k).min(1.0));
        (value * 255.0).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", part(0.0), part(8.0), part(4.0))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
