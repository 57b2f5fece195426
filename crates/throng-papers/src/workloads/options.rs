//! Which options of a shape apply to which method. One that has no effect is refused, because the
//! run would not be what the command says.

use super::Tuning;

/// The options that change what a method does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// `--width`.
    pub width: bool,
    /// `--spin`.
    pub spin: bool,
    /// `--backoff`.
    pub backoff: bool,
}

/// Returns the options that the method of this name takes.
///
/// ```
/// use throng_papers::workloads::options::taken;
/// assert!(taken("diffracting").width && !taken("hardware").width);
/// ```
pub fn taken(method: &str) -> Taken {
    let width = Taken { width: true, ..Taken::default() };
    match method {
        "counter" | "hardware" | "locked-mcs" => Taken::default(),
        "locked-backoff" => Taken { backoff: true, ..Taken::default() },
        "counting-network-locked" | "combining-tree-locked" => Taken { backoff: true, ..width },
        "diffracting-locked-leaves" => Taken { spin: true, backoff: true, ..width },
        "counting-network" | "combining-tree" | "diffracting-toggle" | "funnel" | "gathering"
        | "self-tuning" => width,
        // All other trees have prisms, at which processors look for partners.
        _ => Taken { spin: true, ..width },
    }
}

impl Taken {
    /// Keeps the options of `tuning` that have an effect.
    pub fn of(self, tuning: Tuning) -> Tuning {
        Tuning {
            width: tuning.width.filter(|_| self.width),
            spin: tuning.spin.filter(|_| self.spin),
            backoff: tuning.backoff.filter(|_| self.backoff),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::{CounterChoice, CountingRun};
    use throng::structures::counter::methods;
    use throng_sim::{MachineSpec, Sim};

    #[test]
    fn an_option_is_taken_where_it_changes_the_run() {
        for method in methods::<Sim>() {
            let name = method.about.name;
            let hash = |tuning| {
                let counter = CounterChoice::registered(method, tuning);
                let run = CountingRun::new(counter, MachineSpec::ideal(10));
                CountingRun { processors: 16, values: 400, ..run }.measure().unwrap().trace_hash
            };
            let none = Tuning::default();
            let usual = hash(none);
            let changes = Taken {
                // One of the two widths may be the usual one.
                width: [2, 4].iter().any(|&w| hash(Tuning { width: Some(w), ..none }) != usual),
                spin: hash(Tuning { spin: Some(1), ..none }) != usual,
                backoff: hash(Tuning { backoff: Some(1), ..none }) != usual,
            };
            assert_eq!(taken(name), changes, "{name}");
        }
    }
}
