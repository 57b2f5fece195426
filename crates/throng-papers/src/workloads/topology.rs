//! Groups of processors of a simulated machine: a cache, a ring, a socket.

use throng::topology::Topology;
use throng_sim::MachineSpec;
use throng_sim::spec::NetworkSpec;

/// Returns the groups of processors that are nearer to each other than to all others, as the
/// machine's description has them. A network with equal distances, or with distances that grow step
/// by step, has none.
///
/// ```
/// use throng_papers::workloads::topology::topology;
/// use throng_sim::MachineSpec;
///
/// let groups = |name| topology(&MachineSpec::preset(name).unwrap()).groups().to_vec();
/// assert_eq!(groups("server"), [8, 96]);
/// assert_eq!(groups("ksr1"), [32]);
/// ```
pub fn topology(machine: &MachineSpec) -> Topology {
    let per_node = machine.processor.per_node;
    let groups = match machine.network {
        NetworkSpec::Uniform { .. } | NetworkSpec::Mesh { .. } | NetworkSpec::Butterfly { .. } => {
            vec![per_node]
        }
        // On a bus each processor has its own way to it.
        NetworkSpec::Bus { .. } => Vec::new(),
        NetworkSpec::Rings { ring_nodes, .. } => vec![per_node, per_node * ring_nodes],
        NetworkSpec::Hypercube { router_nodes, .. } => vec![per_node, per_node * router_nodes],
        NetworkSpec::Chiplets { chiplet_nodes, socket_chiplets, .. } => {
            let chiplet = per_node * chiplet_nodes;
            vec![per_node, chiplet, chiplet * socket_chiplets]
        }
    };
    Topology::of_groups(&groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_has_the_groups_of_its_network() {
        for (name, groups) in [
            ("server", &[8, 96][..]),
            ("ksr1", &[32]),
            ("origin2000", &[2, 4]),
            ("alewife", &[]),
            ("sequent", &[]),
            ("tc2000", &[]),
        ] {
            let machine = MachineSpec::preset(name).unwrap();
            assert_eq!(topology(&machine).groups(), groups, "{name}");
        }
        assert_eq!(topology(&MachineSpec::ideal(10)), Topology::of_groups(&[]));
    }
}
