//! The differential equations: system (1) of SS98, in the proof of theorem 3.2.
//!
//! They describe the mean of the [continuous chain](super::jumps) where prisms are large. For each
//! balancer: `x`, processors a cell; `s`, the part of the cells that are free and have one new
//! processor; `m`, the part of the cells with a pair about to leave. With `u` processors a cell and
//! unit of time coming in from the parent, `c = x - 2m + u` choose a cell in a unit of time:
//!
//! ```text
//! dx/dt = u - 2m
//! ds/dt = c (1 - 2s - m) - s
//! dm/dt = c s - m
//! ```
//!
//! In `1 - 2s - m`, the second of the two `s` are the cells that the newcomers fill: free cells
//! gain `c (1 - s - m)` single processors and lose `c s` of them to pairs. So the equation is
//! right, though the text below it in the paper speaks only of `1 - s - m`.
//!
//! # One level, one balancer
//!
//! The balancers of a level start alike and have the same equations, so they stay alike: it is
//! enough to integrate one of each level. Nor is there a fixed point at which they differ: there `u
//! = 2m` everywhere, each child takes half of what its parent passes on, so all balancers of a
//! level have the same `m`; and `m = (x/(x+1))²` grows with `x`, so they have the same `x`.
//!
//! # Differs from the paper
//!
//! - The paper leaves open what flows into the root, which has no parent. Here it is what returns
//!   from work: with `w` working processors a root cell, `dw/dt = 2 m(last level) - w / work`, and
//!   the root gets `w / work`; without work it gets what the last level passes on. So no processor
//!   is lost or made.
//! - The paper has equations for all `2^(d+1) - 1` nodes, leaves too. Leaves have no prism; here
//!   only balancers have equations.
//! - The paper has `k(parent) = 2 k(child)` cells, which rounding up breaks where `L` is no
//!   multiple of `2^i`. Here a child gets `k(parent) / k(child) * m(parent)`, whatever they are.

use super::Setting;

/// The state of one balancer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Balancer {
    /// `x`: processors a cell.
    pub processors: f64,
    /// `s`: the part of the cells that are free and have one new processor.
    pub singles: f64,
    /// `m`: the part of the cells with a pair about to leave.
    pub pairs: f64,
}

/// The state of all balancers, one of each level, and the number of working processors.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// One balancer of each level.
    pub levels: Vec<Balancer>,
    /// `w`: working processors a root cell.
    pub working: f64,
}

/// The fixed point of the flow.
#[derive(Clone, Debug, PartialEq)]
pub struct AtRest {
    /// The state at the fixed point.
    pub state: State,
    /// `E[Z]`: processors that reach the leaves in a unit of time.
    pub throughput: f64,
    /// `E[T] = P / E[Z]`, work included.
    pub round: f64,
    /// Time until it was reached.
    pub time: f64,
}

/// The equations of a setting, without toggles and limits of counters.
struct System {
    /// Cells of one balancer of each level.
    cells: Vec<f64>,
    work: f64,
}

impl System {
    fn new(setting: &Setting) -> Self {
        let cells = (0..setting.tree.depth).map(|level| setting.tree.cells(level) as f64).collect();
        System { cells, work: f64::from(setting.work) }
    }

    /// Returns the cells of all balancers of a level.
    fn level_cells(&self, level: usize) -> f64 {
        self.cells[level] * (1_u64 << level) as f64
    }

    /// Returns the processors that leave the last level in a unit of time.
    fn leaving(&self, state: &State) -> f64 {
        let last = self.cells.len() - 1;
        2.0 * state.levels[last].pairs * self.level_cells(last)
    }

    #[cfg(test)]
    fn population(&self, state: &State) -> f64 {
        let level =
            |(level, balancer): (usize, &Balancer)| balancer.processors * self.level_cells(level);
        state.levels.iter().enumerate().map(level).sum::<f64>() + state.working * self.cells[0]
    }

    /// Returns the derivative of the state.
    fn slope(&self, state: &State) -> State {
        let leaving = self.leaving(state) / self.cells[0];
        let returning = if self.work > 0.0 { state.working / self.work } else { leaving };
        let mut coming = returning;
        let mut levels = Vec::with_capacity(state.levels.len());
        for (level, balancer) in state.levels.iter().enumerate() {
            let Balancer { processors: x, singles: s, pairs: m } = *balancer;
            let choosing = x - 2.0 * m + coming;
            levels.push(Balancer {
                processors: coming - 2.0 * m,
                singles: choosing * (1.0 - 2.0 * s - m) - s,
                pairs: choosing * s - m,
            });
            if let Some(cells) = self.cells.get(level + 1) {
                coming = self.cells[level] / cells * m;
            }
        }
        State { levels, working: leaving - returning }
    }

