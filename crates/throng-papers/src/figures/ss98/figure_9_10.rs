//! SS98 Figures 9 and 10: latency by the number of processors, of trees of depth 5 and 6 with as
//! many prism slots on each level as leaves.

use super::*;
use crate::chart::Mark;

pub(super) const DEPTHS: [u32; 2] = [5, 6];
const PROCESSORS: [usize; 29] = [
    1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224,
    256, 320, 384, 448, 512,
];
const PROCESSORS_SMOKE: [usize; 4] = [1, 2, 4, 8];

/// Largest ratio of latency at P = d to that at P = 1 that counts as flat.
const FLAT: f64 = 1.5;
/// Largest factor between the two depths' constants c of the peak's place, c d√L, and between the
/// valley and d L.
const NEAR: f64 = 2.0;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "SS98-9/10",
    title: "latency of trees of depth 5 and 6",
    paper: "SS98 Figures 9 and 10",
    shows: "Latency is flat, rises to a local maximum near c d√L, and falls toward P = dL.",
    find,
};

/// Returns the number of prism slots on each level.
fn cells(depth: u32) -> usize {
    1 << depth
}

/// Returns d√L. The peak is expected near a constant times this.
fn peak_scale(depth: u32) -> f64 {
    f64::from(depth) * (cells(depth) as f64).sqrt()
}

/// Returns d L. The valley is expected near this.
fn valley_place(depth: u32) -> f64 {
    f64::from(depth) * cells(depth) as f64
}

/// Returns the numbers of processors.
pub(super) fn processors(lab: &Lab) -> &'static [usize] {
    lab.pick(&PROCESSORS[..], &PROCESSORS_SMOKE[..])
}

/// Machines: the mark of their claims, and their number of processors. `None`: as many as take
/// numbers. DT96 used one machine of 256 processors for all P (a footnote of section 3.3.1). SS98,
/// on the same simulator, does not say. Here the machine is large enough for all P.
pub(super) const MACHINES: [(&str, Option<usize>); 2] =
    [("", Some(512)), ("(a machine of P processors) ", None)];

/// Measures the tree of each depth on a machine.
pub(super) fn rows(lab: &Lab, figure: &str, nodes: Option<usize>) -> Result<Vec<Row>, Error> {
    let row = |&depth: &u32| {
        let counter = tree(NEW, depth, cells(depth));
        let at = |&p: &usize| (p as f64, CountingRun { nodes, ..run(lab, counter.clone(), p) });
        (format!("depth {depth}"), processors(lab).iter().map(at).collect())
    };
    lab.sweep(figure, REPETITIONS, DEPTHS.iter().map(row).collect())
}

fn find(lab: &Lab) -> Result<Findings, Error> {
    let mut findings =
        Findings { setup: setup(lab, "the new balancer, L = 2^d"), panels: vec![], claims: vec![] };
    for (mark, nodes) in MACHINES {
        let rows = rows(lab, FIGURE.id, nodes)?;
        // Figure 9 has a logarithmic scale, Figure 10 a linear one.
        findings.panels.push(panel(lab, &rows, nodes, Scale::Log2));
        findings.panels.push(panel(lab, &rows, nodes, Scale::Linear));
        findings
            .claims
            .extend(claims(lab, &rows, nodes).into_iter().map(|claim| claim.marked(mark)));
    }
    Ok(findings)
}

fn panel(lab: &Lab, rows: &[Row], nodes: Option<usize>, scale: Scale) -> Panel {
    let marks = |(number, &depth): (usize, &u32)| {
        [
            Mark::new(peak_scale(depth), format!("d√L, d = {depth}")).of_series(number),
            Mark::new(valley_place(depth), format!("dL, d = {depth}")).of_series(number),
        ]
    };
    let title = match nodes {
        None => "a machine of P processors".to_owned(),
        Some(nodes) => format!("a machine of {nodes} processors, of which P take numbers"),
    };
    Panel {
        title,
        marks: lab.pick(DEPTHS.iter().enumerate().flat_map(marks).collect(), Vec::new()),
        ..Panel::new(
            Axis::new("processors", scale),
            Axis::new("latency (cycles)", Scale::Linear),
            rows.iter().map(|row| row.curve(latency)).collect(),
        )
    }
}

