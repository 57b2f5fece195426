//! Where roles are: found once for all runs that need the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use throng_sim::network::{NetworkError, Placement};

use super::{Layout, MessagesRun, Structure};

/// Layouts that have been made, to be used by many runs at the same time.
///
/// An annealed layout does not depend on the seed of a run: it belongs to the structure. One at random
/// does.
#[derive(Debug, Default)]
pub struct Layouts {
    made: Mutex<HashMap<String, Slot>>,
}

/// Filled by the first who needs it; others wait for that.
type Slot = Arc<OnceLock<Result<Placement, NetworkError>>>;

/// What decides where annealing begins.
const ANNEALING_SEED: u64 = 1;

impl Layouts {
    /// The layout for a run.
    pub(super) fn placement(&self, run: &MessagesRun) -> Result<Placement, NetworkError> {
        let (spec, clients) = (run.network.spec(run.nodes), run.clients as u32);
        let plan = run.structure.plan(run.clients, run.seed);
        match run.layout {
            Layout::Random => Placement::random(&spec, &plan, clients, run.seed),
            Layout::Apart => {
                let on_nodes: Vec<usize> = (0..plan.len() + run.clients).collect();
                let (roles, clients) = on_nodes.split_at(plan.len());
                Placement::by_hand(&spec, roles, clients)
            }
            Layout::Annealed => {
                // How long roles wait does not matter.
                let structure = run.structure.clone().with_delay(0, 0);
                let structure = match structure {
                    Structure::CombiningTree { .. } => Structure::combining_tree(None),
                    other => other,
                };
                let key = format!("{structure:?} {spec:?} {clients}");
                let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
                let slot = Arc::clone(made.entry(key).or_default());
                drop(made);
                let anneal = || Placement::annealed(&spec, &plan, clients, ANNEALING_SEED);
                slot.get_or_init(anneal).clone()
            }
        }
    }
}
