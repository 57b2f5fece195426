//! SS98 section 3: the model itself. Compares its Markov chain, its differential equations and its
//! closed form with each other, and with what the paper says of them.
//! (More than 500 lines: 18 claims over the same few runs of the chain.)

use crate::chart::{Axis, Chart, Look, Mark, Scale, Series};
use crate::error::Error;
use crate::figures::claim::Claim;
use crate::figures::curve::{Curve, Point};
use crate::figures::lab::Lab;
use crate::figures::{Figure, Findings, Panel};
use crate::model::markov::{Length, Measured, measure};
use crate::model::ranges::Bounds;
use crate::model::{Counters, Setting, Tree, balance, closed_form, flow, jumps};

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "SS98-M",
    title: "pairs and latency by the steady-state model",
    paper: "SS98 section 3",
    shows: "The Markov chain, the differential equations and the closed form against each other.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let (charts, claims) = ss98_m(lab.smoke, lab.seed);
    Ok(Findings {
        setup: format!("no machine: the model, seed {}", lab.seed),
        panels: charts.into_iter().map(panel).collect(),
        claims: claims.into_iter().map(|one| claim(lab, one)).collect(),
    })
}

fn panel(chart: Chart) -> Panel {
    let curve = |series: Series| Curve {
        name: series.name,
        points: series.points.into_iter().map(|(x, y)| Point::exact(x, y)).collect(),
        look: series.look,
        command: None,
        note: None,
    };
    Panel {
        title: format!("{}: {}", chart.title, chart.subtitle),
        drawn_from: f64::NEG_INFINITY,
        x: chart.x,
        y: chart.y,
        series: chart.series.into_iter().map(curve).collect(),
        marks: chart.marks,
    }
}

/// Returns the claim, without judgement in a small test.
fn claim(lab: &Lab, claim: Claim) -> Claim {
    match claim.holds.and_then(|holds| lab.judge(holds)) {
        None => Claim { holds: None, note: None, ..claim },
        Some(_) => claim,
    }
}

/// The sizes of the experiments.
struct Size {
    seed: u64,
    /// Moves and tries of processors in one simulation.
    effort: usize,
    /// Trees with `L = 2^d` of these depths, for the ranges of `P`.
    depths: [u32; 2],
    /// Depth and widths of trees with prisms so wide that chance and toggles have no effect.
    wide_depth: u32,
    wide: [usize; 3],
    /// Depth of a tree with `√L` far from `d√L`, which separates the ranges.
    deep: u32,
}

impl Size {
    const fn of(smoke: bool, seed: u64) -> Self {
        if smoke {
            Size {
                seed,
                effort: 30_000,
                depths: [4, 5],
                wide_depth: 2,
                wide: [128, 512, 2048],
                deep: 7,
            }
        } else {
            Size {
                seed,
                effort: 4_000_000,
                depths: [5, 6],
                wide_depth: 4,
                wide: [256, 2048, 16_384],
                deep: 10,
            }
        }
    }

    fn chain(&self, setting: &Setting) -> Measured {
        measure(setting, Length::of_effort(setting, self.effort), self.seed)
    }
}

/// Loads, in processors a prism cell, at which chains are compared with formulas.
const LOADS: [f64; 7] = [0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];

/// Returns charts and claims. The same seed gives the same results. `smoke` is small and takes
/// about a second.
fn ss98_m(smoke: bool, seed: u64) -> (Vec<Chart>, Vec<Claim>) {
    let size = Size::of(smoke, seed);
    let wide = wide_prisms(&size);
    let mut charts = vec![pairs_chart(&size, &wide)];
    let mut claims = vec![fixed_point(), load_is_alpha(), continuous_chain(&wide)];
    claims.extend([discrete_chain(&wide), poisson(&wide), lower_bound(&wide)]);
    claims.push(lower_bound_with_toggles(&size));
    for depth in size.depths {
        let curve = Rounds::trace(&size, depth);
        claims.extend([curve.little(), curve.sparse(), curve.toggles(), curve.peak()]);
        claims.extend([curve.optimum(), curve.crowd()]);
        charts.push(curve.chart());
    }
    claims.extend([latency_is_p(&size), peak_scaling(), counters(&size)]);
    (charts, claims)
}