fn claims(lab: &Lab, rows: &[Row], nodes: Option<usize>) -> Vec<Claim> {
    let [five, six] = [rows[0].curve(latency), rows[1].curve(latency)];
    vec![
        flat_at_first(lab, &five, 5).because(misses(&rows[0], 5)),
        flat_at_first(lab, &six, 6).because(misses(&rows[1], 6)),
        peaks(lab, &five, &six).because(no_hill(&rows[1], 6, nodes)),
        valley(lab, &five, 5).because(no_valley(&rows[0], 5, nodes)),
        valley(lab, &six, 6).because(no_valley(&rows[1], 6, nodes)),
        rises_again(lab, &five),
    ]
}

/// Returns the reason why latency is not flat from one processor on.
fn misses(row: &Row, depth: u32) -> String {
    let misses = row.curve(|run| run.memory.total.misses as f64 / run.handed_out as f64);
    let at = |x: f64| misses.at(x).map_or("-".to_owned(), short);
    format!(
        "one processor alone finds every line in its own cache ({} misses a value), from two on \
         it does not ({} at P = 2, {} at P = {depth}). The paper measured on a machine with caches, \
         too, and shows a nearly constant latency all the same: why, we do not know",
        at(1.0),
        at(2.0),
        at(f64::from(depth))
    )
}

/// Returns the reason why there is little or no peak, from what happens where it should be.
pub(super) fn no_hill(row: &Row, depth: u32, nodes: Option<usize>) -> String {
    let place = row.curve(latency).nearest(peak_scale(depth)).map_or(f64::NAN, |point| point.x);
    let in_line = row.curve(|run| {
        let in_calls = run.latency_cycles_mean * run.handed_out as f64;
        100.0 * run.memory.total.waited_cycles as f64 / in_calls
    });
    let in_pairs = row.curve(|run| {
        let rate = run.diffraction_rate(0).unwrap_or(f64::INFINITY);
        100.0 * rate / (1.0 + rate)
    });
    let at =
        |curve: &Curve| curve.at(place).map_or("-".to_owned(), |share| format!("{share:.0} %"));
    let why = format!(
        "the model has its hill where too few processors meet and the rest stand in line for the \
         toggles. Here, at P = {place}, {} of the tokens at the root leave in pairs, and tokens \
         stand in line for {} of their time: a token waits in the prism for up to 128 looks to be \
         met, not for one step, so that pairs form with fewer processors, and a toggle is passed in \
         less time than a prism is tried",
        at(&in_pairs),
        at(&in_line)
    );
    match nodes {
        Some(_) => why,
        None => format!("{why}. And this machine grows with P, and with it the way to memory"),
    }
}

/// Returns the reason why latency is not lowest near P = dL: there is no peak to fall from, or
/// latency rises before.
pub(super) fn no_valley(row: &Row, depth: u32, nodes: Option<usize>) -> String {
    if row.curve(latency).peak_and_valley(NOISE).is_none() {
        return no_hill(row, depth, nodes);
    }
    format!(
        "it falls less than that, or rises again before P = dL: processors waited at {} (P = 256), {} \
         (P = 384). A token that met nobody reads the lock of the toggle; each passage then has to \
         take the line away from all who have read it since, which takes the longer the more wait. \
         The model lets one pass a toggle in every step, however many try",
        row.hottest(256.0),
        row.hottest(384.0)
    )
}

fn flat_at_first(lab: &Lab, curve: &Curve, depth: u32) -> Claim {
    let claim = Claim::new(
        format!("d = {depth}: nearly constant at small P"),
        format!("latency at P = d at most {FLAT} times that at P = 1"),
    );
    let (Some(one), Some(some)) = (curve.at(1.0), curve.at(f64::from(depth))) else {
        return claim;
    };
    let measured = format!("{} to {} cycles: {:.2} times", short(one), short(some), some / one);
    claim.judged(measured, lab.judge(some <= FLAT * one))
}

/// Returns the place of the peak in units of d√L.
fn peak_constant(curve: &Curve, depth: u32) -> Option<f64> {
    curve.peak_and_valley(NOISE).map(|(peak, _)| peak.x / peak_scale(depth))
}

