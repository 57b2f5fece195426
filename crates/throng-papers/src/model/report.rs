//! The answer of `throng model`: text or JSON, and a chart with its numbers.
//! (More than 500 lines: text, JSON and chart are views of the same private answer.)

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::advice::{Expected, MAX_DEPTH, Peak, Question, peak};
use super::markov::{Length, measure};
use super::ranges::Bounds;
use super::{Setting, Tree, balance, closed_form, flow};
use crate::chart::{Axis, Chart, Look, Mark, Scale, Series};
use crate::csv::csv;
use crate::error::Error;
use crate::numbers::short;
use crate::output;
use crate::table::{Align, aligned};

/// Moves and tries of processors in a simulation for the answer, and in one for the chart.
const EFFORT: usize = 600_000;
const CHART_EFFORT: usize = 150_000;

/// What is asked, and where the answer goes.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelPlan {
    /// What is asked.
    pub question: Question,
    /// The tree: as typed, the rest by the rules.
    pub tree: Tree,
    /// Whether the width of prisms was typed. Then the trees compared with have it too.
    pub prism_given: bool,
    /// Whether the depth was.
    pub depth_given: bool,
    /// Of the simulation.
    pub seed: u64,
    /// The folder of the chart; it exists and is writable.
    pub out: Option<PathBuf>,
    /// Whether to print JSON alone.
    pub json: bool,
}

/// Answers the question of the plan.
///
/// # Errors
/// When the chart cannot be drawn or something cannot be written.
pub fn answer(plan: &ModelPlan) -> Result<(), Error> {
    let answer = Answer::find(plan);
    if let Some(folder) = &plan.out {
        let curve = Curve::trace(plan);
        output::write_file(&folder.join("model.svg"), &curve.chart(plan, &answer).svg()?)?;
        output::write_file(&folder.join("model.csv"), &curve.csv())?;
    }
    output::print(&if plan.json { answer.json() } else { answer.text(plan) })
}

/// A tree, and what the model expects of it. Times in steps.
#[derive(Clone, Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    tree: Tree,
    counters: usize,
    /// Cells of all prisms.
    prism_cells: usize,
    /// Mean number of processors not at work: at balancers, or waiting at counters.
    in_tree: f64,
    at_balancers: f64,
    at_counters: f64,
    /// Processors at balancers for each prism cell. A processor that waits at a counter is at no
    /// cell.
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
    /// By theorem 3.2, without the processors at work: no toggles, no limit of counters.
    latency_theorem: Option<f64>,
}

impl Row {
    fn of(question: &Question, tree: Tree, seed: u64) -> Self {
        let setting = question.setting(tree);
        let expected = Expected::of(question, tree);
        let measured = measure(&setting, Length::of_effort(&setting, EFFORT), seed);
        let latency = measured.latency;
        let at_balancers: f64 = measured.levels.iter().sum();
        Row {
            tree,
            counters: tree.counters(),
            prism_cells: tree.prism_cells(),
            in_tree: question.processors as f64 - measured.working,
            at_balancers,
            at_counters: measured.at_counters,
            load: (tree.depth > 0).then(|| at_balancers / tree.prism_cells() as f64),
            range: expected.range.map(|range| range.words().to_owned()),
            latency: latency.mean,
            latency_error: latency.error,
            throughput: measured.throughput.mean,
            throughput_error: measured.throughput.error,
            diffracted: measured.diffracted_mean(),
            latency_balance: expected.latency,
            latency_theorem: closed_form::exact(&setting).map(|form| form.latency(&setting)),
        }
    }
}

/// The complete answer.
#[derive(Debug, Serialize)]
struct Answer {
    processors: usize,
    work_steps: u32,
    counter_speed: f64,
    seed: u64,
    /// The tree typed or advised.
    tree: Row,
    /// The tree that the rules give.
    advised: Row,
    /// The fastest of all trees here.
    fastest: Row,
    /// The trees one level lower and higher than the tree itself.
    neighbours: Vec<Row>,
    /// All of them, each once, by depth: the table.
    #[serde(skip)]
    rows: Vec<Row>,
    /// Where the ranges begin, in processors, those at work included.
    ranges: Bounds,
    /// Processors from which on all counters are busy; `None` where prisms are too narrow for it.
    counters_busy_from: Option<f64>,
    peak: Option<Peak>,
}