/// Chains in trees with wide prisms, at one load.
struct Wide {
    load: f64,
    /// The discrete chain without toggles: load, and the part of the cells with a pair.
    discrete: (f64, f64),
    /// The continuous chain: the same.
    continuous: (f64, f64),
    /// The discrete chain with toggles, by width: `E[Z]` in units of theorem 3.2.
    with_toggles: Vec<(usize, f64)>,
}

/// Measures chains without work, so that all processors are at prisms and `x = α`: the best case of
/// the theorem.
fn wide_prisms(size: &Size) -> Vec<Wide> {
    let setting = |prism: usize, load: f64| {
        let tree = Tree { depth: size.wide_depth, prism };
        let processors = (load * tree.all_cells()).round() as usize;
        Setting { work: 0, ..Setting::of_paper(tree, processors) }
    };
    let at_load = |load: f64| {
        let widest = setting(size.wide[2], load);
        let cells = widest.tree.all_cells();
        let discrete = size.chain(&widest.without_toggles());
        let time = (4.0 * size.effort as f64 / widest.processors as f64).max(20.0);
        let continuous =
            jumps::measure(&widest, time.min(100.0), time, size.seed).expect("the tree has prisms");
        let ratio = |prism: usize| {
            let setting = setting(prism, load);
            let theorem = closed_form::theorem(&setting).expect("the tree has prisms");
            (prism, size.chain(&setting).throughput.mean / theorem.throughput)
        };
        Wide {
            load,
            discrete: (
                widest.processors as f64 / cells,
                discrete.throughput.mean / (2.0 * widest.tree.prism as f64),
            ),
            continuous: (continuous.load, continuous.pairs),
            with_toggles: size.wide.into_iter().map(ratio).collect(),
        }
    };
    LOADS.into_iter().map(at_load).collect()
}

/// Returns `m` of the discrete chain for wide prisms: the probability of two or more in a cell, by
/// Poisson's law.
fn poisson_pairs(load: f64) -> f64 {
    1.0 - (1.0 + load) * (-load).exp()
}

fn pairs_chart(size: &Size, wide: &[Wide]) -> Chart {
    let loads: Vec<f64> = (0..=70).map(|k| 0.0625 * 2_f64.powf(f64::from(k) / 10.0)).collect();
    let curve = |m: fn(f64) -> f64| loads.iter().map(|&load| (load, m(load))).collect();
    let tree = Tree::of_depth(8);
    let rest = |load: f64| {
        let processors = (load * tree.all_cells()).round() as usize;
        let at_rest = flow::run(&Setting { work: 0, ..Setting::of_paper(tree, processors) })?;
        Some((at_rest.state.levels[0].processors, at_rest.state.levels[0].pairs))
    };
    Chart {
        title: "Prism cells with a pair in them".to_owned(),
        subtitle: format!(
            "chains with d = {}, L = {}, without toggles and work",
            size.wide_depth, size.wide[2]
        ),
        x: Axis::new("processors a prism cell", Scale::Log2),
        y: Axis::new("m = E[Z] / 2L", Scale::Linear),
        series: vec![
            Series::scattered(
                "Markov chain of the model, in steps",
                wide.iter().map(|w| w.discrete).collect(),
            ),
            Series::curve("1 - (1 + x) exp(-x)", curve(poisson_pairs)),
            Series::scattered(
                "chain of the proof, in continuous time",
                wide.iter().map(|w| w.continuous).collect(),
            ),
            Series {
                look: Look::Line,
                ..Series::measured(
                    "differential equations at rest",
                    loads.iter().copied().filter_map(rest).collect(),
                )
            },
            Series::curve("theorem 3.2: (x / (x + 1))²", curve(closed_form::pairs)),
        ],
        marks: Vec::new(),
    }
}