fn peaks(lab: &Lab, five: &Curve, six: &Curve) -> Claim {
    let claim = Claim::new(
        "rises to a local maximum near P = c d√L",
        format!(
            "both depths have a peak (a fall of more than {:.0} % after it); c differs by less \
             than a factor of {NEAR}",
            100.0 * NOISE
        ),
    );
    let say = |curve: &Curve, depth: u32| match curve.peak_and_valley(NOISE) {
        Some((peak, _)) => format!(
            "d = {depth}: {} cycles at P = {}, c = {:.2}",
            short(peak.y),
            peak.x,
            peak.x / peak_scale(depth)
        ),
        None => format!("d = {depth}: no peak"),
    };
    let holds = match (peak_constant(five, 5), peak_constant(six, 6)) {
        (Some(five), Some(six)) => (five / six).max(six / five) < NEAR,
        _ => false,
    };
    claim.judged(format!("{}; {}", say(five, 5), say(six, 6)), lab.judge(holds))
}

fn valley(lab: &Lab, curve: &Curve, depth: u32) -> Claim {
    let place = valley_place(depth);
    let claim = Claim::new(
        format!("d = {depth}: falls toward P = d L = {place}"),
        format!(
            "the lowest latency after the peak is within a factor of {NEAR} of there, and the \
             latency nearest to there at least {:.0} % below the peak",
            100.0 * NOISE
        ),
    );
    match curve.peak_and_valley(NOISE) {
        Some((peak, valley)) => {
            let there = curve.nearest(place).unwrap_or(valley);
            let measured = format!(
                "{} cycles at P = {}, {:.0} % of the peak; {} at P = {}, {:.0} %",
                short(valley.y),
                valley.x,
                100.0 * valley.y / peak.y,
                short(there.y),
                there.x,
                100.0 * there.y / peak.y
            );
            let off = (valley.x / place).max(place / valley.x);
            let falls = there.y < (1.0 - NOISE) * peak.y;
            claim.judged(measured, lab.judge(off <= NEAR && falls))
        }
        None => claim.judged("there is no peak to fall from", lab.judge(false)),
    }
}

fn rises_again(lab: &Lab, curve: &Curve) -> Claim {
    let claim = Claim::new(
        "d = 5 rises again",
        format!("latency at the largest P at least {:.0} % above the valley", 100.0 * NOISE),
    );
    let (Some((_, valley)), Some(last)) = (curve.peak_and_valley(NOISE), curve.last()) else {
        return claim.judged("there is no valley to rise from", lab.judge(false));
    };
    let measured = format!(
        "{} cycles at P = {}, {} at P = {}",
        short(valley.y),
        valley.x,
        short(last.y),
        last.x
    );
    claim.judged(measured, lab.judge(last.y > (1.0 + NOISE) * valley.y))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn the_shape_of_the_paper_holds_and_a_plain_rise_does_not() {
        let lab = Lab::new(false, 1, 1);
        let points = [(1.0, 100.0), (5.0, 120.0), (48.0, 400.0), (160.0, 200.0), (256.0, 250.0)];
        let five = curve("5", &points);
        let six = curve(
            "6",
            &[(1.0, 100.0), (6.0, 130.0), (80.0, 500.0), (384.0, 200.0), (512.0, 210.0)],
        );
        assert_eq!(flat_at_first(&lab, &five, 5).holds, Some(true));
        let claim = peaks(&lab, &five, &six);
        assert_eq!(claim.holds, Some(true), "{claim:?}");
        assert_eq!(valley(&lab, &five, 5).holds, Some(true));
        assert_eq!(rises_again(&lab, &five).holds, Some(true));
        let rise = Curve::formula("rise", &[1.0, 5.0, 6.0, 64.0, 512.0], |x| 100.0 * x);
        assert_eq!(flat_at_first(&lab, &rise, 5).holds, Some(false));
        assert_eq!(peaks(&lab, &rise, &six).holds, Some(false));
        assert_eq!(valley(&lab, &rise, 6).holds, Some(false));
        assert_eq!(rises_again(&lab, &rise).holds, Some(false));
        assert_eq!(valley(&Lab::new(true, 1, 1), &rise, 6).holds, None);
    }
}
