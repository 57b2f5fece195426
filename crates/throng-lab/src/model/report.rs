//! The answer of `throng model`: text or JSON, and a chart with its numbers.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Serialize;

use super::advice::{Expected, MAX_DEPTH, Peak, Question, peak};
use super::markov::{Length, measure};
use super::plan::ModelPlan;
use super::ranges::Bounds;
use super::{Setting, Tree, balance, closed_form, flow};
use crate::chart::{Axis, Chart, Look, Mark, Scale, Series};
use crate::csv::csv;
use crate::error::Error;
use crate::output;
use crate::table::{Align, aligned};

/// Moves and tries of processors that one simulation of the answer has, and one of the chart.
const EFFORT: usize = 600_000;
const CHART_EFFORT: usize = 150_000;

/// Answers the question of the plan.
///
/// # Errors
/// When the chart cannot be drawn or something cannot be written.
pub fn answer(plan: &ModelPlan) -> Result<(), Error> {
    let answer = Answer::find(plan);
    if let Some(folder) = &plan.out {
        let curve = Curve::trace(plan);
        write(&folder.join("model.svg"), &curve.chart(plan, &answer).svg()?)?;
        write(&folder.join("model.csv"), &curve.csv())?;
    }
    output::print(&if plan.json { answer.json() } else { answer.text(plan) })
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|source| Error::Write { to: path.display().to_string(), source })
}

/// A tree, and what the model says of it. Times in steps.
#[derive(Clone, Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    tree: Tree,
    counters: usize,
    /// Processors not at work, on the average.
    in_tree: f64,
    /// Processors at balancers, by prism cell.
    load: Option<f64>,
    range: Option<String>,
    /// By the Markov chain.
    latency: f64,
    latency_error: f64,
    throughput: f64,
    throughput_error: f64,
    diffracted: f64,
    /// By the balance of levels.
    latency_balance: f64,
    /// By theorem 3.2, processors at work not counted: no toggles, no limit of counters.
    latency_theorem: Option<f64>,
}

impl Row {
    fn of(question: &Question, tree: Tree, seed: u64) -> Self {
        let setting = question.setting(tree);
        let expected = Expected::of(question, tree);
        let measured = measure(&setting, Length::of_effort(&setting, EFFORT), seed);
        let latency = measured.latency;
        let in_tree = question.processors as f64 - measured.working;
        Row {
            tree,
            counters: tree.counters(),
            in_tree,
            load: (tree.depth > 0).then(|| measured.levels.iter().sum::<f64>() / tree.all_cells()),
            range: expected.range.map(|range| range.words().to_owned()),
            latency: latency.mean,
            latency_error: latency.error,
            throughput: measured.throughput.mean,
            throughput_error: measured.throughput.error,
            diffracted: measured.diffracted_mean(),
            latency_balance: expected.latency,
            latency_theorem: closed_form::exact(&setting)
                .map(|form| form.round - f64::from(question.work)),
        }
    }
}

/// Everything that is known in the end.
#[derive(Debug, Serialize)]
struct Answer {
    processors: usize,
    work_steps: u32,
    counter_speed: f64,
    seed: u64,
    /// The tree asked for or advised.
    tree: Row,
    /// The tree that the rules give.
    advised: Tree,
    /// The tree and its neighbours, by depth.
    neighbours: Vec<Row>,
    /// Where the ranges begin, in processors, those at work included.
    ranges: Bounds,
    peak: Option<Peak>,
}

impl Answer {
    fn find(plan: &ModelPlan) -> Self {
        let ModelPlan { question, tree, seed, .. } = *plan;
        let depths = tree.depth.saturating_sub(1)..=(tree.depth + 1).min(MAX_DEPTH);
        let neighbour = |depth| match depth {
            depth if depth == tree.depth => tree,
            depth if plan.prism_given => Tree { depth, ..tree },
            depth => Tree { depth, prism: question.prism_over(depth) },
        };
        let neighbours: Vec<Row> =
            depths.map(|depth| Row::of(&question, neighbour(depth), seed)).collect();
        let own = neighbours.iter().find(|row| row.tree == tree).expect("it is among them");
        Answer {
            processors: question.processors,
            work_steps: question.work,
            counter_speed: question.counter_speed,
            seed,
            tree: own.clone(),
            advised: question.tree(),
            ranges: bounds(&question, tree),
            peak: peak(&question, tree),
            neighbours,
        }
    }

