//! The paper's three methods on a network of messages, and the claims that several figures share.

use super::messages::{Best, SIZES, SMALL, Size, best, larger_networks, setting, with_choice};
use super::*;
use crate::figures::networks::{self, Better, NetworkRow, ahead, named};
use crate::workloads::messages::Network;

/// Smallest ratio for "by far the best" and "substantially". The paper calls a lead of 35 %
/// "roughly similar".
pub(super) const BY_FAR: f64 = 1.5;
/// Smallest ratio of two latencies that counts as a rise, as in Figure 10.
pub(super) const RISES: f64 = 1.25;
/// Largest factor between a measured ratio and the paper's at which they agree, as in Figures 14
/// and 15.
pub(super) const ABOUT: f64 = 1.25;

/// The paper's three methods on a network.
pub(super) struct Compared {
    pub(super) size: Size,
    pub(super) best: Best,
    pub(super) rows: Vec<NetworkRow>,
    pub(super) latencies: Vec<Curve>,
    pub(super) throughputs: Vec<Curve>,
    setup: String,
}

/// Measures the paper's three methods on a network, each in its best width.
pub(super) fn compare(
    lab: &Lab,
    figure: &'static str,
    network: Network,
    work: u64,
    size: &Size,
) -> Result<Compared, Error> {
    let best = best(lab, figure, network, work, size)?;
    let setting = setting(lab, figure, network, work, size);
    let rows = setting.measure(lab, &best.structures())?;
    let larger = larger_networks(&setting, &best.structures());
    Ok(Compared {
        size: *size,
        latencies: rows.iter().map(|row| row.curve(networks::latency)).collect(),
        throughputs: rows.iter().map(|row| row.curve(networks::throughput)).collect(),
        rows,
        setup: format!("{}, {}{larger}", setting.in_words(lab), best.in_words()),
        best,
    })
}

/// Returns charts and claims of the comparison in both sizes.
pub(super) fn findings_of(
    lab: &Lab,
    figure: &'static str,
    network: Network,
    claims: impl Fn(&Compared) -> Result<Vec<Claim>, Error>,
) -> Result<Findings, Error> {
    let mut all = Findings::default();
    let mut setups = Vec::new();
    for size in &SIZES {
        let compared = compare(lab, figure, network, 0, size)?;
        all.claims.extend(claims(&compared)?.into_iter().map(|claim| claim.marked(size.mark)));
        all.panels.extend(compared.panels(lab));
        setups.push(compared.setup);
    }
    all.setup = with_choice(&setups);
    Ok(all)
}

impl Compared {
    pub(super) fn setup(&self) -> &str {
        &self.setup
    }

    /// Joins a reason with the numbers that show it.
    pub(super) fn why(&self, reason: &str) -> String {
        format!("{reason}. {}", self.told())
    }

    /// Describes the three methods with the most clients, for the reasons of failed claims.
    pub(super) fn told(&self) -> String {
        networks::told(&self.rows, self.size.most)
    }

    /// Returns charts of latency, which the paper shows, and throughput, which it discusses.
    pub(super) fn panels(&self, lab: &Lab) -> Vec<Panel> {
        vec![
            networks::panel(
                self.size.title(lab, "latency"),
                processors_axis(),
                networks::latency_axis(Scale::Linear),
                self.latencies.clone(),
            ),
            networks::panel(
                self.size.title(lab, "throughput"),
                processors_axis(),
                throughput_axis(),
                self.throughputs.clone(),
            ),
        ]
    }

    /// Judges that `kind` has at least `times` the throughput of the best other, with many clients.
    pub(super) fn best_throughput(&self, lab: &Lab, text: &str, kind: &str, times: f64) -> Claim {
        let ratio = format!("throughput of {kind} / that of the best other");
        let leads = self.leads(Better::High, kind);
        let claim = Claim::new(text, self.expected_lead(&ratio, times));
        ahead(lab, claim, times, &leads).because(self.told())
    }

    /// Judges that `kind` has the lowest latency by a factor of `times`, with many clients.
    pub(super) fn best_latency(&self, lab: &Lab, text: &str, kind: &str, times: f64) -> Claim {
        let ratio = format!("latency of the best other / that of {kind}");
        let leads = self.leads(Better::Low, kind);
        let claim = Claim::new(text, self.expected_lead(&ratio, times));
        ahead(lab, claim, times, &leads).because(self.told())
    }

