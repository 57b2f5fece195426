//! Counters and barriers against `MPI_Fetch_and_op` and `MPI_Barrier`.
//!
//! `mpirun -n 4 bench --repetitions 5 --ms 100 --setting "one host" --csv results.csv`: rows take turns,
//! every run is checked, and the medians are printed. Values are appended to the file.

mod barriers;
mod counters;
#[path = "../common/gather.rs"]
mod gather;
mod peer;

use counters::Load;
use mpi::Threading;
use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator;
use std::fs::OpenOptions;
use std::io::Write;
use std::time::Duration;

/// The ranks.
pub(crate) struct Ranks {
    pub(crate) world: SimpleCommunicator,
    pub(crate) rank: u32,
    pub(crate) count: u32,
}

/// The measurements.
#[derive(Default)]
pub(crate) struct Sheet {
    values: Vec<Value>,
    repetition: usize,
}

struct Value {
    what: &'static str,
    row: String,
    load: &'static str,
    unit: &'static str,
    repetition: usize,
    value: f64,
}

impl Sheet {
    fn add(
        &mut self,
        what: &'static str,
        row: &str,
        load: &'static str,
        unit: &'static str,
        value: f64,
    ) {
        let repetition = self.repetition;
        self.values.push(Value { what, row: row.into(), load, unit, repetition, value });
    }

    fn print_medians(&self, ranks: u32) {
        for (index, first) in self.values.iter().enumerate() {
            let same = |other: &&Value| {
                (&other.row, other.load, other.unit) == (&first.row, first.load, first.unit)
            };
            if self.values[..index].iter().any(|other| same(&other)) {
                continue;
            }
            let mut values: Vec<f64> = self.values.iter().filter(same).map(|v| v.value).collect();
            values.sort_by(f64::total_cmp);
            let median = values[values.len() / 2];
            println!(
                "{ranks} ranks  {:<8} {:<22} {:<30} {median:>12.2} {}",
                first.what, first.row, first.load, first.unit
            );
        }
    }

    fn append(&self, path: &str, setting: &str, ranks: u32) -> std::io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        if file.metadata()?.len() == 0 {
            writeln!(file, "setting,ranks,what,row,load,unit,repetition,value")?;
        }
        for Value { what, row, load, unit, repetition, value } in &self.values {
            writeln!(
                file,
                "{setting},{ranks},{what},\"{row}\",\"{load}\",{unit},{repetition},{value:.3}"
            )?;
        }
        Ok(())
    }
}

/// The arguments of the command line.
struct Arguments {
    repetitions: usize,
    time: Duration,
    rounds: usize,
    setting: String,
    csv: Option<String>,
    peers: bool,
}

fn arguments() -> Result<Arguments, String> {
    let mut arguments = Arguments {
        repetitions: 5,
        time: Duration::from_millis(100),
        rounds: 300,
        setting: "one host".into(),
        csv: None,
        peers: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--peers" {
            arguments.peers = true;
            continue;
        }
        let value = words.next().ok_or_else(|| format!("{word}: a value is missing"))?;
        let number = || value.parse().map_err(|_| format!("{word} {value}: a number is needed"));
        match word.as_str() {
            "--repetitions" => arguments.repetitions = number()?,
            "--ms" => arguments.time = Duration::from_millis(number()? as u64),
            "--rounds" => arguments.rounds = number()?,
            "--setting" => arguments.setting = value,
            "--csv" => arguments.csv = Some(value),
            _ => return Err(format!("{word}: no such option")),
        }
    }
    Ok(arguments)
}

fn main() {
    let arguments = arguments().unwrap_or_else(|error| {
        eprintln!("error: {error}");
        std::process::exit(2);
    });
    // MPI's own operations may be faster if MPI knows that there is only one thread.
    let level = if arguments.peers { Threading::Single } else { Threading::Multiple };
    let (universe, _) = mpi::initialize_with_threading(level).expect("MPI is not initialised yet");
    let world = universe.world();
    let ranks = Ranks { rank: world.rank() as u32, count: world.size() as u32, world };
    let mut sheet = Sheet::default();
    for repetition in 0..arguments.repetitions {
        sheet.repetition = repetition;
        for load in [Load::All, Load::One] {
            for row in counters::rows(ranks.count) {
                if !arguments.peers || matches!(row, counters::Row::FetchAndOp) {
                    counters::run(&ranks, row, load, arguments.time, &mut sheet);
                }
            }
        }
        for row in barriers::ROWS {
            if !arguments.peers || matches!(row, barriers::Row::Mpi) {
                barriers::run(&ranks, row, arguments.rounds, &mut sheet);
            }
        }
    }
    if ranks.rank == 0 {
        sheet.print_medians(ranks.count);
        if let Some(path) = &arguments.csv {
            sheet.append(path, &arguments.setting, ranks.count).expect("the file can be written");
        }
    }
}
