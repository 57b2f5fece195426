//! `throng watch`: a page that shows the default counter at work, while the load on it is changed.
//!
//! ```text
//!   world      threads of this machine (native), or a simulated machine (simulated)
//!     │ snapshot, 5 times a second        ^ load
//!   sampler    the last minute, as one text for all viewers
//!     │                                   │
//!   respond    request -> answer: the page, GET /state, POST /load
//!     │
//!   serve      connections: bounded in number, and each in time
//! ```
//!
//! All viewers get the same text, so their number does not disturb the measurement.
//!
//! [`steps`] shows any other counter or barrier instead, step by step.

mod groups;
pub mod native;
pub mod respond;
pub mod sampler;
pub mod serve;
pub mod simulated;
pub mod state;
pub mod steps;
pub mod words;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use throng_papers::machines::Machine;
use throng_papers::output::{self, OutputFile};

use crate::error::Error;
use crate::stop::Stop;
use crate::threads::cores;
use native::NativeWorld;
use respond::{Answers, Site};
use sampler::{Sampler, TICK};
use simulated::SimulatedWorld;
use state::World;
use steps::choice::Choice;
use steps::site::StepSite;

/// Processors that take numbers at first on a simulated machine: few, so that the viewer can add
/// load.
const FIRST_PROCESSORS: usize = 4;

/// The resolved arguments of `throng watch`.
#[derive(Debug)]
pub struct WatchPlan {
    /// Where to listen; port 0 is any that is free.
    pub address: SocketAddr,
    /// The simulated machine and its processors. `None`: threads of this machine.
    pub machine: Option<(Machine, usize)>,
}

impl WatchPlan {
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

/// The resolved arguments of `throng watch` with a structure.
#[derive(Debug)]
pub struct StepsPlan {
    /// Where to listen.
    pub address: SocketAddr,
    /// The run that is shown at first.
    pub choice: Choice,
    /// The step that is shown at first.
    pub step: usize,
    /// Where one drawing goes. `None`: the page is served.
    pub svg: Option<PathBuf>,
}

/// Serves the page of a structure until the program is ended, or writes one drawing.
///
/// # Errors
/// When the structure cannot be run, the address cannot be listened on or the file cannot be written.
pub fn watch_steps(plan: StepsPlan) -> Result<(), Error> {
    let StepsPlan { address, choice, step, svg } = plan;
    if let Some(path) = svg {
        let file = OutputFile::open("--svg", path)?;
        return Ok(file.write(&steps::still(&choice, step)?)?);
    }
    // An impossible run is reported here, not on the page.
    steps::still(&choice, step)?;
    let (listener, address) = listen(address)?;
    let stop = Stop::listen();
    let site = Arc::new(StepSite::new(choice, step, address.ip().is_loopback()));
    if !address.ip().is_loopback() {
        output::say("note: --bind: any host that can reach this machine can watch\n");
    }
    serve_always(listener, &site)?;
    output::print(&format!("http://{address}{}\n", site.address()))?;
    while !stop.is_wanted() {
        thread::sleep(TICK);
    }
    Ok(())
}

fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    let refused = |source| Error::Listen { address: address.to_string(), source };
    let listener = TcpListener::bind(address).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    Ok((listener, address))
}

/// Serves in a thread that ends with the program.
fn serve_always(listener: TcpListener, site: &Arc<impl Answers>) -> Result<(), Error> {
    let serving = Arc::clone(site);
    thread::Builder::new()
        .name("server".to_owned())
        .spawn(move || serve::serve(&listener, &serving, serve::BOUNDS))
        .map(drop)
        .map_err(|source| Error::Spawn { threads: 1, source })
}

/// Serves the page until the program is ended.
///
/// # Errors
/// When an argument is wrong or the address cannot be listened on; when the counter miscounted.
pub fn watch(plan: &WatchPlan) -> Result<(), Error> {
    let (listener, address) = listen(plan.address)?;
    let stop = Stop::listen();

    let world = plan.start()?;
    let loopback = address.ip().is_loopback();
    let site = Arc::new(Site { sampler: Sampler::new(Arc::clone(&world)), loopback });
    if !loopback {
        output::say(
            "note: --bind: any host that can reach this machine can watch, and change the load\n",
        );
    }
    serve_always(listener, &site)?;
    output::print(&format!("http://{address}/\n"))?;
    while !stop.is_wanted() {
        thread::sleep(TICK);
        site.sampler.look();
    }
    world.stop()
}
