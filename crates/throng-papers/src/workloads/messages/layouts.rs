//! Placements of roles, found once for all runs that need the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use throng_sim::network::{NetworkError, Placement};

use super::{Layout, MessagesRun, Structure};

/// A cache of placements, which many threads may use at the same time.
///
/// An annealed placement belongs to the structure and does not depend on the seed of a run. A
/// random one does.
#[derive(Debug, Default)]
pub struct Layouts {
    made: Mutex<HashMap<String, Slot>>,
}

/// Filled by the first run that needs it, while others wait.
type Slot = Arc<OnceLock<Result<Placement, NetworkError>>>;

/// Seed of the annealing.
const ANNEALING_SEED: u64 = 1;

impl Layouts {
    /// Returns the placement for a run.
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
                // The time that prisms hold messages does not affect the placement.
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
