//! Writes the headline, and a card for each need: what to write in a program, why, and what it
//! gains.

use std::fmt::Write as _;

use throng_papers::numbers::{counted, short};

use super::text::{escaped, times};
use crate::survey::document::{Advice, Gain, Need, Survey};
use crate::survey::verdict::{Verdict, is_better, is_worse};

/// Returns the headline and a description of the machine.
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
            "<p class=\"notice\" id=\"incomplete\"><strong>Ended early.</strong> This measurement was \
             interrupted before its end: parts are missing, and the rest may have fewer runs.</p>\n",
        );
    }
    let trip = match setup.flag_ns.filter(|ns| ns.is_finite()) {
        Some(ns) => format!(" Here such a trip takes about {} nanoseconds.", short(ns.round())),
        None => String::new(),
    };
    let _ = write!(
        head,
        "<p class=\"lead\">When many threads use one object, they wait for each other. Shared data is in \
         a cache line, only one core at a time can change it, and it has to travel from core to \
         core.{trip} Some structures shorten this queue, and some pay only on larger machines. \
         This page says which to use here, as measured on {}.</p>",
        escaped(&survey.date),
    );
    head
}

/// Returns a card for each need.
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
    cards + GLOSSARY + "</section>"
}

/// Words of the page that a newcomer may not know.
const GLOSSARY: &str = "<details class=\"glossary\">\n<summary>Words on this page</summary>\n<dl>\n\
    <dt>Thread</dt><dd>A part of a program that runs beside others. With more threads than cores, some wait.</dd>\n\
    <dt>Line</dt><dd>A piece of memory, mostly 64 bytes, that cores pass on to each other as a whole.</dd>\n\
    <dt>Counter</dt><dd>Hands out the numbers 0, 1, 2 and so on, each once: for ids, tickets, places in a list.</dd>\n\
    <dt>Barrier</dt><dd>Lets no thread continue before all have arrived: between the steps of a computation.</dd>\n\
    <dt>Queue, pool</dt><dd>Pass items from thread to thread: a queue in order, a pool in any order.</dd>\n\
    <dt>Diffracting tree</dt><dd>A method of the papers. Threads that meet on their way to a counter split up, one to \
    the left and one to the right, without a shared word, so that many pass at once. Other methods (combining, \
    gathering, funnels) let one thread fetch for several. The recommended structures choose among such ways by \
    themselves, while they run.</dd>\n\
    <dt>Median</dt><dd>The middle one of several runs: half are smaller, half are larger.</dd>\n\
    <dt>Within noise</dt><dd>A difference no larger than that between runs of the same thing.</dd>\n\
    </dl>\n</details>\n";

fn card(i: usize, need: &Need) -> String {
    let body = match &need.advice {
        Some(advice) => recommendation(need, advice),
        None => {
            "<p class=\"words\">Not enough was measured to recommend anything.</p>\n".to_owned()
        }
    };
    format!(
        "<article class=\"card\">\n<h3>{}</h3>\n{body}\
         <p class=\"more\"><a href=\"#need-{i}\">All that was measured for this</a></p>\n</article>\n",
        escaped(&need.title),
    )
}

fn recommendation(need: &Need, advice: &Advice) -> String {
    let usual = need.entrant(&need.usual).map_or(&need.usual, |entrant| &entrant.code);
    let code = |code: &str| format!("<code>{}</code>", escaped(code));
    let (ours, usual) = (code(&advice.code), code(usual));
    let headline = match Verdict::of(&advice.gains) {
        _ if advice.pick == need.usual => format!("<span>Keep</span> {ours}"),
        Verdict::Pick => format!("<span>Use</span> {ours}"),
        Verdict::Depends => {
            let where_better: Vec<String> = advice
                .gains
                .iter()
                .filter(|g| is_better(g))
                .map(|g| g.threads.to_string())
                .collect();
            format!("<span>Use</span> {ours} <span>on {} threads</span>", where_better.join(", "))
        }
        Verdict::Either => format!("<span>No difference:</span> {usual} <span>or</span> {ours}"),
        Verdict::Unclear => format!("<span>Not clear:</span> {usual} <span>or</span> {ours}"),
        Verdict::Usual => format!("<span>Keep</span> {usual}"),
    };
    let mut text = format!(
        "<p class=\"use\">{headline}</p>\n<p class=\"words\">{}</p>\n",
        escaped(&advice.words)
    );
    if advice.pick != need.usual && !advice.gains.is_empty() {
        text.push_str(&gains(&advice.gains, &ours, &usual));
    }
    text
}

/// Returns a bar for each number of threads. It starts at "as good", and goes to the right for a
/// gain, to the left for a loss.
fn gains(gains: &[Gain], ours: &str, usual: &str) -> String {
    // Log scale: twice as good is as far to the right as half as good is to the left.
    let far = |gain: &Gain| gain.times.log2();
    let known = || gains.iter().map(far).filter(|far| far.is_finite());
    let (least, most) = (known().fold(0.0, f64::min), known().fold(1.0, f64::max));
    let percent = |far: f64| 100.0 * far / (most - least);
    let even = percent(-least);
    let mut table = format!(
        "<table class=\"gains\">\n<caption>Speed-up of {ours} over {usual} (log2 scale)</caption>\n\
         <thead class=\"unseen\"><tr><th scope=\"col\">Threads</th><th scope=\"col\">Bar</th>\
         <th scope=\"col\">Factor</th></tr></thead>\n<tbody>\n"
    );
    for gain in gains {
        let far = Some(far(gain)).filter(|far| far.is_finite());
        let kind = match () {
            () if is_better(gain) => "better",
            () if is_worse(gain) => "worse",
            () => "same",
        };
        let far = percent(far.unwrap_or(0.0));
        let (start, length) = (even + far.min(0.0), far.abs());
        let noise =
            if gain.beyond_noise { "" } else { " <span class=\"unseen\">within noise</span>" };
        let _ = writeln!(
            table,
            "<tr class=\"{kind}\"><th scope=\"row\">{}</th><td class=\"bar\" style=\"--even:{even:.1}%\" \
             aria-hidden=\"true\"><i style=\"left:{start:.1}%;width:{length:.1}%\"></i></td><td>{}{noise}</td></tr>",
            counted(gain.threads as u64, "thread"),
            times(gain.times),
        );
    }
    table.push_str("</tbody>\n</table>\n");
    if gains.iter().any(|gain| !is_better(gain) && !is_worse(gain)) {
        table.push_str(
            "<p class=\"note\">Grey: within the difference between runs of the same entrant.</p>\n",
        );
    }
    table
}
