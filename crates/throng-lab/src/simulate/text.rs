//! Formats the report for the terminal.

use std::fmt::Write as _;

use throng_papers::numbers::{counted, grouped, short};
use throng_papers::table::{Align, Align::Left, Align::Right, aligned};

use super::report::{Bucket, Latency, Report};

/// Length of the longest bar of the histogram.
const BAR: u64 = 40;
/// Number of points in time shown of a depth that changes.
const DEPTHS: usize = 8;

const NOT_MEASURED: &str = "not measured: the run ended in its warm-up";

/// Returns the report as text.
pub fn render(report: &Report) -> String {
    let mut text = head(report);
    for (title, body) in [
        ("Latency", latency(report)),
        ("Values to each processor, in the whole run", fairness(report)),
        ("Calls by latency, in cycles", histogram(&report.histogram)),
        ("Memory, in the whole run", memory(report)),
        ("Hottest lines, by the cycles that processors waited there", hottest(report)),
        ("Levels of the tree", levels(report)),
        ("Depth over time", depth(report)),
    ] {
        if !body.is_empty() {
            let _ = write!(text, "\n{title}\n{}", indented(&body));
        }
    }
    let _ = write!(text, "\n{}", tail(report));
    text
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

fn table<const N: usize>(heads: [&str; N], rows: Vec<[String; N]>, aligns: [Align; N]) -> String {
    let heads = heads.map(str::to_owned);
    let rows: Vec<Vec<String>> = [heads].into_iter().chain(rows).map(|row| row.to_vec()).collect();
    aligned(&rows, &aligns)
}

fn head(report: &Report) -> String {
    let machine = &report.machine;
    let (taking, built) = (report.processors as u64, report.nodes as u64);
    let processors = if taking == built {
        counted(taking, "processor")
    } else {
        format!("{} of {}", grouped(taking), counted(built, "processor"))
    };
    let mut facts = vec![
        ("machine", format!("{}, {} MHz", machine.about, machine.clock_mhz)),
        ("faults", report.faults.clone()),
    ];
    if report.faults_chosen != report.faults {
        facts.push(("the seed chose", report.faults_chosen.clone()));
    }
    facts.push(("checked", report.check.clone()));
    facts.push(("end", end(report)));
    facts.push(("measured", window(report)));
    facts.push(("throughput", throughput(report)));
    let rows: Vec<Vec<String>> =
        facts.into_iter().map(|(name, fact)| vec![format!("  {name}"), fact]).collect();
    let trouble = report.trouble.as_ref().map(|why| format!("{why}\n")).unwrap_or_default();
    format!(
        "{} on {} with {processors}, seed {}\n{trouble}\n{}",
        report.method,
        report.machine_in_words,
        report.seed,
        aligned(&rows, &[Left; 2])
    )
}

fn window(report: &Report) -> String {
    match report.window {
        None => NOT_MEASURED.to_owned(),
        Some(window) => format!(
            "from cycle {} to {}: {}",
            grouped(window.from_cycle),
            grouped(window.to_cycle),
            counted(window.values, "value")
        ),
    }
}

fn throughput(report: &Report) -> String {
    match report.throughput {
        None => "not measured".to_owned(),
        Some(throughput) => format!(
            "{} values in a million cycles, {} in a second",
            short(throughput.per_million_cycles),
            grouped(throughput.per_second.round() as u64)
        ),
    }
}

fn end(report: &Report) -> String {
    let mut end = format!(
        "after {} cycles ({} us): {}",
        grouped(report.cycles),
        short(report.machine.nanoseconds(report.cycles) / 1000.0),
        report.end
    );
    if !report.halted.is_empty() {
        let ids: Vec<String> = report.halted.iter().map(usize::to_string).collect();
        let _ = write!(end, "; halted: {}", ids.join(", "));
    }
    end
}

fn latency(report: &Report) -> String {
    let mut text = match (report.latency_cycles, report.latency_ns) {
        (Some(cycles), Some(ns)) => latency_table(&cycles, &ns),
        _ => format!("{NOT_MEASURED}\n"),
    };
    let longest = report.latency_cycles.map_or(0.0, |latency| latency.max);
    let unserved = report.unserved_cycles_max;
    if !report.hanging.is_empty() || unserved as f64 > longest {
        let _ =
            writeln!(text, "and a call that was not over had waited {} cycles", grouped(unserved));
    }
    if let Some(little) = report.little {
        let working = match little.working {
            0.0 => String::new(),
            working => format!(", at work {}", short(working)),
        };
        let _ = writeln!(
            text,
            "Little's law: in a call at a time {}{working}, of {}",
            short(little.calls),
            counted(report.processors as u64, "processor")
        );
        if little.too_low {
            text.push_str(
                "  that is too few: calls that never returned, or processors that were halted, are \
                 missing,\n  and the true mean is longer\n",
            );
        }
    }
    text
}

fn latency_table(cycles: &Latency, ns: &Latency) -> String {
    type Number = fn(&Latency) -> f64;
    let of: [(&str, Number); 6] = [
        ("mean", |latency| latency.mean),
        ("p50", |latency| latency.p50),
        ("p90", |latency| latency.p90),
        ("p99", |latency| latency.p99),
        ("p99.9", |latency| latency.p99_9),
        ("max", |latency| latency.max),
    ];
    let rows = of.map(|(name, get)| [name.to_owned(), short(get(cycles)), short(get(ns))]);
    table(["", "cycles", "ns"], rows.to_vec(), [Left, Right, Right])
}

fn fairness(report: &Report) -> String {
    let spread = report.values_per_processor;
    let (least, median, most) =
        (grouped(spread.least), grouped(spread.median), grouped(spread.most));
    format!("least {least}, median {median}, most {most}\n")
}

fn histogram(buckets: &[Bucket]) -> String {
    let all: u64 = buckets.iter().map(|bucket| bucket.count).sum();
    let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0);
    let row = |bucket: &Bucket| {
        // A bucket with calls has a bar, however few they are.
        let length = (bucket.count * BAR).div_ceil(most.max(1));
        let share = bucket.count as f64 * 100.0 / all.max(1) as f64;
        vec![
            grouped(bucket.from),
            grouped(bucket.to),
            grouped(bucket.count),
            format!("{share:.1} %"),
            "#".repeat(length as usize),
        ]
    };
    let rows: Vec<Vec<String>> = buckets.iter().map(row).collect();
    aligned(&rows, &[Right, Right, Right, Right, Left])
}

