//! `throng watch`: the default counter changing its shape, live; any structure, step by step.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use throng_papers::arguments::{not_allowed, optional};
use throng_papers::machines::Machine;

use crate::error::Error;
use crate::watch::steps::choice::{
    Choice, MAX_CALLS, MAX_PROCESSORS as MAX_PROCESSORS_SHOWN, Structure, simulated,
};
use crate::watch::{StepsPlan, WatchPlan, watch, watch_steps};

const DEFAULT_PORT: usize = 7171;
/// More could not be drawn.
const MAX_PROCESSORS: usize = 1024;

/// Arguments of `throng watch`.
#[derive(Debug, Default, Args)]
pub struct WatchArguments {
    /// The address to listen on. Other machines can see the page unless it is a loopback address
    /// [default: 127.0.0.1]
    #[arg(long, value_name = "IP")]
    pub bind: Option<String>,

    /// The port [default: 7171; 0: any that is free]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub port: Option<String>,

    /// A simulated machine instead of this one: a name that `throng machines` shows, or a TOML file
    /// [default: this machine]
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,

    /// How many processors the simulated machine has [default: as many as its file says; with a
    /// structure 8, at most 32]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub processors: Option<String>,

    /// A counter, step by step: diffracting, reactive, self-tuning, counting-network, combining-tree,
    /// funnel, or any other that `throng list` shows. Always on a simulated machine [default: ideal]
    #[arg(long, value_name = "NAME", help_heading = "A structure, step by step")]
    pub counter: Option<String>,

    /// A barrier, step by step: dissemination, static-fway, or any other that `throng list` shows
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "counter",
        help_heading = "A structure, step by step"
    )]
    pub barrier: Option<String>,

    /// What decides all that is random. The same seed gives the same steps [default: 1]
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "A structure, step by step"
    )]
    pub seed: Option<String>,

    /// How many numbers each processor takes, or how many rounds a barrier has [default: 4, 12 of a
    /// counter that changes its shape, 3 rounds]
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "A structure, step by step"
    )]
    pub calls: Option<String>,

    /// The step to begin at; with --svg the step to draw [default: 0]
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "A structure, step by step"
    )]
    pub step: Option<String>,

    /// Write the drawing of one step to a file, and serve no page
    #[arg(long, value_name = "FILE", help_heading = "A structure, step by step")]
    pub svg: Option<PathBuf>,
}

/// Serves the page until it is ended.
///
/// # Errors
/// When an argument is wrong or the address cannot be listened on; when the counter miscounted.
pub fn run(typed: &WatchArguments) -> Result<(), Error> {
    match StepsPlan::resolve(typed)? {
        Some(plan) => watch_steps(plan),
        None => watch(&WatchPlan::resolve(typed)?),
    }
}

/// Returns the address to listen on.
fn address(typed: &WatchArguments) -> Result<SocketAddr, Error> {
    let ip = match &typed.bind {
        None => IpAddr::V4(Ipv4Addr::LOCALHOST),
        Some(text) => text.trim().parse().map_err(|_| {
            not_allowed(
                "--bind",
                text.clone(),
                "an IP address, such as 127.0.0.1, ::1 or, for all machines, 0.0.0.0",
            )
        })?,
    };
    let port = optional("--port", typed.port.as_deref(), 0..=65_535)?.unwrap_or(DEFAULT_PORT);
    Ok(SocketAddr::new(ip, port as u16))
}

impl StepsPlan {
    /// Resolves what was typed; `None` where no structure was.
    ///
    /// # Errors
    /// When a value is not allowed, or there is no such structure or machine, or an option needs a
    /// structure.
    pub fn resolve(typed: &WatchArguments) -> Result<Option<Self>, Error> {
        let structure = match (&typed.counter, &typed.barrier) {
            (Some(name), _) => Structure::counter(name)?,
            (None, Some(name)) => Structure::barrier(name)?,
            (None, None) => {
                let svg = typed.svg.as_ref().map(|path| path.display().to_string());
                for (option, value) in [
                    ("--seed", &typed.seed),
                    ("--calls", &typed.calls),
                    ("--step", &typed.step),
                    ("--svg", &svg),
                ] {
                    if let Some(value) = value {
                        let allowed =
                            "left out, or come with a structure, such as --counter diffracting";
                        return Err(not_allowed(option, value.clone(), allowed).into());
                    }
                }
                return Ok(None);
            }
        };
        let mut choice = Choice::of(structure)?;
        if let Some(argument) = &typed.machine {
            choice.machine = simulated(argument)?;
        }
        let processors = typed.processors.as_deref();
        if let Some(processors) = optional("--processors", processors, 1..=MAX_PROCESSORS_SHOWN)? {
            choice.processors = processors;
        }
        if let Some(calls) = optional("--calls", typed.calls.as_deref(), 1..=MAX_CALLS)? {
            choice.calls = calls;
        }
        if let Some(seed) = &typed.seed {
            let wrong = || not_allowed("--seed", seed.clone(), "a whole number from 0 to 2^64 - 1");
            choice.seed = seed.trim().parse().map_err(|_| wrong())?;
        }
        let steps = 0..=u32::MAX as usize;
        let step = optional("--step", typed.step.as_deref(), steps)?.unwrap_or(0);
        let svg = typed.svg.clone();
        Ok(Some(StepsPlan { address: address(typed)?, choice, step, svg }))
    }
}

impl WatchPlan {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// When a value is not allowed, or there is no such machine.
    pub fn resolve(typed: &WatchArguments) -> Result<Self, Error> {
        let address = address(typed)?;
        let processors = optional("--processors", typed.processors.as_deref(), 1..=MAX_PROCESSORS)?;
        let machine = typed.machine.as_deref().map(Machine::find).transpose()?;
        if let (None, Some(value)) = (&machine, &typed.processors) {
            return Err(not_allowed(
                "--processors",
                value.clone(),
                "left out, or come with a simulated machine, such as --machine server",
            )
            .into());
        }
        let sized = |machine: Machine| {
            let processors = processors.unwrap_or(machine.spec.processors.min(MAX_PROCESSORS));
            (machine, processors)
        };
        Ok(WatchPlan { address, machine: machine.map(sized) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(change: impl FnOnce(&mut WatchArguments)) -> Result<WatchPlan, String> {
        let mut typed = WatchArguments::default();
        change(&mut typed);
        WatchPlan::resolve(&typed).map_err(|error| error.to_string())
    }

    #[test]
    fn this_machine_is_watched_from_this_machine_unless_told_otherwise() {
        let plan = resolve(|_| ()).unwrap();
        assert_eq!(plan.address.to_string(), "127.0.0.1:7171");
        assert!(plan.machine.is_none());
        let plan = resolve(|typed| {
            typed.bind = Some("::1".to_owned());
            typed.port = Some("0".to_owned());
            typed.machine = Some("server".to_owned());
        });
        let plan = plan.unwrap();
        assert_eq!((plan.address.to_string().as_str(), plan.machine.unwrap().1), ("[::1]:0", 192));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let said = resolve(|typed| typed.port = Some("70000".to_owned())).unwrap_err();
        assert_eq!(said, "--port 70000: must be a whole number from 0 to 65535");
        let said = resolve(|typed| typed.processors = Some("8".to_owned())).unwrap_err();
        assert!(said.starts_with("--processors 8: must be left out, or come with"), "{said}");
        let said = resolve(|typed| typed.bind = Some("localhost".to_owned())).unwrap_err();
        assert!(said.starts_with("--bind localhost: must be an IP address"), "{said}");
    }
}
