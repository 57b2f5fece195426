//! Formats the calibration for the terminal: a heat map, the costs, and the next command to try.

use std::fmt::Write as _;

use throng_papers::numbers::{counted, short};
use throng_papers::table::{Align::Left, Align::Right, aligned};

use super::fit::in_groups;
use super::{Calibration, Compared, Validation};
use crate::bench::setup::Setup;
use crate::bench::stats::Stats;

/// Largest number of cores whose map has numbers; larger maps have shades.
const MOST_NUMBERS: usize = 16;
/// Largest width of a map, in cores. Larger machines are shown in steps.
const WIDEST: usize = 64;

/// Returns the text without the validation. `file` is the machine file, as typed.
pub(crate) fn text(setup: &Setup, calibration: &Calibration, file: &str) -> String {
    let Calibration { cores, groups, notes, .. } = calibration;
    let mut text = format!("{}\n", setup.in_words());
    if cores.len() > 1 {
        let shape = match &groups[..] {
            [] => "all cores alike".to_owned(),
            sizes => in_groups(sizes),
        };
        let _ = write!(
            text,
            "\nHalf a round trip of a flag from core to core, in ns ({shape}; measurements of a pair lie \
             {:.0} % apart)\n\n{}",
            100.0 * calibration.spread,
            heat_map(calibration),
        );
    }
    let rows: Vec<Vec<String>> = (calibration.costs.iter())
        .map(|cost| vec![format!("  {}", cost.name), short(cost.ns)])
        .collect();
    let _ = write!(text, "\nOne access, in ns\n\n{}", aligned(&rows, &[Left, Right]));
    text.push_str(&self::notes(notes));
    let more = 8 * cores.len().max(1);
    let _ = write!(
        text,
        "
The machine made from that is in {file}. What it would do with {}:
  throng simulate counter --machine {file} --processors {more}
  throng simulate hardware --machine {file} --processors {more}
  throng simulate --barrier shaped --machine {file} --processors {more}
How far the simulator is from this machine:
  throng calibrate --check
",
        counted(more as u64, "core")
    );
    text
}

/// Formats the assumptions and warnings.
pub(crate) fn notes(notes: &[String]) -> String {
    notes.iter().map(|note| format!("\nNote: {note}\n")).collect()
}

fn heat_map(calibration: &Calibration) -> String {
    if calibration.cores.len() <= MOST_NUMBERS { numbers(calibration) } else { shades(calibration) }
}

fn numbers(calibration: &Calibration) -> String {
    let Calibration { cores, transfer_ns, .. } = calibration;
    let mut rows = vec![vec!["core".to_owned()]];
    rows[0].extend(cores.iter().map(usize::to_string));
    for (one, (core, times)) in cores.iter().zip(transfer_ns).enumerate() {
        let mut row = vec![core.to_string()];
        row.extend(
            times
                .iter()
                .enumerate()
                .map(|(other, &ns)| if one == other { "-".to_owned() } else { format!("{ns:.0}") }),
        );
        rows.push(row);
    }
    aligned(&rows, &vec![Right; cores.len() + 1])
}

/// From near to far.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

fn shades(calibration: &Calibration) -> String {
    let Calibration { cores, transfer_ns, .. } = calibration;
    let times = || transfer_ns.iter().flatten().copied().filter(|&ns| ns > 0.0);
    let Some(Stats { min, max, .. }) = Stats::of(times()) else { return String::new() };
    let step = cores.len().div_ceil(WIDEST);
    let shade = |ns: f64| {
        // By ratio: a doubling of the time makes the same step of darkness everywhere.
        let part = if max > min { (ns / min).ln() / (max / min).ln() } else { 0.0 };
        SHADES[((part * SHADES.len() as f64) as usize).min(SHADES.len() - 1)]
    };
    let mut text = String::new();
    for (one, row) in transfer_ns.iter().enumerate().step_by(step) {
        let _ = write!(text, "{:>5} ", cores[one]);
        for (other, &ns) in row.iter().enumerate().step_by(step) {
            let shade = if one == other { '\\' } else { shade(ns.max(min)) };
            text.extend([shade, shade]);
        }
        text.push('\n');
    }
    let limit = |shade: usize| min * (max / min).powf(shade as f64 / SHADES.len() as f64);
    let legend: Vec<String> = (SHADES.iter().enumerate())
        .map(|(at, shade)| format!("'{shade}' from {:.0}", limit(at)))
        .collect();
    let _ = writeln!(text, "\n  {}, up to {max:.0} ns", legend.join(", "));
    text
}

