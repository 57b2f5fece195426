//! The headline, and a card for each need: what to write in a program, why, and what it gains.

use std::fmt::Write as _;

use super::text::{escaped, times};
use crate::numbers::{counted, short};
use crate::survey::document::{Advice, Gain, Need, Survey};

/// What the page is about, and the machine in words.
pub(super) fn head(survey: &Survey) -> String {
    let setup = &survey.setup;
    let mut head = format!(
        "<p class=\"brand\">throng</p>\n<h1>What to use on this machine</h1>\n\
         <p class=\"machine\">{}, {}</p>\n",
        escaped(&setup.processor),
        counted(setup.cores as u64, "processor"),
    );
    if !survey.complete {
        head.push_str(
            "<p class=\"notice\" id=\"incomplete\"><strong>Ended early.</strong> This measurement was broken \
             off before its end. What is here was measured in full; the rest is missing.</p>\n",
        );
    }
    let trip = match setup.flag_ns.filter(|ns| ns.is_finite()) {
        Some(ns) => format!(" Here such a trip takes about {} nanoseconds.", short(ns.round())),
        None => String::new(),
    };
    let _ = write!(
        head,
        "<p class=\"lead\">When many threads use one thing, they stand in line for it: what is shared lies in \
         one line of memory, only one core at a time can change it, and it has to travel from core to \
         core.{trip} There are structures that shorten the line, and some that only pay on larger machines. \
         This page says which to use here, as measured on {}.</p>",
        escaped(&survey.date),
    );
    head
}

/// A card for each need.
pub(super) fn cards(survey: &Survey) -> String {
    let mut cards = "<section id=\"advice\" aria-labelledby=\"advice-title\">\n\
                     <h2 id=\"advice-title\">Advice</h2>\n"
        .to_owned();
    if survey.needs.is_empty() {
        cards.push_str("<p>Nothing was measured, so there is nothing to recommend.</p>\n");
    } else {
        cards.push_str("<div class=\"cards\">\n");
        for (i, need) in survey.needs.iter().enumerate() {
            cards.push_str(&card(i, need));
        }
        cards.push_str("</div>\n");
    }
    cards + "</section>"
}

fn card(i: usize, need: &Need) -> String {
    let body = match &need.advice {
        Some(advice) => recommendation(need, advice),
        None => "<p class=\"words\">Not enough was measured to recommend anything.</p>\n".to_owned(),
    };
    format!(
        "<article class=\"card\">\n<h3>{}</h3>\n{body}\
         <p class=\"more\"><a href=\"#need-{i}\">All that was measured for this</a></p>\n</article>\n",
        escaped(&need.title),
    )
}

fn recommendation(need: &Need, advice: &Advice) -> String {
    let usual = need.entrant(&need.usual).map_or(&need.usual, |entrant| &entrant.code);
    let mut text = format!(
        "<p class=\"use\"><span>Use</span> <code>{}</code></p>\n<p class=\"words\">{}</p>\n",
        escaped(&advice.code),
        escaped(&advice.words),
    );
    if advice.pick == need.usual {
        text.push_str("<p class=\"note\">This is what most use today.</p>\n");
    } else if !advice.gains.is_empty() {
        text.push_str(&gains(&advice.gains, usual));
    }
    text
}

/// A bar for each number of threads, from "as good" to the right where something is gained, to the left
/// where something is lost.
fn gains(gains: &[Gain], usual: &str) -> String {
    // Doublings: twice as good is as far to the right as half as good is to the left.
    let far = |gain: &Gain| gain.times.log2();
    let known = || gains.iter().map(far).filter(|far| far.is_finite());
    let (least, most) = (known().fold(0.0, f64::min), known().fold(1.0, f64::max));
    let percent = |far: f64| 100.0 * far / (most - least);
    let even = percent(-least);
    let mut table = format!(
        "<table class=\"gains\">\n<caption>How many times as good as <code>{}</code> (bars in doublings)</caption>\n\
         <thead class=\"unseen\"><tr><th scope=\"col\">Threads</th><th scope=\"col\">Bar</th>\
         <th scope=\"col\">Times</th></tr></thead>\n<tbody>\n",
        escaped(usual),
    );
    for gain in gains {
        let far = Some(far(gain)).filter(|far| far.is_finite());
        let kind = match far {
            Some(far) if gain.beyond_noise && far >= 0.0 => "better",
            Some(_) if gain.beyond_noise => "worse",
            _ => "same",
        };
        let far = percent(far.unwrap_or(0.0));
        let (start, length) = (even + far.min(0.0), far.abs());
        let noise = if gain.beyond_noise { "" } else { " <small>within noise</small>" };
        let _ = writeln!(
            table,
            "<tr class=\"{kind}\"><th scope=\"row\">{}</th><td class=\"bar\" style=\"--even:{even:.1}%\" \
             aria-hidden=\"true\"><i style=\"left:{start:.1}%;width:{length:.1}%\"></i></td><td>{}{noise}</td></tr>",
            counted(gain.threads as u64, "thread"),
            times(gain.times),
        );
    }
    table + "</tbody>\n</table>\n"
}