    fn json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        format!("{}\n", text.expect("numbers and strings can always be written as JSON"))
    }

    fn text(&self, plan: &ModelPlan) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "{}\n", self.question_line());
        let _ = writeln!(text, "{}", self.advice_line(plan));
        let _ = writeln!(text, "{}\n", self.expectation_line());
        let _ = writeln!(text, "{}", self.table());
        text.push_str(LEGEND);
        let _ = writeln!(text, "\n{}", self.warnings());
        text
    }

    fn question_line(&self) -> String {
        let plural = if self.processors == 1 { "" } else { "s" };
        let work = match self.work_steps {
            0 => "no work between two numbers".to_owned(),
            steps => format!("{steps} steps of work between two numbers"),
        };
        let counters = match self.counter_speed {
            1.0 => "counters as fast as prisms".to_owned(),
            speed if speed > 1.0 => format!("counters {speed} times as fast as prisms"),
            speed => format!("counters {} times as slow as prisms", short(1.0 / speed)),
        };
        format!("{} processor{plural}, {work}, {counters}", self.processors)
    }

    fn advice_line(&self, plan: &ModelPlan) -> String {
        let tree = self.tree.tree;
        let given = plan.depth_given || plan.prism_given;
        let verb = if given { "You asked about" } else { "Use" };
        let mut line = format!("{verb} {}.", described(&tree));
        if given && tree != self.advised {
            let _ = write!(line, "\nThe rules of the model take {}.", described(&self.advised));
        }
        line
    }

    fn expectation_line(&self) -> String {
        let row = &self.tree;
        let mut line = format!(
            "Expect {} steps from root to number (+-{}), {} numbers a step.",
            short(row.latency),
            short(row.latency_error),
            short(row.throughput),
        );
        if let (Some(range), Some(load)) = (&row.range, row.load) {
            let _ = write!(
                line,
                "\nOn the average {} processors are in the tree, {} a prism cell; {:.0} % of all \
                 passages through balancers are diffractions.\nRange: {range}.",
                short(row.in_tree),
                short(load),
                100.0 * row.diffracted,
            );
        }
        line
    }

    fn table(&self) -> String {
        let header = ["", "depth", "prism", "load", "latency", "balance", "theorem", "a step"];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        rows.extend(self.neighbours.iter().map(|row| {
            let optional = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), short);
            vec![
                if row.tree == self.tree.tree { ">" } else { "" }.to_owned(),
                row.tree.depth.to_string(),
                if row.tree.depth == 0 { "-".to_owned() } else { row.tree.prism.to_string() },
                optional(row.load),
                short(row.latency),
                short(row.latency_balance),
                optional(row.latency_theorem),
                short(row.throughput),
            ]
        }));
        aligned(&rows, &[Align::Right; 8])
    }

    fn warnings(&self) -> String {
        let mut text = String::new();
        let own = &self.tree;
        let best = self.neighbours.iter().min_by(|a, b| a.latency.total_cmp(&b.latency));
        if let Some(best) = best.filter(|best| best.latency < 0.97 * own.latency) {
            let _ = writeln!(
                text,
                "Faster by this model: {}, {} steps.",
                described(&best.tree),
                short(best.latency)
            );
        }
        if let Some(peak) = self.peak {
            let near = (0.5..=2.0).contains(&(self.processors as f64 / peak.processors as f64));
            let _ = writeln!(
                text,
                "Latency of this tree has a peak near {} processors ({} steps){}",
                peak.processors,
                short(peak.latency),
                if near { ", and you are there." } else { "." }
            );
        }
        if own.tree.depth > 0 {
            let _ = writeln!(
                text,
                "Its ranges: toggling from {} processors, diffracting from {}, crowded from {}.",
                short(self.ranges.toggling_from),
                short(self.ranges.diffracting_from),
                short(self.ranges.crowded_from),
            );
        }
        text.push_str("The model counts steps; what a step costs, only a measurement tells.");
        text
    }
}

const LEGEND: &str = "\
load: processors a prism cell; a step: numbers handed out in one step
latency: steps from root to number, by the Markov chain of the model; balance: by its mean
theorem: by theorem 3.2 of the paper, which has no toggles (large P only) and no slow counters
";

fn described(tree: &Tree) -> String {
    if tree.depth == 0 {
        return "one counter and no tree".to_owned();
    }
    let cells: Vec<String> = (0..tree.depth).map(|level| tree.cells(level).to_string()).collect();
    format!(
        "a tree of depth {}, with prisms of {} cells by level and {} counters",
        tree.depth,
        cells.join(", "),
        tree.counters()
    )
}

/// A number with three digits or so.
fn short(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 99.95 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.0995 || size == 0.0 => 2,
        _ => 4,
    };
    format!("{value:.decimals$}")
}

/// The bounds of the ranges in processors, those at work included.
fn bounds(question: &Question, tree: Tree) -> Bounds {
    let with_working = |in_tree: f64| {
        let processors = (in_tree.round() as usize).max(1);
        let idle = Question { work: 0, processors, ..*question };
        in_tree + f64::from(question.work) * balance::settle(&idle.setting(tree)).throughput
    };
    let bounds = Bounds::of(&tree);
    Bounds {
        toggling_from: with_working(bounds.toggling_from),
        diffracting_from: with_working(bounds.diffracting_from),
        crowded_from: with_working(bounds.crowded_from),
    }
}

/// `E[T]` of one tree at many numbers of processors.
struct Curve {
    points: Vec<Point>,
}

struct Point {
    processors: usize,
    chain: f64,
    chain_error: f64,
    balance: f64,
    flow: Option<f64>,
    theorem: Option<f64>,
}