/// Formats the comparison of simulated with measured results.
pub(crate) fn validation(validation: &Validation, cores: usize) -> String {
    let mut text =
        String::from("\nMeasured here, and simulated on the machine made from these times\n\n");
    let heads = ["need", "structure", "threads", "measured", "simulated", "factor", "unit"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(validation.rows.iter().map(|row| {
        vec![
            row.need.clone(),
            row.entrant.clone(),
            row.threads.to_string(),
            short(row.measured),
            short(row.simulated),
            format!("{:.2}", row.factor()),
            unit(&row.need).to_owned(),
        ]
    }));
    text.push_str(&aligned(&rows, &[Left, Left, Right, Right, Right, Right, Left]));
    text.push_str(&in_short(&validation.rows));
    if !validation.prospects.is_empty() {
        let _ = write!(
            text,
            "\nSimulated, if there were more cores like the {} measured, in more groups like theirs \
             (without groups: all as near as these)\n\n",
            cores
        );
        let mut rows = vec![
            ["need", "structure", "processors", "simulated", "unit"].map(str::to_owned).to_vec(),
        ];
        rows.extend(validation.prospects.iter().map(|prospect| {
            vec![
                prospect.need.clone(),
                prospect.entrant.clone(),
                prospect.processors.to_string(),
                short(prospect.simulated),
                unit(&prospect.need).to_owned(),
            ]
        }));
        text.push_str(&aligned(&rows, &[Left, Left, Right, Right, Left]));
    }
    text
}

/// Summarises the factors: in the median, at worst, and by need.
fn in_short(rows: &[Compared]) -> String {
    let worst = rows.iter().max_by(|a, b| a.off().total_cmp(&b.off()));
    let Some((worst, usual)) = worst.zip(Stats::of(rows.iter().map(Compared::off))) else {
        return String::new();
    };
    format!(
        "\nThe simulated number is off by a factor of {:.2} in the median, and of {:.2} at worst ({} on {}).\n\
         A simulated core passes a line on after each access that others wait for, where a real one may do\n\
         several first; it has no work of its own, no stores under way, no pauses, no operating system.\n",
        usual.median,
        usual.max,
        worst.entrant,
        crate::error::count(worst.threads),
    )
}

fn unit(need: &str) -> &'static str {
    if need == "meeting" { "ns a round" } else { "million a second" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calibration(cores: usize) -> Calibration {
        let ns = |one: usize, other: usize| match (one == other, one / 8 == other / 8) {
            (true, _) => 0.0,
            (false, true) => 25.0,
            (false, false) => 110.0,
        };
        let row = |one| (0..cores).map(|other| ns(one, other)).collect();
        Calibration {
            cores: (0..cores).collect(),
            transfer_ns: (0..cores).map(row).collect(),
            groups: vec![8],
            ..Calibration::default()
        }
    }

    #[test]
    fn few_cores_have_numbers_and_many_have_shades() {
        let few = heat_map(&calibration(16));
        assert_eq!(few.lines().count(), 17);
        assert!(few.contains("110") && few.contains("25") && !few.contains('█'), "{few}");
        let many = heat_map(&calibration(32));
        assert_eq!(many.lines().filter(|line| line.contains('█')).count(), 32 + 1, "{many}");
        assert!(many.contains("from 25") && many.contains("up to 110 ns"), "{many}");
        let row = many.lines().next().unwrap();
        assert_eq!(row, format!("    0 \\\\{}{}", " ".repeat(14), "█".repeat(48)));
    }

    #[test]
    fn a_wide_machine_fits_on_a_screen() {
        let map = heat_map(&calibration(256));
        assert!(map.lines().all(|line| line.chars().count() <= 6 + 2 * WIDEST), "{map}");
    }

    #[test]
    fn the_worst_is_named() {
        let row = |entrant: &str, simulated| Compared {
            need: "meeting".into(),
            entrant: entrant.into(),
            threads: 2,
            measured: 100.0,
            simulated,
        };
        let rows = vec![row("central", 110.0), row("team", 40.0), row("tournament", 120.0)];
        let text = validation(&Validation { rows, prospects: Vec::new() }, 2);
        assert!(
            text.contains("1.20 in the median, and of 2.50 at worst (team on 2 threads)"),
            "{text}"
        );
        assert!(text.contains("0.40  ns a round"), "{text}");
    }
}
