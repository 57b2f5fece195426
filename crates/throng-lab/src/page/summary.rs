//! Writes the table at the top: what to use for each need, beside the best of other libraries and the usual choice.

use std::fmt::Write as _;

use throng_papers::numbers::counted;

use super::text::{NONE, escaped, rough, times};
use crate::survey::document::{Cell, Entrant, Need, Survey, Whose};

/// Returns the table, or nothing if nothing was measured.
pub(super) fn table(survey: &Survey) -> String {
    let rows: String =
        survey.needs.iter().enumerate().filter_map(|(i, need)| row(survey, i, need)).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "<section id=\"summary\" aria-labelledby=\"summary-title\">\n\
         <h2 id=\"summary-title\">In one table</h2>\n\
         <div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Table: what to use\">\n<table>\n\
         <caption>Medians on as many threads as there are cores. Small: 99 of 100 calls take no longer. The best of \
         others is the fastest structure of another library that holds a limited number of items if the usual one \
         does.</caption>\n\
         <thead><tr><th scope=\"col\">need</th><th scope=\"col\">change in the program</th>\
         <th scope=\"col\" class=\"number\">throng</th><th scope=\"col\" class=\"number\">best of others</th>\
         <th scope=\"col\" class=\"number\">usual choice</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n\
         </div>\n</section>"
    )
}

fn row(survey: &Survey, i: usize, need: &Need) -> Option<String> {
    let advice = need.advice.as_ref()?;
    let (ours, usual) = (need.entrant(&advice.pick)?, need.entrant(&need.usual)?);
    let threads =
        ours.cells.iter().map(|cell| cell.threads).filter(|&n| n <= survey.setup.cores).max()?;
    let best = best_peer(need, usual, threads);
    let mut row = format!(
        "<tr><th scope=\"row\"><a href=\"#need-{i}\">{}</a><br><small>{}, {}</small></th>",
        escaped(&need.title),
        need.unit.in_words(),
        counted(threads as u64, "thread"),
    );
    let _ = write!(
        row,
        "<td><code>{}</code><br><small>instead of</small> <code>{}</code></td>",
        escaped(&ours.code),
        escaped(&usual.code)
    );
    let mine = ours.on(threads);
    for (of, entrant) in
        [("throng", Some(ours)), ("best of others", best), ("usual choice", Some(usual))]
    {
        let cell = entrant.and_then(|entrant| Some((entrant, entrant.on(threads)?)));
        let text = cell.map_or(NONE.to_owned(), |(entrant, cell)| {
            let is_mine = entrant.name == ours.name;
            numbers(need, cell, mine.filter(|_| !is_mine), (!is_mine).then_some(entrant))
        });
        let _ = write!(row, "<td class=\"number\" data-of=\"{of}\">{text}</td>");
    }
    Some(row + "</tr>\n")
}

/// The fastest entrant of other libraries on this number of threads that can be compared with the usual one.
fn best_peer<'a>(need: &'a Need, usual: &Entrant, threads: usize) -> Option<&'a Entrant> {
    let speed = |entrant: &Entrant| {
        entrant.on(threads).map(|cell| need.unit.times_as_good(cell.median, 1.0))
    };
    let peers = need
        .entrants
        .iter()
        .filter(|entrant| entrant.whose == Whose::Peer && entrant.compares_with(usual));
    let known = peers
        .filter_map(|entrant| Some((entrant, speed(entrant).filter(|speed| speed.is_finite())?)));
    known.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(entrant, _)| entrant)
}

/// The median, the 99th percentile, the name of a peer, and how fast it is beside ours.
fn numbers(need: &Need, cell: &Cell, ours: Option<&Cell>, peer: Option<&Entrant>) -> String {
    let mut text = rough(cell.median);
    if let Some(p99) = cell.latency.map(|latency| latency.p99_ns).filter(|ns| ns.is_finite()) {
        let _ = write!(text, "<br><small>p99 {} us</small>", rough(p99 / 1e3));
    }
    if let (Some(ours), Some(peer)) = (ours, peer) {
        let ratio = need.unit.times_as_good(ours.median, cell.median);
        let ratio =
            if ratio.is_finite() { format!(", throng {}", times(ratio)) } else { String::new() };
        let _ = write!(text, "<br><small><code>{}</code>{ratio}</small>", escaped(&peer.code));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::document::Unit;
    use crate::survey::sample::{advice, entrant, need, survey};

    fn sample() -> Survey {
        let runs = |of: [f64; 3]| {
            let cells = of.iter().enumerate().map(|(k, &value)| (1 << k, vec![value; 3]));
            cells.collect::<Vec<_>>()
        };
        let mut queues = need(
            "queues",
            Unit::MillionPerSecond,
            vec![
                entrant("usual", Whose::Peer, &runs([9.0, 4.0, 2.0])),
                entrant("fast", Whose::Peer, &runs([9.0, 6.0, 5.0])),
                entrant("ours", Whose::Ours, &runs([9.0, 9.0, 10.0])),
            ],
        );
        queues.advice = Some(advice("ours", &[1, 2, 4], true));
        survey(vec![queues, need("nothing", Unit::MillionPerSecond, Vec::new())])
    }

    #[test]
    fn a_need_has_a_row_with_ours_the_best_peer_and_the_usual_choice() {
        let table = table(&sample());
        assert_eq!(table.matches("<tr><th scope=\"row\">").count(), 1, "{table}");
        let places = [
            "4 threads",
            "some::ours",
            "some::usual",
            ">10<",
            "some::fast</code>, throng 2",
            "throng 5",
        ];
        for place in places {
            assert!(table.contains(place), "{place} in {table}");
        }
        assert!(super::table(&survey(Vec::new())).is_empty());
    }

    #[test]
    fn a_queue_without_a_limit_is_not_the_best_peer_of_one_with_a_limit() {
        let mut sample = sample();
        let need = &mut sample.needs[0];
        let usual = need.entrants[0].clone();
        let best = |need: &Need| best_peer(need, &usual, 4).map(|peer| peer.name.clone());
        assert_eq!(best(need).as_deref(), Some("fast"));
        need.entrants[1].bounded = Some(false);
        let usual = Entrant { bounded: Some(true), ..usual.clone() };
        assert_eq!(best_peer(need, &usual, 4).map(|peer| peer.name.as_str()), Some("usual"));
    }
}