impl Point {
    fn of(setting: &Setting, seed: u64) -> Self {
        let measured = measure(setting, Length::of_effort(setting, CHART_EFFORT), seed);
        let work = f64::from(setting.work);
        let latency = measured.latency;
        Point {
            processors: setting.processors,
            chain: latency.mean + work,
            chain_error: latency.error,
            balance: balance::settle(setting).latency() + work,
            flow: flow::run(setting).map(|rest| rest.round),
            theorem: closed_form::theorem(setting).map(|form| form.round),
        }
    }
}

/// No chart goes beyond this many processors.
const CHART_PROCESSORS: f64 = 65_536.0;

impl Curve {
    fn trace(plan: &ModelPlan) -> Self {
        let crowd = bounds(&plan.question, plan.tree).crowded_from;
        let most = (2.0 * crowd).max(4.0 * plan.question.processors as f64).min(CHART_PROCESSORS);
        let mut sizes: Vec<usize> = (0..)
            .map(|k| 2_f64.powf(f64::from(k) / 2.0))
            .take_while(|&size| size <= most)
            .map(|size| size.round() as usize)
            .chain([plan.question.processors])
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        let point = |processors| {
            let question = Question { processors, ..plan.question };
            Point::of(&question.setting(plan.tree), plan.seed)
        };
        Curve { points: sizes.into_iter().map(point).collect() }
    }

    fn csv(&self) -> String {
        let number = |value: f64| format!("{value:.6}");
        let optional = |value: Option<f64>| value.map_or_else(String::new, number);
        let rows: Vec<Vec<String>> = (self.points.iter())
            .map(|point| {
                vec![
                    point.processors.to_string(),
                    number(point.chain),
                    number(point.chain_error),
                    number(point.balance),
                    optional(point.flow),
                    optional(point.theorem),
                ]
            })
            .collect();
        csv(
            &[
                "processors",
                "round_steps_chain",
                "round_steps_chain_error",
                "round_steps_balance",
                "round_steps_differential_equations",
                "round_steps_theorem",
            ],
            &rows,
        )
    }

    fn chart(&self, plan: &ModelPlan, answer: &Answer) -> Chart {
        let Question { processors, work, counter_speed } = plan.question;
        let all = |value: fn(&Point) -> Option<f64>| -> Vec<(f64, f64)> {
            let points = self.points.iter();
            points.filter_map(|p| Some((p.processors as f64, value(p)?))).collect()
        };
        let chain = all(|point| Some(point.chain));
        // Where toggles do all, formulas without toggles would leave no room for the rest.
        let ceiling = 4.0 * chain.iter().map(|point| point.1).fold(0.0, f64::max);
        let below = |points: Vec<(f64, f64)>| -> Vec<(f64, f64)> {
            points.into_iter().filter(|point| point.1 <= ceiling).collect()
        };
        let line = |series: Series| Series { look: Look::Line, ..series };
        let mut marks = vec![Mark::new(processors as f64, format!("your P = {processors}"))];
        if plan.tree.depth > 0 {
            // The ranges go by processors in the tree.
            let label = |bound: &str| match work {
                0 => format!("P = {bound}"),
                _ => format!("{bound} in the tree"),
            };
            marks.push(Mark::new(answer.ranges.toggling_from, label("d")));
            marks.push(Mark::new(answer.ranges.diffracting_from, label("d√L")));
            marks.push(Mark::new(answer.ranges.crowded_from, label("2.4 dL")));
        }
        Chart {
            title: "Latency of a diffracting tree, by the model".to_owned(),
            subtitle: format!(
                "d = {}, L = {}, work = {work}, counter speed {counter_speed}",
                plan.tree.depth, plan.tree.prism
            ),
            x: Axis::new("processors P", Scale::Log2),
            y: Axis::new("E[T]: steps of a round, work included", Scale::Log10),
            series: vec![
                Series::measured("Markov chain", chain),
                line(Series::measured("its balance by level", all(|point| Some(point.balance)))),
                line(Series::measured("differential equations", below(all(|point| point.flow)))),
                Series::curve("theorem 3.2", below(all(|point| point.theorem))),
            ],
            marks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown: Vec<String> = [1234.5, 45.67, 9.996, 8.25, 0.0012, 0.0].map(short).to_vec();
        assert_eq!(shown, ["1234", "45.7", "10.0", "8.25", "0.0012", "0.00"]);
    }

    #[test]
    fn bounds_of_ranges_include_those_at_work() {
        let tree = Tree::of_depth(5);
        let idle = Question { processors: 9, work: 0, counter_speed: 1.0 };
        assert_eq!(bounds(&idle, tree), Bounds::of(&tree));
        let busy = bounds(&Question { work: 100, ..idle }, tree);
        // At d processors in the tree the toggles pass one a step; a hundred of those work.
        assert!((busy.toggling_from - 105.0).abs() < 1.0, "{busy:?}");
    }
}
