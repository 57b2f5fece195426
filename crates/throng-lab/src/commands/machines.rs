//! `throng machines`: the machines that can be simulated.

use clap::Args;
use serde::Serialize;
use throng_papers::machines::{Machine, all};
use throng_papers::output;
use throng_papers::table::{Align::Left, Align::Right, aligned};
use throng_papers::workloads::messages::Network;
use throng_sim::MachineSpec;

use crate::error::Error;

/// Arguments of `throng machines`.
#[derive(Debug, Args)]
pub struct MachinesArguments {
    /// Print the TOML file of this machine, a start for one of your own; a file is checked and
    /// printed
    #[arg(value_name = "NAME|FILE")]
    pub name: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Does `throng machines`.
///
/// # Errors
/// When there is no such machine, or standard output cannot be written.
pub fn run(typed: &MachinesArguments) -> Result<(), Error> {
    let text = match (&typed.name, typed.json) {
        (None, false) => list(&all()),
        (None, true) => {
            let machines = all().into_iter().map(|machine| machine.spec).collect();
            output::json(&Document { machines })
        }
        (Some(name), false) => Machine::find(name)?.text,
        (Some(name), true) => output::json(&Machine::find(name)?.spec),
    };
    Ok(output::print(&text)?)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Document {
    machines: Vec<MachineSpec>,
}

fn list(machines: &[Machine]) -> String {
    let heads = ["  name", "processors", "MHz", "network", "coherence", "what it is"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(machines.iter().map(|Machine { spec, .. }| {
        vec![
            format!("  {}", spec.name),
            spec.processors.to_string(),
            spec.clock_mhz.to_string(),
            spec.network.kind().to_owned(),
            spec.coherence.kind().to_owned(),
            spec.about.clone(),
        ]
    }));
    let table = aligned(&rows, &[Left, Right, Right, Left, Left, Left]);
    format!(
        "Simulated machines: each can be built with any number of processors\n\n{table}{MORE}{}",
        networks()
    )
}

/// Lists the networks of messages, which only figures use.
fn networks() -> String {
    let row = |network: Network| vec![format!("  {network}"), network.about().to_owned()];
    let rows: Vec<Vec<String>> = Network::ALL.map(row).to_vec();
    let table = aligned(&rows, &[Left; 2]);
    format!(
        "\nSimulated networks of messages, for the figures DT96-18 to DT96-T2 and THRONG-5\n\n{table}"
    )
}

const MORE: &str = "
A machine of your own is a TOML file; one of these is a good start, and names its sources:
  throng machines alewife > my.toml
  throng simulate diffracting --machine my.toml
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_a_line_for_each() {
        let text = list(&all());
        for Machine { spec, .. } in all() {
            let mut lines = text.lines().filter(|line| line.contains(&spec.about));
            let line = lines.next().unwrap_or_else(|| panic!("{} is not listed", spec.name));
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(words[0], spec.name);
            assert_eq!(words[1], spec.processors.to_string());
            assert_eq!(words[3..5], [spec.network.kind(), spec.coherence.kind()]);
        }
    }

    #[test]
    fn networks_are_listed_too() {
        let text = list(&all());
        for network in Network::ALL {
            assert!(text.contains(&format!("  {network} ")), "{text}");
        }
    }
}