fn fixed_point() -> Claim {
    let mut worst: f64 = 0.0;
    for depth in [2, 5, 10] {
        for load in LOADS {
            let tree = Tree::of_depth(depth);
            let processors = (load * tree.all_cells()).ceil() as usize;
            let Some(rest) = flow::run(&Setting::of_paper(tree, processors)) else {
                worst = f64::INFINITY;
                continue;
            };
            for balancer in rest.state.levels {
                let m = closed_form::pairs(balancer.processors);
                worst = worst.max((balancer.pairs / m - 1.0).abs());
            }
        }
    }
    Claim::new(
        "Theorem 3.2: the differential equations rest at m = x²/(x²+2x+1), with x processors \
               a prism cell",
        "relative error below 1e-5",
    )
    .judged(
        format!("largest relative error {worst:.0e} (d = 2, 5, 10; x from 0.1 to 8)"),
        Some(worst < 1e-5),
    )
}

fn load_is_alpha() -> Claim {
    let shortfall = |depth: u32| {
        let setting =
            Setting::of_paper(Tree::of_depth(depth), Tree::of_depth(depth).all_cells() as usize);
        let rest = flow::run(&setting).map_or(f64::NAN, |rest| rest.state.levels[0].pairs);
        1.0 - rest / closed_form::pairs(1.0)
    };
    let depths = [3, 5, 6, 10, 16];
    let all: Vec<f64> = depths.into_iter().map(shortfall).collect();
    let shown: Vec<String> =
        depths.iter().zip(&all).map(|(d, s)| format!("{:.1} % at d = {d}", 100.0 * s)).collect();
    Claim {
        text: "Theorem 3.2: x is α = P/(dL). (Processors at work are at no cell, so it can only \
               hold as d grows.)"
            .to_owned(),
        expected: "m short of its value at α = 1 by O(1/d) with work = 1: less the deeper, and \
                   shortfall times d at d = 16 below 1.34 times that at d = 5"
            .to_owned(),
        measured: shown.join(", "),
        // In proportion to 1/d, to within a third.
        holds: Some(all.is_sorted_by(|a, b| a > b) && (all[4] * 16.0) / (all[1] * 5.0) < 1.34),
        note: None,
    }
}

fn continuous_chain(wide: &[Wide]) -> Claim {
    let error = |w: &Wide| (w.continuous.1 / closed_form::pairs(w.continuous.0) - 1.0).abs();
    let worst = wide.iter().map(error).fold(0.0, f64::max);
    Claim::new(
        "Theorem 3.2, proof: for large L the continuous chain behaves as its differential \
               equations",
        "m = x²/(x²+2x+1) to within 5 %",
    )
    .judged(
        format!("largest relative error {:.1} % (x from 0.1 to 8)", 100.0 * worst),
        Some(worst < 0.05),
    )
}

fn ratios(wide: &[Wide], ratio: impl Fn(&Wide) -> f64) -> (Vec<f64>, String) {
    let all: Vec<f64> = wide.iter().map(ratio).collect();
    let shown: Vec<String> =
        wide.iter().zip(&all).map(|(w, r)| format!("{r:.2} at x = {}", w.load)).collect();
    (all, shown.join(", "))
}

/// Reason why the discrete chain differs from the continuous one.
const DISCRETE: &str = "in a step of the discrete chain all processors choose at once, so x of them \
    a cell fall on it as a Poisson number does, and m is 1 - (1+x) exp(-x), which is measured to \
    within 1 % (the claim marked as ours): about x²/2 for small x, where the theorem has x². The \
    continuous chain of the proof lets a processor wait in its cell to be met for a time of mean 1, \
    which doubles its chances; the convergence theorem ties that chain to its equations, not to the \
    discrete one. With L = 2^d the toggles make up for it at practical depths";