    /// Makes one step of the classical method of Runge and Kutta.
    fn advance(&self, state: &State, dt: f64) -> State {
        let k1 = self.slope(state);
        let k2 = self.slope(&plus(state, &k1, 0.5 * dt));
        let k3 = self.slope(&plus(state, &k2, 0.5 * dt));
        let k4 = self.slope(&plus(state, &k3, dt));
        let mut next = state.clone();
        for (slope, weight) in [(k1, 1.0), (k2, 2.0), (k3, 2.0), (k4, 1.0)] {
            next = plus(&next, &slope, weight / 6.0 * dt);
        }
        next
    }

    /// Returns the fastest rate at which a solution can change. Steps must be short against its
    /// inverse.
    fn fastest(&self, state: &State) -> f64 {
        let most = state.levels.iter().map(|b| b.processors).fold(0.0, f64::max);
        4.0 + 2.0 * most
    }
}

fn plus(state: &State, slope: &State, dt: f64) -> State {
    let add = |(balancer, slope): (&Balancer, &Balancer)| Balancer {
        processors: balancer.processors + dt * slope.processors,
        singles: balancer.singles + dt * slope.singles,
        pairs: balancer.pairs + dt * slope.pairs,
    };
    State {
        levels: state.levels.iter().zip(&slope.levels).map(add).collect(),
        working: state.working + dt * slope.working,
    }
}

fn largest(state: &State) -> f64 {
    let all = |b: &Balancer| b.processors.abs().max(b.singles.abs()).max(b.pairs.abs());
    state.levels.iter().map(all).fold(state.working.abs(), f64::max)
}

/// Largest rate of change, relative to the load, that counts as rest.
const REST: f64 = 1e-10;
/// Steps after which the search for the fixed point is given up.
const MOST_STEPS: usize = 100_000;

/// Lets the flow run from all processors spread evenly until it rests.
///
/// `None` for a tree without prisms, or when it does not come to rest in reasonable time.
pub fn run(setting: &Setting) -> Option<AtRest> {
    if setting.tree.depth == 0 {
        return None;
    }
    let system = System::new(setting);
    let mut state = even(setting, &system);
    let load = largest(&state);
    let mut time = 0.0;
    for _ in 0..MOST_STEPS {
        let slope = system.slope(&state);
        if largest(&slope) <= REST * load {
            let throughput = system.leaving(&state);
            let round = setting.processors as f64 / throughput;
            return Some(AtRest { state, throughput, round, time });
        }
        let dt = 1.0 / system.fastest(&state);
        state = system.advance(&state, dt);
        time += dt;
    }
    None
}

fn even(setting: &Setting, system: &System) -> State {
    let all: f64 = (0..system.cells.len()).map(|level| system.level_cells(level)).sum();
    let balancer = Balancer { processors: setting.processors as f64 / all, ..Balancer::default() };
    State { levels: vec![balancer; system.cells.len()], working: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::{Tree, closed_form};
    use super::*;

    #[test]
    fn the_flow_comes_to_rest_at_the_closed_form() {
        for (depth, processors, work) in [
            (1, 3, 1),
            (3, 24, 1),
            (5, 16, 1),
            (5, 160, 0),
            (5, 160, 30),
            (6, 2000, 1),
            (10, 900, 1),
        ] {
            let tree = Tree::of_depth(depth);
            let setting = Setting { work, ..Setting::of_paper(tree, processors) };
            let rest = run(&setting).unwrap();
            let form = closed_form::exact(&setting).unwrap();
            for balancer in &rest.state.levels {
                assert!((balancer.pairs / form.pairs - 1.0).abs() < 1e-5, "{setting:?}");
                assert!((balancer.processors / form.load - 1.0).abs() < 1e-5, "{setting:?}");
            }
            assert!((rest.throughput / form.throughput - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn no_processor_is_lost_or_made() {
        for prism in [1, 5, 32] {
            let setting = Setting { work: 7, ..Setting::of_paper(Tree { depth: 4, prism }, 100) };
            let system = System::new(&setting);
            let mut state = even(&setting, &system);
            for _ in 0..2000 {
                assert!((system.population(&state) - 100.0).abs() < 1e-8);
                state = system.advance(&state, 0.01);
                let possible =
                    |b: &Balancer| b.pairs >= 0.0 && b.singles >= 0.0 && b.pairs + b.singles <= 1.0;
                assert!(state.levels.iter().all(possible), "{state:?}");
            }
            assert!(run(&setting).is_some());
        }
    }

    #[test]
    fn the_method_is_of_fourth_order() {
        let setting = Setting::of_paper(Tree::of_depth(3), 40);
        let system = System::new(&setting);
        let after = |steps: usize| {
            let start = even(&setting, &system);
            (0..steps).fold(start, |state, _| system.advance(&state, 2.0 / steps as f64))
        };
        let exact = after(6400);
        let error = |steps| (after(steps).levels[2].pairs - exact.levels[2].pairs).abs();
        let ratio = error(50) / error(100);
        assert!((10.0..24.0).contains(&ratio), "half the step, 1/16 of the error: {ratio}");
    }
}
