//! The contenders, and how their processes are started.

use std::path::{Path, PathBuf};
use std::process::Command;

use throng_papers::arguments::not_allowed;

use super::load::Load;
use super::neighbours::this_program;
use super::{exchange, rounds};
use crate::bench::barriers::rows::Row;
use crate::bench::loops::ways::{OURS, REFERENCE};
use crate::bench::window::Times;
use crate::error::Error;

/// The role of a contender in the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Of this library: compared with the best reference.
    Ours,
    /// A reference that ours are compared with.
    Reference,
    /// Measured beside them.
    Peer,
}

/// An entrant of a measurement.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Its name, as typed and printed.
    pub name: &'static str,
    /// Its role in the summary.
    pub role: Role,
    program: Program,
}

#[derive(Clone, Debug)]
enum Program {
    /// This program.
    Own,
    /// A program that `peers/run build` has made.
    OpenMp { path: PathBuf, settings: Settings },
}

/// Variables of the environment, and their values.
type Settings = &'static [(&'static str, &'static str)];

/// The purpose of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// To be measured.
    Measure(Times),
    /// To run as a neighbour, for this many seconds at the longest.
    Accompany(u64),
}

impl Contender {
    fn own(name: &'static str, role: Role) -> Self {
        Contender { name, role, program: Program::Own }
    }

    /// Returns the command that runs the contender in a process.
    ///
    /// # Errors
    /// When the path of this program is unknown.
    pub(crate) fn command(
        &self,
        load: Load,
        threads: usize,
        purpose: Purpose,
    ) -> Result<Command, Error> {
        match &self.program {
            Program::Own => own_command(self.name, load, threads, purpose),
            Program::OpenMp { path, settings } => {
                Ok(openmp_command(self.name, path, settings, load, threads, purpose))
            }
        }
    }
}

fn own_command(name: &str, load: Load, threads: usize, purpose: Purpose) -> Result<Command, Error> {
    let mut command = this_program()?;
    command.args(["part", "run", &load.text(), name, &threads.to_string()]);
    let (times, endless) = match purpose {
        Purpose::Measure(times) => (times, None),
        Purpose::Accompany(seconds) => (Times::NONE, Some(seconds)),
    };
    command.args(["--warm-up-us", &times.warm_up.as_micros().to_string()]);
    command.args(["--measure-us", &times.measure.as_micros().to_string()]);
    if let Some(seconds) = endless {
        command.args(["--endless", &seconds.to_string()]);
    }
    Ok(command)
}

/// Settings of the environment for programs with OpenMP, which are removed.
const FOREIGN_SETTINGS: [&str; 4] =
    ["OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY"];
/// A program that is measured ends by itself after this many seconds.
const LONGEST_RUN_S: u64 = 600;

/// Returns the command of a program with OpenMP. `peers/laps.h` describes its arguments.
fn openmp_command(
    name: &str,
    path: &Path,
    settings: Settings,
    load: Load,
    threads: usize,
    purpose: Purpose,
) -> Command {
    let (kind, times, seconds) = match purpose {
        Purpose::Measure(times) => ("measure", times, LONGEST_RUN_S),
        Purpose::Accompany(seconds) => ("accompany", Times::NONE, seconds),
    };
    let work_ns = if let Load::Rounds { work_ns } = load { work_ns } else { 0 };
    let milliseconds = |time: std::time::Duration| (time.as_secs_f64() * 1e3).to_string();
    let mut command = Command::new(path);
    FOREIGN_SETTINGS.iter().for_each(|name| _ = command.env_remove(name));
    command.env("OMP_DYNAMIC", "false").env("OMP_PROC_BIND", "false");
    command.envs(settings.iter().copied());
    command.args([name, &threads.to_string(), kind]);
    command.args([milliseconds(times.warm_up), milliseconds(times.measure)]);
    command.args([work_ns.to_string(), seconds.to_string()]);
    command
}

/// The default barriers, besides those of OpenMP.
pub(crate) const USUAL_BARRIERS: [&str; 5] = ["std", "pthread", "barrier", "team", "hurdles"];