/// Reason why many processors leave twice as fast.
const CROWD: &str = "two processors leave a full cell in each step, so a level with all its L cells \
    full lets 2 L pass, as Theorem 3.2 has it for large α; the paper's L - o(L) counts pairs";

/// Reason why latency is below P, and the peak moves.
const UPPER_LEVELS: &str = "P processors cannot all queue at one toggle: level i has 2^i toggles, each \
    passing one a step, so only the upper levels, where more than one processor a step comes to a \
    toggle, hold anybody up, and diffraction sets in there first. The paper's bound takes the worst \
    level for all d of them";

fn discrete_chain(wide: &[Wide]) -> Claim {
    let (all, shown) = ratios(wide, |w| w.discrete.1 / closed_form::pairs(w.discrete.0));
    Claim::new(
        "Theorem 3.2, proof: the continuous chain stands for the discrete one",
        "m of the discrete chain, without toggles, is 0.95 to 1.05 times x²/(x²+2x+1)",
    )
    .judged(format!("ratio {shown}"), Some(all.iter().all(|ratio| (0.95..1.05).contains(ratio))))
    .because(DISCRETE)
}

fn poisson(wide: &[Wide]) -> Claim {
    let (all, shown) = ratios(wide, |w| w.discrete.1 / poisson_pairs(w.discrete.0));
    Claim::new(
        "Ours, not the paper's: m of the discrete chain is 1 - (1+x) exp(-x) for large L, the \
               probability that two or more choose a cell",
        "ratio from 0.95 to 1.05",
    )
    .judged(format!("ratio {shown}"), Some(all.iter().all(|ratio| (0.95..1.05).contains(ratio))))
}

fn lower_bound(wide: &[Wide]) -> Claim {
    let by_width = |w: &Wide| {
        let ratios = w.with_toggles.iter();
        let ratios: Vec<String> =
            ratios.map(|(l, ratio)| format!("{ratio:.2} (L = {l})")).collect();
        format!("{} at α = {}", ratios.join(", "), w.load)
    };
    let shown: Vec<String> = wide.iter().map(by_width).collect();
    let at_widest = |w: &Wide| w.with_toggles.last().expect("there are widths").1;
    Claim::new(
        "Theorem 3.2: E[Z] >= (1-o(1)) 2L α²/(α²+2α+1), d fixed and L growing",
        "E[Z] / (2 L m) at least 0.97 at the largest L, at every α; toggles included",
    )
    .judged(shown.join("; "), Some(wide.iter().all(|w| at_widest(w) > 0.97)))
    .because(DISCRETE)
}

fn lower_bound_with_toggles(size: &Size) -> Claim {
    let ratio = |setting: &Setting, throughput: f64| {
        throughput / closed_form::theorem(setting).expect("the tree has prisms").throughput
    };
    let at = |depth: u32, load: f64| {
        let tree = Tree::of_depth(depth);
        Setting::of_paper(tree, (load * tree.all_cells()).round() as usize)
    };
    let mut lowest = f64::INFINITY;
    let mut shown = Vec::new();
    for depth in size.depths.into_iter().chain([size.deep]) {
        let of_chain = |load| ratio(&at(depth, load), size.chain(&at(depth, load)).throughput.mean);
        let least =
            [0.1, 0.25, 0.5, 1.0, 2.0].map(of_chain).into_iter().fold(f64::INFINITY, f64::min);
        lowest = lowest.min(least);
        shown.push(format!("{least:.2} (d = {depth})"));
    }
    let far = [16, 24].map(|depth| {
        let setting = at(depth, 0.4);
        format!("{:.2} (d = {depth})", ratio(&setting, balance::settle(&setting).throughput))
    });
    Claim::new("Theorem 3.2 in trees such as those of section 4: L = 2^d, work = 1, toggles. (The \
               toggles of the lower levels lift E[Z], by less the deeper the tree.)", "E[Z] / (2 L m) at least 1").judged(format!(
            "least ratio of the chain for α from 0.1 to 2: {}. (Not so in trees far deeper than the \
             paper's: by the balance, at α = 0.4, {})",
            shown.join(", "),
            far.join(", ")
        ), Some(lowest >= 1.0))
}