    fn expected_lead(&self, ratio: &str, times: f64) -> String {
        let bound =
            if times > 1.0 { format!("at least {times}") } else { "more than 1".to_owned() };
        format!("{ratio} {bound} {}", self.size.in_a_crowd())
    }

    /// Returns the leads of `kind` over the best other, with many clients.
    pub(super) fn leads(&self, better: Better, kind: &str) -> Vec<networks::Lead<'_>> {
        let curves = match better {
            Better::High => &self.throughputs,
            Better::Low => &self.latencies,
        };
        self.size.leads(better, curves, kind)
    }

    /// Judges "In a counting network, when the load is high there is congestion at the balancers,
    /// causing a rise in latency" (section 4.3.2, of Figures 19, 21, 22 and 23).
    pub(super) fn network_is_congested(&self, lab: &Lab) -> Claim {
        let text = "CNet: congestion at the balancers raises latency";
        let told = networks::row(&self.rows, "CNet").told(self.size.most);
        rises(lab, text, named(&self.latencies, "CNet"), self.size.most).because(format!(
            "messages are so slow here that clients ask seldom, and balancers have time. {told}"
        ))
    }

    /// Judges "This gives diffracting trees the characteristic latency curve which appears in all
    /// the architectures we tested" (section 4.3.2).
    pub(super) fn characteristic_curve(&self, lab: &Lab) -> Claim {
        let tree = networks::row(&self.rows, "DTree");
        characteristic(lab, named(&self.latencies, "DTree"), self.size.most).because(format!(
            "latency rises to the end, as switches are busy; what diffraction saves is less. {}. {}",
            tree.told(SMALL),
            tree.told(self.size.most)
        ))
    }
}

/// Judges that latency with `most` clients is more than [`RISES`] times that with few.
pub(super) fn rises(lab: &Lab, text: &str, curve: &Curve, most: f64) -> Claim {
    let claim = Claim::new(
        text,
        format!("latency at P = {most} more than {RISES} times that at P = {SMALL}"),
    );
    let (Some(from), Some(to)) = (curve.at(SMALL), curve.at(most)) else { return claim };
    let measured = format!("from {} to {} cycles: {:.2} times", short(from), short(to), to / from);
    claim.judged(measured, lab.judge(to > RISES * from))
}

/// Judges "A slight increase in concurrency leads to congestion at the toggle bit, causing a rise
/// in latency, then after a further increase diffractions begin to occur and latency falls again."
fn characteristic(lab: &Lab, curve: &Curve, most: f64) -> Claim {
    let claim = Claim::new(
        "DTree has its characteristic curve: latency rises, then falls as tokens diffract",
        format!(
            "some latency is more than {:.0} % above that at P = 1, and a later one more than {:.0} % \
             below it",
            100.0 * NOISE,
            100.0 * NOISE
        ),
    );
    let Some(first) = curve.points.first() else { return claim };
    let found = curve.peak_and_valley(NOISE).filter(|(peak, _)| peak.y > (1.0 + NOISE) * first.y);
    let measured = match found {
        Some((peak, valley)) => format!(
            "from {} cycles alone up to {} at P = {}, down to {} at P = {}",
            short(first.y),
            short(peak.y),
            peak.x,
            short(valley.y),
            valley.x
        ),
        None => format!(
            "no rise and fall: {} cycles alone, {} at P = {SMALL}, {} at P = {most}",
            short(first.y),
            curve.at(SMALL).map_or("-".to_owned(), short),
            curve.at(most).map_or("-".to_owned(), short)
        ),
    };
    claim.judged(measured, lab.judge(found.is_some()))
}