fn memory(report: &Report) -> String {
    let memory = &report.memory;
    let row = |name: &str, count: u64| {
        let each = count as f64 / report.handed_out.max(1) as f64;
        [name.to_owned(), grouped(count), short(each)]
    };
    let rows = vec![
        row("accesses", report.accesses),
        row("hits", memory.hits),
        row("misses", memory.misses),
        row("invalidations", memory.invalidations),
        row("messages", memory.messages),
        row("cycles waited in queues", memory.waited_cycles),
    ];
    table(["", "in all", "each value"], rows, [Left, Right, Right])
}

fn hottest(report: &Report) -> String {
    if report.hottest.is_empty() {
        return String::new();
    }
    let rows = report.hottest.iter().map(|line| {
        let name = match line.lines {
            1 => line.line.clone(),
            lines => format!("{} ({lines} lines)", line.line),
        };
        [
            name,
            grouped(line.waited_cycles),
            grouped(line.misses),
            grouped(line.hits),
            grouped(line.invalidations),
        ]
    });
    let heads = ["line", "waited", "misses", "hits", "invalidations"];
    let table = table(heads, rows.collect(), [Left, Right, Right, Right, Right]);
    table + index_in_words(report)
}

/// Explains the number behind a line's name.
fn index_in_words(report: &Report) -> &'static str {
    if report.hottest.iter().all(|line| !line.line.contains('[')) {
        ""
    } else if report.levels.is_empty() && !report.method.starts_with("combining-tree") {
        "[n]: the line's number among those of its name\n"
    } else {
        "[n]: of toggle, prism and combining node, the node of the tree (1 is the root; the \
         children of\nn are 2n and 2n + 1); else the line's number among those of its name\n"
    }
}

fn levels(report: &Report) -> String {
    if report.levels.is_empty() {
        return String::new();
    }
    let rows = report.levels.iter().map(|level| {
        let passed = (level.toggled + level.diffracted).max(1);
        [
            level.level.to_string(),
            grouped(level.toggled),
            grouped(level.diffracted),
            format!("{:.1} %", level.diffracted as f64 * 100.0 / passed as f64),
            level.diffraction_rate.map_or("-".to_owned(), |rate| format!("{rate:.2}")),
        ]
    });
    let heads = ["level", "by toggle", "in pairs", "share", "pairs : toggle"];
    table(heads, rows.collect(), [Right; 5])
}

/// Returns one line if the depth never changes; otherwise some points in time.
fn depth(report: &Report) -> String {
    let stretches = &report.depth;
    let Some(first) = stretches.first() else {
        return String::new();
    };
    if stretches.iter().all(|stretch| stretch.depth_mean == first.depth_mean) {
        return format!("{} all the time\n", short(first.depth_mean));
    }
    let every = stretches.len().div_ceil(DEPTHS);
    let rows = stretches
        .iter()
        .step_by(every)
        .map(|stretch| [grouped(stretch.start_cycle), format!("{:.2}", stretch.depth_mean)]);
    table(["from cycle", "mean depth"], rows.collect(), [Right; 2])
}

fn tail(report: &Report) -> String {
    format!(
        "trace {}; simulated in {:.2} s, {:.1} million accesses a second\nagain: {}\n",
        report.trace_hash,
        report.simulator.seconds,
        report.simulator.accesses_per_second / 1e6,
        report.command
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share_and_none_vanishes() {
        let bucket = |from, count| Bucket { from, to: from + 1, count };
        let text = histogram(&[bucket(2, 1000), bucket(4, 500), bucket(6, 0), bucket(8, 1)]);
        let bars: Vec<usize> = text.lines().map(|line| line.matches('#').count()).collect();
        assert_eq!(bars, [40, 20, 0, 1]);
    }
}
