//! The closed form: theorem 3.2 of SS98 and what follows from it.
//!
//! With `x` processors a prism cell, the part of the cells that hold a diffracting pair is
//!
//! ```text
//! m = x² / (x² + 2x + 1) = (x / (x + 1))²
//! ```
//!
//! It is the fixed point of the [differential equations](super::flow): `x s = m` and
//! `x (1 - 2 s - m) = s`, from which `s` is eliminated. A pair leaves once in a unit of time, so
//! `E[Z] = 2 L m`, and `E[T] = P / E[Z]`.
//!
//! # Differs from the paper
//!
//! The theorem puts `α = P / (d L)` for `x`. But processors at work are at no cell: with
//! `W = work E[Z]` of them (lemma 3.1), `d L x + 2 work L m(x) = P`. So `x` is smaller than `α`, by
//! `2 work m / d`. For `d` to infinity, as in the theorem, that goes away; for the trees of its
//! section 4, of depth 5 and 6, it makes `E[Z]` smaller by up to 12 % already at `work = 1`.
//! [`theorem`] is the paper's, [`exact`] has the difference in it.

use super::Setting;

/// The closed form at one setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedForm {
    /// Processors a prism cell.
    pub load: f64,
    /// `m`: the part of the cells that hold a diffracting pair.
    pub pairs: f64,
    /// `E[Z] = 2 L m`.
    pub throughput: f64,
    /// `E[T] = P / E[Z]`, work included.
    pub round: f64,
}

/// Returns `m`, the part of the cells that hold a diffracting pair, for `load` processors a cell.
pub fn pairs(load: f64) -> f64 {
    (load / (load + 1.0)).powi(2)
}

/// Computes theorem 3.2 as it stands: all processors at prism cells. `None` for a tree without
/// prisms.
pub fn theorem(setting: &Setting) -> Option<ClosedForm> {
    let cells = setting.tree.all_cells();
    (cells > 0.0).then(|| at(setting, setting.processors as f64 / cells))
}

/// Computes the same without the processors at work. `None` for a tree without prisms.
pub fn exact(setting: &Setting) -> Option<ClosedForm> {
    let cells = setting.tree.all_cells();
    if cells == 0.0 {
        return None;
    }
    let processors = setting.processors as f64;
    let working =
        |load: f64| f64::from(setting.work) * 2.0 * setting.tree.prism as f64 * pairs(load);
    let (mut low, mut high) = (0.0, processors / cells);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if cells * middle + working(middle) < processors {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(at(setting, high))
}

impl ClosedForm {
    /// Returns the steps from the root to a number, without work.
    pub fn latency(&self, setting: &Setting) -> f64 {
        self.load * setting.tree.all_cells() / self.throughput
    }
}

fn at(setting: &Setting, load: f64) -> ClosedForm {
    let pairs = pairs(load);
    let throughput = 2.0 * setting.tree.prism as f64 * pairs;
    ClosedForm { load, pairs, throughput, round: setting.processors as f64 / throughput }
}

#[cfg(test)]
mod tests {
    use super::super::Tree;
    use super::*;

    #[test]
    fn the_theorem_is_that_of_the_paper() {
        // α = 160 / (5 * 32) = 1, m = 1/4.
        let form = theorem(&Setting::of_paper(Tree::of_depth(5), 160)).unwrap();
        assert_eq!((form.load, form.pairs, form.throughput, form.round), (1.0, 0.25, 16.0, 10.0));
        assert!(theorem(&Setting::of_paper(Tree::of_depth(0), 9)).is_none());
    }

    #[test]
    fn processors_at_work_are_not_at_a_cell() {
        for work in [0, 1, 50] {
            let setting = Setting { work, ..Setting::of_paper(Tree::of_depth(5), 160) };
            let form = exact(&setting).unwrap();
            let all = 160.0 * form.load + f64::from(work) * form.throughput;
            assert!((all - 160.0).abs() < 1e-9, "{all}");
            let latency = form.latency(&setting);
            assert!((latency + f64::from(work) - form.round).abs() < 1e-9, "{latency}");
            assert!(form.load <= 1.0 && (work > 0 || form == theorem(&setting).unwrap()));
        }
    }
}