/// One tree, with the round of many numbers of processors.
struct Rounds {
    tree: Tree,
    points: Vec<(Setting, Measured)>,
}

impl Rounds {
    fn trace(size: &Size, depth: u32) -> Self {
        let tree = Tree::of_depth(depth);
        let most = 12.0 * tree.all_cells();
        let mut sizes: Vec<usize> = (0..)
            .map(|k| 2_f64.powf(f64::from(k) / 2.0).round() as usize)
            .take_while(|&size| size as f64 <= most)
            .chain([depth as usize, depth as usize + 1, tree.all_cells() as usize])
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        let point = |processors| {
            let setting = Setting::of_paper(tree, processors);
            (setting, size.chain(&setting))
        };
        Rounds { tree, points: sizes.into_iter().map(point).collect() }
    }

    fn name(&self) -> String {
        format!("d = {}, L = {}", self.tree.depth, self.tree.prism)
    }

    fn little(&self) -> Claim {
        let off = |(setting, measured): &(Setting, Measured)| {
            let law = setting.processors as f64 / measured.throughput.mean;
            (measured.round.mean / law - 1.0).abs()
        };
        let worst = self.points.iter().map(off).fold(0.0, f64::max);
        Claim::new(
            format!("Lemma 3.1: E[T] = P / E[Z] ({})", self.name()),
            "within 2 % of the rounds of processors followed one by one",
        )
        .judged(format!("largest difference {:.2} %", 100.0 * worst), Some(worst < 0.02))
    }

    fn sparse(&self) -> Claim {
        let d = f64::from(self.tree.depth);
        // The paper counts the step of work in E[T]; with it this bound could not hold.
        let latencies: Vec<f64> = self.within(0.0, d).map(|(_, round)| round - 1.0).collect();
        let (least, most) = (min(&latencies), max(&latencies));
        Claim::new(
            format!("Section 3.1: if P < d, E[T] <= d ({})", self.name()),
            format!("at most {d}, the step of work not counted"),
        )
        .judged(
            format!("from {least:.2} to {most:.2}; with the step of work one more"),
            Some(most < d + 0.005),
        )
    }

    fn toggles(&self) -> Claim {
        let d = f64::from(self.tree.depth);
        let few = self.points.iter().filter(|(setting, _)| setting.processors as f64 > d);
        let least = few.map(|(_, m)| m.throughput.mean).fold(f64::INFINITY, f64::min);
        Claim::new(
            format!("Section 3.1: as long as P > d, E[Z] >= 1 and E[T] <= P ({})", self.name()),
            "E[Z] at least 1 (0.999, as it is an estimate)",
        )
        .judged(format!("least E[Z] {least:.3}"), Some(least > 0.999))
    }

    fn highest(&self) -> (f64, f64) {
        let start = f64::from(self.tree.depth);
        self.within(start, self.tree.all_cells())
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .expect("there are points between d and dL")
    }

    fn peak(&self) -> Claim {
        let (processors, round) = self.highest();
        let place = Bounds::of(&self.tree).diffracting_from;
        let after = self.within(processors, self.tree.all_cells() + 1.0).map(|(_, r)| r);
        let valley = after.fold(f64::INFINITY, f64::min);
        Claim::new(
            format!(
                "Section 5: a local maximum of latency at about P = d√L, of O(d√L) ({})",
                self.name()
            ),
            format!(
                "P within a factor of 2 of {place:.0}, at most {place:.0} steps, and falling \
                 after it"
            ),
        )
        .judged(
            format!(
                "at P = {processors}, {round:.1} steps (d + 1 + √L is {:.1}); then down to \
                 {valley:.1}",
                f64::from(self.tree.depth) + 1.0 + (self.tree.prism as f64).sqrt()
            ),
            Some((0.5..=2.0).contains(&(processors / place)) && round <= place && valley < round),
        )
    }