impl Answer {
    fn find(plan: &ModelPlan) -> Self {
        let ModelPlan { question, tree, seed, .. } = *plan;
        let advised = question.tree();
        let neighbours = neighbours(plan);
        let mut trees = vec![tree, advised, question.fastest_tree()];
        trees.extend(&neighbours);
        trees.sort_unstable_by_key(|tree| (tree.depth, tree.prism));
        trees.dedup_by(|a, b| same(a, b));
        let rows: Vec<Row> = trees.into_iter().map(|tree| Row::of(&question, tree, seed)).collect();
        let row = |tree: &Tree| {
            let found = rows.iter().find(|row| same(&row.tree, tree));
            found.expect("every tree has a row").clone()
        };
        let fastest = rows.iter().min_by(|a, b| a.latency.total_cmp(&b.latency));
        Answer {
            processors: question.processors,
            work_steps: question.work,
            counter_speed: question.counter_speed,
            seed,
            tree: row(&tree),
            advised: row(&advised),
            fastest: fastest.expect("the tree has a row").clone(),
            neighbours: neighbours.iter().map(row).collect(),
            ranges: bounds(&question, tree),
            counters_busy_from: balance::counters_busy_from(&question.setting(tree)),
            peak: peak(&question, tree),
            rows,
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
        text.push_str(&self.legend());
        let _ = writeln!(text, "\n{}", self.warnings());
        text
    }

    fn question_line(&self) -> String {
        let plural = if self.processors == 1 { "" } else { "s" };
        let work = match self.work_steps {
            0 => "no work between two numbers".to_owned(),
            1 => "1 step of work between two numbers".to_owned(),
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
        if plan.prism_given && tree.depth == 0 {
            line.push_str(" It has no balancers, so no prism.");
        }
        if given && self.is_advised(&self.tree) {
            line.push_str("\nThe rules of the model take the same.");
        } else if given {
            let advised = described(&self.advised.tree);
            let _ = write!(line, "\nThe rules of the model take {advised}.");
        }
        line
    }

    fn is_advised(&self, row: &Row) -> bool {
        row.tree == self.advised.tree
    }

    fn expectation_line(&self) -> String {
        let row = &self.tree;
        let mut line = format!(
            "Expect {} steps from root to number (+-{}), {} numbers a step{}.",
            short(row.latency),
            short(row.latency_error),
            short(row.throughput),
            // The error is mostly too small to mention, except where few processors arrive in all
            // the steps simulated.
            if row.throughput_error > 0.02 * row.throughput {
                format!(" (+-{})", short(row.throughput_error))
            } else {
                String::new()
            }
        );
        if let (Some(range), Some(load)) = (&row.range, row.load) {
            let _ = write!(
                line,
                "\nOn the average {} processors are at the {} prism cells, {} a cell; {} wait at \
                 counters, {} work.\n{:.0} % of all passages through balancers are diffractions.\n\
                 Range: {range}.",
                short(row.at_balancers),
                row.prism_cells,
                short(load),
                short(row.at_counters),
                short((self.processors as f64 - row.in_tree).max(0.0)),
                100.0 * row.diffracted,
            );
        }
        line
    }

    fn table(&self) -> String {
        let header = ["", "depth", "prism", "load", "latency", "balance", "theorem", "a step"];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        rows.extend(self.rows.iter().map(|row| {
            let optional = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), short);
            vec![
                self.mark(row).to_owned(),
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

    /// Returns the mark of a row of the table.
    fn mark(&self, row: &Row) -> &'static str {
        if row.tree == self.tree.tree {
            ">"
        } else if self.is_advised(row) {
            "*"
        } else {
            ""
        }
    }

    fn legend(&self) -> String {
        let marked =
            if self.is_advised(&self.tree) { "" } else { "*: by the rules of the model\n" };
        format!("{marked}{LEGEND}")
    }

    fn warnings(&self) -> String {
        let mut text = String::new();
        let own = &self.tree;
        let best = &self.fastest;
        if best.latency < 0.97 * own.latency {
            let _ = writeln!(
                text,
                "Fastest of these: {}, {} steps.{}",
                described(&best.tree),
                short(best.latency),
                if best.latency < 0.97 * self.advised.latency { RULES } else { "" }
            );
        }
        if let Some(times) = self.theorem_off() {
            let _ = writeln!(
                text,
                "The theorem is off by up to {} times here: it has no toggles, which pass one processor \
                 at a time, and no limit of counters.",
                short(times)
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
            let in_tree = if self.work_steps > 0 { " in the tree" } else { "" };
            let _ = writeln!(
                text,
                "Its ranges: toggling from P = {:.0} (d{in_tree}), diffracting from {:.0} (d√L), \
                 prisms crowded from {:.0} (2.4 dL).",
                self.ranges.toggling_from.ceil(),
                self.ranges.diffracting_from.ceil(),
                self.ranges.crowded_from.ceil(),
            );
        }
        if let Some(processors) = self.counters_busy_from {
            let counters = if own.counters == 1 { "The counter is" } else { "Its counters are" };
            let _ = writeln!(
                text,
                "{counters} busy all the time from P = {:.0} on.",
                processors.ceil()
            );
        }
        text.push_str("The model counts steps; what a step costs, only a measurement tells.");
        text
    }

    /// Returns the factor by which the theorem is off in the worst row of the table, if it is more
    /// than 1.5.
    fn theorem_off(&self) -> Option<f64> {
        let factors = self.rows.iter().filter_map(|row| {
            let ratio = row.latency_theorem? / row.latency;
            Some(ratio.max(1.0 / ratio))
        });
        factors.max_by(f64::total_cmp).filter(|&factor| factor > 1.5)
    }
}

const LEGEND: &str = "\
load: processors at balancers, by prism cell (all levels), without those waiting at a counter
a step: numbers handed out in one step
latency: steps from root to number, by the Markov chain of the model; balance: by its mean
theorem: by theorem 3.2 of the paper, which has no toggles (large P only) and no slow counters
";

/// Printed where the tree of the rules is not the fastest.
const RULES: &str = " The rules go by the number of cells, not by latency.";

/// Returns the trees one level lower and higher than that of the plan.
fn neighbours(plan: &ModelPlan) -> Vec<Tree> {
    let ModelPlan { question, tree, .. } = *plan;
    let prism = |depth| if plan.prism_given { tree.prism } else { question.prism_over(depth) };
    let depths = [tree.depth.checked_sub(1), Some(tree.depth + 1)];
    let depths = depths.into_iter().flatten().filter(|&depth| depth <= MAX_DEPTH);
    depths.map(|depth| Tree { depth, prism: prism(depth) }).collect()
}

/// Returns whether two trees are the same. A tree of depth 0 has no prism.
fn same(a: &Tree, b: &Tree) -> bool {
    a.depth == b.depth && (a.depth == 0 || a.prism == b.prism)
}

fn described(tree: &Tree) -> String {
    if tree.depth == 0 {
        return "one counter and no tree".to_owned();
    }
    let cells: Vec<String> = (0..tree.depth).map(|level| tree.cells(level).to_string()).collect();
    if tree.depth == 1 {
        return format!("a tree of depth 1, with a prism of {} and 2 counters", tree.prism);
    }
    format!(
        "a tree of depth {}, with prisms of {} cells by level and {} counters",
        tree.depth,
        cells.join(", "),
        tree.counters()
    )
}

/// Returns the bounds of the ranges in processors, those at work included.
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

/// The latency of one tree at many numbers of processors.
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
            chain: latency.mean,
            chain_error: latency.error,
            balance: balance::settle(setting).latency(),
            flow: flow::run(setting).map(|rest| rest.round - work),
            theorem: closed_form::exact(setting).map(|form| form.latency(setting)),
        }
    }
}

/// Largest number of processors on a chart.
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
                "latency_steps_chain",
                "latency_steps_chain_error",
                "latency_steps_balance",
                "latency_steps_differential_equations",
                "latency_steps_theorem",
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
        // Where toggles do all the work, formulas without toggles would leave no room for the rest.
        let ceiling = 4.0 * chain.iter().map(|point| point.1).fold(0.0, f64::max);
        let below = |points: Vec<(f64, f64)>| -> Vec<(f64, f64)> {
            points.into_iter().filter(|point| point.1 <= ceiling).collect()
        };
        let line = |series: Series| Series { look: Look::Line, ..series };
        let mut marks = vec![Mark::new(processors as f64, format!("your P = {processors}"))];
        if plan.tree.depth > 0 {
            marks.push(Mark::new(answer.ranges.toggling_from, "toggling: d"));
            marks.push(Mark::new(answer.ranges.diffracting_from, "diffracting: d√L"));
            marks.push(Mark::new(answer.ranges.crowded_from, "prisms crowded: 2.4 dL"));
        }
        let load = format!("work = {work}, counter speed {counter_speed}");
        Chart {
            title: "Latency of a diffracting tree, by the model".to_owned(),
            subtitle: match plan.tree.depth {
                0 => format!("one counter, {load}"),
                depth => format!(
                    "d = {depth}, L = {}, {load}; lines: processors in the tree where a range begins",
                    plan.tree.prism
                ),
            },
            x: Axis::new("processors P", Scale::Log2),
            y: Axis::new("latency: steps from root to number", Scale::Log10),
            series: vec![
                Series::measured("Markov chain", chain),
                line(Series::measured("its balance by level", all(|point| Some(point.balance)))),
                line(Series::measured(
                    "differential equations, no toggles",
                    below(all(|point| point.flow)),
                )),
                Series::curve("theorem 3.2, no toggles", below(all(|point| point.theorem))),
            ],
            marks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
