//! `throng watch`: a page that shows the default counter at work, while the load on it is changed.
//!
//! ```text
//!   world      threads of this machine (native), or a simulated machine (simulated)
//!     │ snapshot, 5 times a second        ^ load
//!   sampler    the last minute, as one text for all viewers
//!     │                                   │
//!   respond    request -> answer: the page, GET /state, POST /load
//!     │
//!   serve      connections: so many, each for so long
//! ```
//!
//! Viewers get what was written down anyway, so that the measurement does not notice how many there are.

mod groups;
pub mod native;
pub mod respond;
pub mod sampler;
pub mod serve;
pub mod simulated;
pub mod state;
pub mod words;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

use crate::cli::WatchArguments;
use crate::error::Error;
use crate::machines::Machine;
use crate::output;
use crate::plan::{cores, optional};
use native::NativeWorld;
use respond::Site;
use sampler::{Sampler, TICK};
use simulated::SimulatedWorld;
use state::World;

const DEFAULT_PORT: usize = 7171;
/// More could not be drawn.
const MAX_PROCESSORS: usize = 1024;
/// So many take numbers at first, on a simulated machine: few, so that the viewer makes it a crowd.
const FIRST_PROCESSORS: usize = 4;

/// What `throng watch` will do.
#[derive(Debug)]
pub struct WatchPlan {
    /// Where to listen; port 0 is any that is free.
    pub address: SocketAddr,
    /// The simulated machine and its processors; none is this machine.
    pub machine: Option<(Machine, usize)>,
}

impl WatchPlan {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// When a value is not allowed, or there is no such machine.
    pub fn resolve(typed: &WatchArguments) -> Result<Self, Error> {
        let ip = match &typed.bind {
            None => IpAddr::V4(Ipv4Addr::LOCALHOST),
            Some(text) => text.trim().parse().map_err(|_| Error::Value {
                option: "--bind",
                value: text.clone(),
                allowed: "an IP address, such as 127.0.0.1, ::1 or, for everybody, 0.0.0.0"
                    .to_owned(),
            })?,
        };
        let port = optional("--port", typed.port.as_deref(), 0..=65_535)?.unwrap_or(DEFAULT_PORT);
        let processors = optional("--processors", typed.processors.as_deref(), 1..=MAX_PROCESSORS)?;
        let machine = typed.machine.as_deref().map(Machine::find).transpose()?;
        if let (None, Some(value)) = (&machine, &typed.processors) {
            return Err(Error::Value {
                option: "--processors",
                value: value.clone(),
                allowed: "left out, or come with a simulated machine, such as --machine server"
                    .to_owned(),
            });
        }
        let sized = |machine: Machine| {
            let processors = processors.unwrap_or(machine.spec.processors.min(MAX_PROCESSORS));
            (machine, processors)
        };
        Ok(WatchPlan { address: SocketAddr::new(ip, port as u16), machine: machine.map(sized) })
    }

    fn start(&self) -> Result<Arc<dyn World>, Error> {
        Ok(match &self.machine {
            None => Arc::new(NativeWorld::start(cores(), cores())?),
            Some((machine, processors)) => Arc::new(SimulatedWorld::start(
                machine.spec.clone(),
                *processors,
                FIRST_PROCESSORS,
            )?),
        })
    }
}

/// Serves the page until somebody ends it.
///
/// # Errors
/// When an argument is wrong or the address cannot be listened on; when the counter miscounted.
pub fn watch(typed: &WatchArguments) -> Result<(), Error> {
    let plan = WatchPlan::resolve(typed)?;
    let refused = |source| Error::Listen { address: plan.address.to_string(), source };
    let listener = TcpListener::bind(plan.address).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let (end, ended) = channel();
    // The handler may be called again and again; once is enough.
    let handler = move || {
        let _ = end.send(());
    };
    ctrlc::set_handler(handler).map_err(|error| refused(io::Error::other(error)))?;

    let world = plan.start()?;
    let loopback = address.ip().is_loopback();
    let site = Arc::new(Site { sampler: Sampler::new(Arc::clone(&world)), loopback });
    if !loopback {
        output::say(
            "note: --bind: everybody who can reach this machine can watch, and change the load\n",
        );
    }
    let serving = Arc::clone(&site);
    // It ends with the program.
    thread::Builder::new()
        .name("server".to_owned())
        .spawn(move || serve::serve(&listener, &serving, serve::BOUNDS))
        .map_err(|source| Error::Spawn { threads: 1, source })?;
    output::print(&format!("http://{address}/\n"))?;
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(TICK) {
        site.sampler.look();
    }
    world.stop()
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