    fn optimum(&self) -> Claim {
        let (d, all) = (f64::from(self.tree.depth), self.tree.all_cells());
        let round = self.within(all, all + 1.0).map(|(_, r)| r).next().unwrap_or(f64::NAN);
        Claim::new(
            format!("Section 3.1: E[T] = O(d) at P = dL, L <= 2^d ({})", self.name()),
            format!("below 2 d + 1 = {} steps", 2.0 * d + 1.0),
        )
        .judged(format!("{round:.2} steps, {:.2} d", round / d), Some(round < 2.0 * d + 1.0))
    }

    fn crowd(&self) -> Claim {
        let (setting, measured) = self.points.last().expect("there are points");
        let l = self.tree.prism as f64;
        let ratio = measured.throughput.mean / l;
        Claim::new(
            format!(
                "Section 3.1: as P/(dL) grows, E[Z] = L - o(L) and E[T] = P/L, counters aside ({})",
                self.name()
            ),
            "E[Z] / L from 0.8 to 1.2 (by theorem 3.2 near 2: two leave a cell in a step)",
        )
        .judged(
            format!(
                "E[Z] = {ratio:.2} L at P = {:.1} dL",
                setting.processors as f64 / self.tree.all_cells()
            ),
            Some((0.8..1.2).contains(&ratio)),
        )
        .because(CROWD)
    }

    /// Returns the numbers of processors from `low` to below `high`, with their rounds.
    fn within(&self, low: f64, high: f64) -> impl Iterator<Item = (f64, f64)> {
        let all = self
            .points
            .iter()
            .map(|(s, m)| (s.processors as f64, s.processors as f64 / m.throughput.mean));
        all.filter(move |&(processors, _)| low <= processors && processors < high)
    }

    fn chart(&self) -> Chart {
        let chain: Vec<(f64, f64)> = self.within(0.0, f64::INFINITY).collect();
        let ceiling = 4.0 * chain.iter().map(|point| point.1).fold(0.0, f64::max);
        let points = |round: &dyn Fn(&Setting) -> Option<f64>| -> Vec<(f64, f64)> {
            let all =
                self.points.iter().filter_map(|(s, _)| Some((s.processors as f64, round(s)?)));
            all.filter(|point| point.1 <= ceiling).collect()
        };
        let bounds = Bounds::of(&self.tree);
        let line = |series: Series| Series { look: Look::Line, ..series };
        Chart {
            title: "Latency of a diffracting tree, by the model".to_owned(),
            subtitle: format!("{}, work = 1, counters without a limit", self.name()),
            x: Axis::new("processors P", Scale::Log2),
            y: Axis::new("E[T] (steps)", Scale::Log10),
            series: vec![
                Series::measured("Markov chain", chain),
                line(Series::measured(
                    "its balance by level",
                    points(&|s| Some(s.processors as f64 / balance::settle(s).throughput)),
                )),
                line(Series::measured(
                    "differential equations",
                    points(&|s| flow::run(s).map(|rest| rest.round)),
                )),
                Series::curve(
                    "theorem 3.2",
                    points(&|s| closed_form::theorem(s).map(|form| form.round)),
                ),
            ],
            marks: vec![
                Mark::new(bounds.toggling_from, "P = d"),
                Mark::new(bounds.diffracting_from, "P = d√L"),
                Mark::new(self.tree.all_cells(), "P = dL"),
            ],
        }
    }
}

fn min(all: &[f64]) -> f64 {
    all.iter().copied().fold(f64::INFINITY, f64::min)
}