/// Judges "Combining trees handle concurrency by increasing depth, which adds latency with each new
/// level (e.g. Figures 22 and 23)" (section 4.3.2).
pub(super) fn each_level_adds(lab: &Lab, curve: &Curve, most: f64) -> Claim {
    let claim = Claim::new(
        "CTree: each new level adds latency",
        format!("latency higher at each doubling of P from 2 to {most}"),
    );
    let doublings: Vec<(f64, f64)> = (1..=most.log2() as i32)
        .filter_map(|level| Some((2f64.powi(level), curve.at(2f64.powi(level))?)))
        .collect();
    if doublings.len() < 2 {
        return claim;
    }
    let steps: Vec<(f64, f64)> =
        doublings.windows(2).map(|pair| (pair[1].0, pair[1].1 - pair[0].1)).collect();
    let falls: Vec<String> =
        steps.iter().filter(|step| step.1 <= 0.0).map(|step| format!("P = {}", step.0)).collect();
    let mean = steps.iter().map(|step| step.1).sum::<f64>() / steps.len() as f64;
    let measured = format!(
        "{} cycles for each doubling on the average{}",
        short(mean),
        if falls.is_empty() { String::new() } else { format!("; none at {}", falls.join(", ")) }
    );
    claim.judged(measured, lab.judge(falls.is_empty()))
}

/// Judges "Diffracting trees are more scalable: a single diffracting tree can often handle a wide
/// range of concurrency levels with little or no performance penalty" (section 4.3.2).
pub(super) fn more_scalable(lab: &Lab, curves: &[Curve], most: f64) -> Claim {
    let claim = Claim::new(
        "DTree is more scalable than CTree",
        format!(
            "latency of DTree grows by a smaller factor from P = {SMALL} to {most} than that of CTree"
        ),
    );
    let factor = |kind: &str| {
        let curve = named(curves, kind);
        Some(curve.at(most)? / curve.at(SMALL)?)
    };
    let (Some(dtree), Some(ctree)) = (factor("DTree"), factor("CTree")) else { return claim };
    claim
        .judged(format!("DTree {dtree:.2} times, CTree {ctree:.2} times"), lab.judge(dtree < ctree))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn a_rise_and_a_fall_are_needed() {
        let lab = Lab::new(false, 1, 1);
        let judged =
            |points: &[(f64, f64)]| characteristic(&lab, &curve("DTree[8]", points), 128.0).holds;
        assert_eq!(judged(&[(1.0, 30.0), (16.0, 40.0), (128.0, 33.0)]), Some(true));
        assert_eq!(judged(&[(1.0, 30.0), (16.0, 40.0), (128.0, 39.0)]), Some(false), "noise");
        assert_eq!(judged(&[(1.0, 30.0), (16.0, 31.0), (128.0, 20.0)]), Some(false), "no rise");
        assert_eq!(judged(&[(1.0, 30.0), (16.0, 40.0), (128.0, 60.0)]), Some(false));
    }

    #[test]
    fn claims_about_growth() {
        let lab = Lab::new(false, 1, 1);
        let slow = curve("CTree", &[(2.0, 9.0), (16.0, 10.0), (256.0, 12.0)]);
        let fast = curve("DTree[8]", &[(2.0, 9.0), (16.0, 10.0), (256.0, 13.0)]);
        assert_eq!(rises(&lab, "", &slow, MOST).holds, Some(false));
        assert_eq!(rises(&lab, "", &fast, MOST).holds, Some(true));
        assert_eq!(each_level_adds(&lab, &slow, MOST).holds, Some(true));
        let flat = curve("CTree", &[(2.0, 9.0), (4.0, 12.0), (8.0, 12.0)]);
        assert_eq!(
            each_level_adds(&lab, &flat, MOST).measured,
            "1.50 cycles for each doubling on the average; none at P = 8"
        );
        assert_eq!(more_scalable(&lab, &[slow, fast], MOST).holds, Some(false));
    }

    #[test]
    fn small_ones_can_be_made_of_all_figures_of_section_4() {
        let lab = Lab::new(true, 1, 2);
        let ids = ["18", "19", "20", "21", "22", "23", "24", "T2"];
        // (charts, claims) of one size of network; there are two sizes.
        let expected = [(2, 2), (2, 5), (3, 4), (2, 5), (2, 6), (2, 7), (1, 3), (4, 9)];
        for (id, (panels, claims)) in ids.into_iter().zip(expected) {
            let made = crate::figures::find(&format!("DT96-{id}")).unwrap().make(&lab).unwrap();
            let found = made.findings;
            assert_eq!((found.panels.len(), found.claims.len()), (2 * panels, 2 * claims), "{id}");
            assert!(found.claims.iter().all(|claim| claim.holds.is_none()), "{id}");
            assert_eq!(
                found.claims[claims].text,
                format!("{}{}", SIZES[1].mark, found.claims[0].text)
            );
        }
    }
}
