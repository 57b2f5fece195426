//! How far it is from node to node, for every kind of network, on machines in which all other times
//! are a cycle.

use throng_sim::MachineSpec;

use crate::bench::{Do::*, run};

/// A machine with this network and, if it is not said otherwise, directories.
fn machine(network: &str) -> MachineSpec {
    with_coherence(network, "kind = \"directory\"\nhome_cycles = 1")
}

fn with_coherence(network: &str, coherence: &str) -> MachineSpec {
    let text = format!(
        "name = \"made up\"\nabout = \"for a test\"\nprocessors = 1\nclock_mhz = 1\n\
         [processor]\nhit_cycles = 1\nmiss_cycles = 1\n\
         [network]\n{network}\n[coherence]\n{coherence}\n"
    );
    MachineSpec::from_toml(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// How long a message takes from processor `from` to the node of each processor.
fn ways(spec: &MachineSpec, processors: usize, from: usize) -> Vec<u64> {
    let homes: Vec<_> = (0..processors).collect();
    let script: Vec<_> =
        homes.iter().map(|&line| (line as u64 * 100_000, from, Read(line))).collect();
    // A miss of one cycle, there, one cycle at home, back.
    run(spec, processors, &homes, &script).took.into_iter().map(|took| (took - 2) / 2).collect()
}

#[test]
fn uniform() {
    let spec = machine("kind = \"uniform\"\nmessage_cycles = 40");
    assert_eq!(ways(&spec, 4, 1), [40, 0, 40, 40]);
}

#[test]
fn mesh() {
    let spec = machine("kind = \"mesh\"\nmessage_cycles = 100\nhop_cycles = 7");
    // Nine are three by three; ten do not fit, and are four by four, the last rows short.
    let from_corner = [0, 107, 114, 107, 114, 121, 114, 121, 128];
    assert_eq!(ways(&spec, 9, 0), from_corner);
    let from_centre = [114, 107, 114, 107, 0, 107, 114, 107, 114];
    assert_eq!(ways(&spec, 9, 4), from_centre);
    let ten = [0, 107, 114, 121, 107, 114, 121, 128, 114, 121];
    assert_eq!(ways(&spec, 10, 0), ten);
}

#[test]
fn butterfly_stages_grow_with_the_machine() {
    for (radix, nodes, stages) in [
        (2, 2, 1),
        (2, 3, 2),
        (2, 4, 2),
        (2, 5, 3),
        (2, 9, 4),
        (8, 8, 1),
        (8, 9, 2),
        (8, 64, 2),
        (8, 65, 3),
        (100, 65, 1),
    ] {
        let network =
            format!("kind = \"butterfly\"\nradix = {radix}\nmessage_cycles = 10\nstage_cycles = 3");
        let ways = ways(&machine(&network), nodes, 0);
        assert_eq!(ways[0], 0, "a node reaches itself at once");
        let way = 10 + 3 * stages;
        assert!(ways[1..].iter().all(|&other| other == way), "radix {radix}, {nodes} nodes");
    }
}

#[test]
fn hypercube_hops_are_bits_that_differ() {
    let network = "kind = \"hypercube\"\nrouter_nodes = 1\nmessage_cycles = 50\nhop_cycles = 3";
    let hops = |hops: u64| 50 + 3 * hops;
    let mut expected = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2].map(hops);
    expected[0] = 0;
    assert_eq!(ways(&machine(network), 10, 0), expected);
    let mut expected = [2, 1, 3, 2, 1, 0, 2, 1].map(hops);
    expected[5] = 0;
    assert_eq!(ways(&machine(network), 8, 5), expected);
    // Two nodes at a router: nodes 0 and 1 are no hop apart.
    let network = "kind = \"hypercube\"\nrouter_nodes = 2\nmessage_cycles = 50\nhop_cycles = 3";
    assert_eq!(ways(&machine(network), 8, 0), [0, 50, 53, 53, 53, 53, 56, 56]);
}

#[test]
fn rings() {
    let network = "kind = \"rings\"\nring_nodes = 3\nnear_cycles = 10\nfar_cycles = 40";
    assert_eq!(ways(&machine(network), 8, 4), [40, 40, 40, 10, 0, 10, 40, 40]);
}

#[test]
fn chiplets() {
    let network = "kind = \"chiplets\"\nchiplet_nodes = 2\nsocket_chiplets = 2\n\
                   chiplet_cycles = 5\nsocket_cycles = 20\nfar_cycles = 70";
    assert_eq!(ways(&machine(network), 9, 5), [70, 70, 70, 70, 5, 0, 20, 20, 70]);
}

#[test]
fn bus() {
    let spec = with_coherence(
        "kind = \"bus\"\narbitration_cycles = 9",
        "kind = \"snoop\"\nfetch_cycles = 5\nupgrade_cycles = 2",
    );
    // A miss of one cycle, arbitration, the fetch: to whatever home.
    let script = [(0, 0, Read(0)), (100, 0, Read(1)), (200, 0, Read(2))];
    assert_eq!(run(&spec, 3, &[0, 1, 2], &script).took, [1 + 9 + 5; 3]);
    // While others have the bus the next is granted.
    let script = [(0, 0, Read(0)), (0, 1, Read(1)), (8, 2, Read(2))];
    assert_eq!(run(&spec, 3, &[0, 1, 2], &script).took, [15, 15 + 5, 1 + 9 + 5 + 2]);
}

#[test]
fn processors_of_a_node_are_no_way_apart() {
    let mut spec = machine("kind = \"uniform\"\nmessage_cycles = 40");
    spec.processor.per_node = 3;
    assert_eq!(ways(&spec, 8, 4), [40, 40, 40, 0, 0, 0, 40, 40]);
    let network = "kind = \"rings\"\nring_nodes = 2\nnear_cycles = 10\nfar_cycles = 40";
    let mut spec = machine(network);
    spec.processor.per_node = 2;
    // Nodes of two, rings of two nodes.
    assert_eq!(ways(&spec, 9, 0), [0, 0, 10, 10, 40, 40, 40, 40, 40]);
}

#[test]
fn slots_and_ports_hold_up_requests_to_homes_and_memories_too() {
    let network = "kind = \"rings\"\nring_nodes = 4\nnear_cycles = 10\nfar_cycles = 40\n\
                   slot_cycles = 6";
    let script = [(0, 1, Read(0)), (0, 2, Read(1)), (0, 0, Read(2))];
    // 0 needs no ring. 2 leaves 6 cycles after 1, and is alone at home.
    let took = run(&machine(network), 4, &[0, 0, 0], &script).took;
    assert_eq!(took, [1 + 10 + 1 + 10, 1 + 6 + 10 + 1 + 10, 1 + 1]);
    let spec = with_coherence(network, "kind = \"none\"\nmemory_cycles = 3\nrmw_cycles = 4");
    let took = run(&spec, 4, &[0, 0, 0], &script).took;
    assert_eq!(took, [1 + 10 + 3 + 10, 1 + 6 + 10 + 3 + 10, 1 + 3]);
}

#[test]
fn nearest_copies_on_a_network_without_neighbourhoods() {
    let spec = with_coherence(
        "kind = \"uniform\"\nmessage_cycles = 40",
        "kind = \"nearest\"\nholder_cycles = 2\nmemory_cycles = 7",
    );
    let script = [(0, 0, Read(0)), (100, 1, Read(0)), (200, 2, Read(0)), (300, 0, Write(0))];
    let took = run(&spec, 4, &[3], &script).took;
    assert_eq!(took, [1 + 80 + 7, 1 + 80 + 2, 1 + 80 + 2, 1 + 80 + 2]);
}

#[test]
fn a_line_that_is_not_filled_yet_does_not_go_on() {
    // Each of the next writers waits for it, and the line comes one way.
    let mut spec = with_coherence(
        "kind = \"uniform\"\nmessage_cycles = 5",
        "kind = \"nearest\"\nholder_cycles = 2\nmemory_cycles = 7",
    );
    spec.processor.fill_cycles = 100;
    let script = [(0, 0, Write(0)), (0, 1, Write(0)), (0, 2, Write(0))];
    let first = 1 + 7 + 100;
    let period = 2 + 5 + 100;
    assert_eq!(run(&spec, 3, &[0], &script).took, [first, first + period, first + 2 * period]);
}