fn max(all: &[f64]) -> f64 {
    all.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn latency_is_p(size: &Size) -> Claim {
    let tree = Tree::of_depth(size.deep);
    let root = (tree.prism as f64).sqrt();
    let bound = Bounds::of(&tree).diffracting_from;
    let mut ratios = Vec::new();
    let mut shown = Vec::new();
    for factor in [0.5, 1.0, 2.0, 4.0] {
        let processors = ((factor * root).round() as usize).max(size.deep as usize + 1);
        let round =
            processors as f64 / size.chain(&Setting::of_paper(tree, processors)).throughput.mean;
        ratios.push(round / processors as f64);
        shown.push(format!("{:.2} at P = {processors}", round / processors as f64));
    }
    Claim::new(
        format!(
            "Section 5: for P = o(d√L) the latency is max(P, d) (d = {}, L = {}, √L = {root:.0}, \
             d√L = {bound:.0})",
            size.deep, tree.prism
        ),
        "E[T] / P above 0.7 at each of these P, all below d√L",
    )
    .judged(shown.join(", "), Some(ratios.iter().all(|&ratio| ratio > 0.7)))
    .because(UPPER_LEVELS)
}

fn peak_scaling() -> Claim {
    let place = |depth: u32| {
        let tree = Tree::of_depth(depth);
        let bound = Bounds::of(&tree).diffracting_from;
        let (mut best, mut highest) = (0.0, 0.0);
        for k in -20..=20 {
            let processors = (bound * 2_f64.powf(f64::from(k) / 10.0)).round() as usize;
            let setting = Setting::of_paper(tree, processors);
            let round = processors as f64 / balance::settle(&setting).throughput;
            if round > highest {
                (best, highest) = (processors as f64 / bound, round);
            }
        }
        (best, highest / (tree.prism as f64).sqrt())
    };
    let depths = [6, 10, 14, 18, 24];
    let places = depths.map(place);
    let shown: Vec<String> = depths
        .iter()
        .zip(places)
        .map(|(d, (p, t))| format!("d = {d}: P = {p:.2} d√L, E[T] = {t:.2} √L"))
        .collect();
    Claim::new(
        "Section 5: the local maximum stays at about d√L as d grows (L = 2^d; by the balance)",
        "P / d√L at d = 24 above 0.8 times that at d = 10",
    )
    .judged(shown.join("; "), Some(places[4].0 / places[1].0 > 0.8))
    .because(UPPER_LEVELS)
}

fn counters(size: &Size) -> Claim {
    let tree = Tree::of_depth(size.depths[0]);
    let setting = Setting {
        counters: Counters::Speed(1.0),
        ..Setting::of_paper(tree, 12 * tree.all_cells() as usize)
    };
    let ratio = size.chain(&setting).throughput.mean / tree.counters() as f64;
    Claim::new(
        format!(
            "Section 3.1: 2^d counters bound E[Z], one a step and counter (d = {}, L = 2^d, \
             P = 12 dL)",
            tree.depth
        ),
        "E[Z] / 2^d from 0.98 to 1.001",
    )
    .judged(format!("E[Z] = {ratio:.3} 2^d"), Some((0.98..1.001).contains(&ratio)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smoke_size_draws_and_judges_everything() {
        let (charts, claims) = ss98_m(true, 1);
        for chart in &charts {
            assert!(chart.svg().unwrap().contains("</svg>"));
        }
        assert_eq!(charts.len(), 3);
        let verdict = |words: &str| {
            let claim = claims.iter().find(|claim| claim.text.contains(words));
            claim.unwrap_or_else(|| panic!("no claim on {words}")).holds.unwrap()
        };
        // What is proved must hold at any size.
        assert!(verdict("rest at m") && verdict("continuous chain behaves"), "{claims:#?}");
        assert!(verdict("Lemma 3.1") && verdict("exp(-x)") && verdict("E[Z] >= 1"), "{claims:#?}");
        assert!(!verdict("stands for the discrete") && !verdict("E[Z] = L - o(L)"), "{claims:#?}");
        assert!(claims.iter().all(|claim| !claim.measured.contains("NaN")), "{claims:#?}");
    }
}
