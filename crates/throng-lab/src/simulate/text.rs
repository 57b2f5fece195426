//! The report as a person reads it.

use std::fmt::Write as _;

use super::report::{Bucket, Latency, Report};
use crate::table::{Align, Align::Left, Align::Right, aligned};

/// The longest bar of the histogram.
const BAR: u64 = 40;
/// So many points in time are shown of a depth that changes.
const DEPTHS: usize = 8;

/// The report as text.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut text = head(report);
    for (title, body) in [
        ("Latency", latency(report)),
        ("Calls by latency, in cycles", histogram(&report.histogram)),
        ("Memory", memory(report)),
        ("Hottest lines, by the cycles that processors stood in line there", hottest(report)),
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
    let plural = if report.processors == 1 { "" } else { "s" };
    let mut facts = vec![
        ("machine", format!("{}, {} MHz", machine.about, machine.clock_mhz)),
        ("faults", report.faults.clone()),
    ];
    if report.faults_chosen != report.faults {
        facts.push(("the seed chose", report.faults_chosen.clone()));
    }
    facts.push(("checked", report.check.clone()));
    facts.push(("end", end(report)));
    facts.push((
        "throughput",
        format!(
            "{} values in a million cycles, {} in a second",
            short(report.throughput.per_million_cycles),
            grouped(report.throughput.per_second.round() as u64)
        ),
    ));
    let rows: Vec<Vec<String>> =
        facts.into_iter().map(|(name, fact)| vec![format!("  {name}"), fact]).collect();
    format!(
        "{} on {} with {} processor{plural}, seed {}\n\n{}",
        report.method,
        machine.name,
        report.processors,
        report.seed,
        aligned(&rows, &[Left; 2])
    )
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
    if report.histogram.is_empty() {
        return "not measured: the run was over before it was warm\n".to_owned();
    }
    let (cycles, ns) = (report.latency_cycles, report.latency_ns);
    type Number = fn(&Latency) -> f64;
    let of: [(&str, Number); 6] = [
        ("mean", |latency| latency.mean),
        ("p50", |latency| latency.p50),
        ("p90", |latency| latency.p90),
        ("p99", |latency| latency.p99),
        ("p99.9", |latency| latency.p99_9),
        ("max", |latency| latency.max),
    ];
    let rows = of.map(|(name, get)| [name.to_owned(), short(get(&cycles)), short(get(&ns))]);
    let mut text = table(["", "cycles", "ns"], rows.to_vec(), [Left, Right, Right]);
    if report.unserved_cycles_max as f64 > cycles.max {
        let _ = writeln!(
            text,
            "and a call that was not over had waited {} cycles",
            grouped(report.unserved_cycles_max)
        );
    }
    text
}

fn histogram(buckets: &[Bucket]) -> String {
    let all: u64 = buckets.iter().map(|bucket| bucket.count).sum();
    let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0);
    let row = |bucket: &Bucket| {
        // A call is seen, however few there are.
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
        row("cycles waited in line", memory.waited_cycles),
    ];
    table(["", "in all", "each value"], rows, [Left, Right, Right])
}

fn hottest(report: &Report) -> String {
    if report.hottest.is_empty() {
        return String::new();
    }
    let rows = report.hottest.iter().map(|line| {
        [
            line.line.clone(),
            grouped(line.waited_cycles),
            grouped(line.misses),
            grouped(line.hits),
            grouped(line.invalidations),
        ]
    });
    let heads = ["line", "waited", "misses", "hits", "invalidations"];
    table(heads, rows.collect(), [Left, Right, Right, Right, Right])
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

/// One line if it never changes; else some points in time.
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

/// A number with about three digits; whole from 100 on.
fn short(number: f64) -> String {
    match number {
        n if n >= 100.0 || n == n.round() => grouped(n.round() as u64),
        n if n >= 10.0 => format!("{n:.1}"),
        n => format!("{n:.2}"),
    }
}

/// A whole number with blanks between groups of digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1 234 567");
        assert_eq!(short(0.123), "0.12");
        assert_eq!(short(12.34), "12.3");
        assert_eq!(short(7.0), "7");
        assert_eq!(short(20_000.4), "20 000");
    }

    #[test]
    fn bars_are_as_long_as_their_share_and_none_vanishes() {
        let bucket = |from, count| Bucket { from, to: from + 1, count };
        let text = histogram(&[bucket(2, 1000), bucket(4, 500), bucket(6, 0), bucket(8, 1)]);
        let bars: Vec<usize> = text.lines().map(|line| line.matches('#').count()).collect();
        assert_eq!(bars, [40, 20, 0, 1]);
    }
}