/// Returns all barriers, with those of OpenMP whose programs are in the folder.
///
/// # Errors
/// When there is no such program in the folder.
pub(crate) fn barriers(peers: Option<&Path>) -> Result<Vec<Contender>, Error> {
    let role = |row: &Row| match row.name {
        "std" | "pthread" => Role::Reference,
        _ if row.origin.is_ours() => Role::Ours,
        _ => Role::Peer,
    };
    let own = rounds::rows().into_iter().map(|row| Contender::own(row.name, role(&row)));
    let mut all: Vec<Contender> = own.collect();
    all.sort_by_key(|contender| contender.role != Role::Reference);
    if let Some(folder) = peers {
        all.extend(openmp(folder)?);
    }
    Ok(all)
}

/// Returns the programs with OpenMP, and the settings of their rows. `peers/run` measures the
/// runtimes while they spin for ever; here they wait with their default settings, and passively.
fn openmp(folder: &Path) -> Result<Vec<Contender>, Error> {
    const PASSIVE: Settings = &[("OMP_WAIT_POLICY", "passive")];
    let rows: [(&'static str, &str, Settings); 4] = [
        ("libgomp", "barrier_gomp", &[]),
        ("libgomp-passive", "barrier_gomp", PASSIVE),
        ("libomp", "barrier_omp", &[]),
        ("libomp-passive", "barrier_omp", PASSIVE),
    ];
    let built = rows.into_iter().filter_map(|(name, program, settings)| {
        let path = folder.join(program);
        let program = Program::OpenMp { path: path.canonicalize().ok()?, settings };
        Some(Contender { name, role: Role::Peer, program })
    });
    let built: Vec<Contender> = built.collect();
    if built.is_empty() {
        return Err(not_allowed(
            "--peers",
            folder.display().to_string(),
            "a folder that `crates/throng-lab/peers/run build` has made, with gcc",
        )
        .into());
    }
    Ok(built)
}

/// Returns all queues.
pub(crate) fn queues() -> Vec<Contender> {
    let role =
        |name: &str| if name.starts_with("crossbeam") { Role::Reference } else { Role::Ours };
    exchange::all().into_iter().map(|queue| Contender::own(queue.name, role(queue.name))).collect()
}

/// Returns the loops of rayon and of the library.
pub(crate) fn loops() -> Vec<Contender> {
    vec![Contender::own(REFERENCE.name(), Role::Reference), Contender::own(OURS.name(), Role::Ours)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn words(command: &Command) -> Vec<String> {
        command.get_args().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn references_come_first_and_the_usual_barriers_exist() {
        let all = barriers(None).unwrap();
        let names: Vec<&str> = all.iter().map(|contender| contender.name).collect();
        assert_eq!(names[..2], ["std", "pthread"]);
        assert!(USUAL_BARRIERS.iter().all(|usual| names.contains(usual)), "{names:?}");
        assert!(queues().iter().any(|queue| queue.role == Role::Ours));
    }

    #[test]
    fn a_folder_without_programs_is_refused() {
        let error = barriers(Some(Path::new("/nowhere"))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "--peers \"/nowhere\": must be a folder that `crates/throng-lab/peers/run build` has made, \
             with gcc"
        );
    }

    #[test]
    fn a_program_with_openmp_is_told_how_to_wait_and_what_to_do() {
        let settings = &[("OMP_WAIT_POLICY", "passive")];
        let times =
            Times { warm_up: Duration::from_millis(2), measure: Duration::from_micros(500) };
        let load = Load::Rounds { work_ns: 70 };
        let measured = openmp_command(
            "libgomp",
            Path::new("/peers/barrier_gomp"),
            settings,
            load,
            3,
            Purpose::Measure(times),
        );
        assert_eq!(words(&measured), ["libgomp", "3", "measure", "2", "0.5", "70", "600"]);
        assert!(measured.get_envs().any(|(key, value)| {
            key == "OMP_WAIT_POLICY" && value.is_some_and(|value| value == "passive")
        }));
        let own = own_command("team", load, 3, Purpose::Accompany(9)).unwrap();
        let expected = ["part", "run", "rounds:70", "team", "3", "--warm-up-us", "0"];
        assert_eq!(words(&own)[..7], expected);
        assert_eq!(words(&own)[9..], ["--endless", "9"]);
    }
}
