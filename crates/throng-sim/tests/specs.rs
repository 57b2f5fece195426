//! Descriptions of machines: errors name the field, and every machine that can be described works.

use std::sync::atomic::Ordering::SeqCst;

use proptest::prelude::*;
use throng::machine::{Cpu, Line, Place, Word};
use throng_sim::spec::{CoherenceSpec, NetworkSpec, ProcessorSpec};
use throng_sim::{End, MachineSpec, Sim, SimCpu, SimError, SimWord, Simulation};

const GOOD: &str = r#"
name = "mine"
about = "for a test"
processors = 8
clock_mhz = 1000

[processor]
hit_cycles = 1

[network]
kind = "uniform"
message_cycles = 40

[coherence]
kind = "directory"
home_cycles = 20
"#;

const RINGS: &str =
    "kind = \"rings\"\nring_nodes = 4\nnear_cycles = 10\nfar_cycles = 40\nslot_cycles = 1";
const CHIPLETS: &str = "kind = \"chiplets\"\nchiplet_nodes = 2\nsocket_chiplets = 2\n\
                        chiplet_cycles = 5\nsocket_cycles = 20\nfar_cycles = 70";
const BUTTERFLY: &str = "kind = \"butterfly\"\nradix = 8\nmessage_cycles = 1\nstage_cycles = 1";
const UNIFORM: &str = "kind = \"uniform\"\nmessage_cycles = 40";
const DIRECTORY: &str = "kind = \"directory\"\nhome_cycles = 20";

/// The error for `GOOD` with one text in place of another.
fn error(old: &str, new: &str) -> String {
    let text = GOOD.replacen(old, new, 1);
    assert_ne!(text, GOOD, "{old} is not in it");
    match MachineSpec::from_toml(&text) {
        Ok(_) => panic!("no error:\n{text}"),
        Err(error) => error.to_string(),
    }
}

fn assert_error(old: &str, new: &str, expected: &[&str]) {
    let error = error(old, new);
    for part in expected {
        assert!(error.contains(part), "{new}: {part:?} is not in:\n{error}");
    }
}

#[test]
fn the_good_one_is_good() {
    let spec = MachineSpec::from_toml(GOOD).unwrap();
    assert_eq!(MachineSpec::from_toml(&spec.to_toml()), Ok(spec));
}

#[test]
fn unknown_fields_are_named() {
    assert_error("processors = 8", "processors = 8\nprocesors = 8", &["unknown field `procesors`"]);
    assert_error("hit_cycles = 1", "hit_cycles = 1\nhits = 2", &["unknown field `hits`"]);
    assert_error(
        "message_cycles = 40",
        "message_cycles = 40\nhop_cycles = 1",
        &[
            "line 13: [network]: unknown field `hop_cycles`: kind = \"uniform\" has `message_cycles`",
        ],
    );
    assert_error(
        "home_cycles = 20",
        "home_cycles = 20\nforwards = true",
        &["line 17: [coherence]: unknown field `forwards`", "`forward`, `exclusive`"],
    );
    assert_error(
        "\"uniform\"",
        "\"torus\"",
        &["line 11: network.kind = \"torus\": must be \"uniform\", \"mesh\", "],
    );
    assert_error(
        "\"directory\"",
        "\"magic\"",
        &["line 15: coherence.kind = \"magic\": must be ", "\"snoop\"", " or \"none\""],
    );
    assert_error("\"uniform\"", "4", &["line 11: network.kind = 4: must be \"uniform\""]);
}

#[test]
fn missing_fields_are_named() {
    for field in [
        "name = \"mine\"",
        "about = \"for a test\"",
        "processors = 8",
        "clock_mhz = 1000",
        "hit_cycles = 1",
        "message_cycles = 40",
        "home_cycles = 20",
        "kind = \"uniform\"",
    ] {
        let (name, _) = field.split_once(' ').unwrap();
        assert_error(field, "", &[&format!("missing field `{name}`")]);
    }
    assert_error(&format!("[network]\n{UNIFORM}"), "", &["missing field `network`"]);
    assert_error(&format!("[coherence]\n{DIRECTORY}"), "", &["missing field `coherence`"]);
    assert_error("[processor]\nhit_cycles = 1", "", &["missing field `processor`"]);
}

#[test]
fn wrong_types_are_shown() {
    // The line is quoted, with the field in it.
    assert_error("processors = 8", "processors = \"many\"", &["processors = \"many\"", "string"]);
    assert_error("processors = 8", "processors = -8", &["processors = -8", "-8"]);
    assert_error("clock_mhz = 1000", "clock_mhz = 2.5", &["clock_mhz = 2.5", "floating point"]);
    assert_error("hit_cycles = 1", "hit_cycles = true", &["hit_cycles = true", "boolean"]);
    assert_error("[processor]\n", "processor = 4\n[other]\n", &["processor"]);
    assert_error("name = \"mine\"", "name = ", &["name = "]);
    // Parts whose kind decides what is in them.
    let number = "must be a whole number from 0 to 4294967296";
    for typed in ["\"far\"", "-1", "2.5", "99999999999999999999", "true", "[1]"] {
        let whole = format!("line 12: network.message_cycles = {typed}: {number}");
        assert_error("message_cycles = 40", &format!("message_cycles = {typed}"), &[&whole]);
    }
    assert_error(
        "home_cycles = 20",
        "home_cycles = -1",
        &[&format!("line 16: coherence.home_cycles = -1: {number}")],
    );
    assert_error(
        "home_cycles = 20",
        "home_cycles = 20\nforward = 1",
        &["line 17: coherence.forward = 1: must be true or false"],
    );
    assert_error(
        UNIFORM,
        &RINGS.replace("ring_nodes = 4", "ring_nodes = \"4\""),
        &["line 12: network.ring_nodes = \"4\": must be a whole number from 1 to 65536"],
    );
    // However a number is written.
    for typed in ["0x28", "+40", "4_0", "0b101000"] {
        let text = GOOD.replace("message_cycles = 40", &format!("message_cycles = {typed}"));
        assert_eq!(MachineSpec::from_toml(&text), MachineSpec::from_toml(GOOD), "{typed}");
    }
    let inline = GOOD.replace(&format!("[network]\n{UNIFORM}\n"), "").replace(
        "processors = 8",
        "processors = 8\nnetwork = { kind = 'uniform', 'message_cycles' = 40 }",
    );
    assert_eq!(MachineSpec::from_toml(&inline), MachineSpec::from_toml(GOOD));
}

#[test]
fn values_out_of_range_are_named_with_their_range() {
    let most = (1_u64 << 32).to_string();
    let more = ((1_u64 << 32) + 1).to_string();
    assert_error("name = \"mine\"", "name = \"\"", &["name = \"\"", "1 to 64"]);
    for (old, field, value, least) in [
        ("processors = 8", "processors", "0", "1"),
        ("processors = 8", "processors", "65537", "1"),
        ("clock_mhz = 1000", "clock_mhz", "0", "1"),
        ("hit_cycles = 1", "processor.hit_cycles", "0", "1"),
        ("hit_cycles = 1", "processor.hit_cycles", &more, "1"),
        ("hit_cycles = 1", "processor.rmw_hit_cycles", "0", "1"),
        ("hit_cycles = 1", "processor.instruction_cycles", &more, "0"),
        ("hit_cycles = 1", "processor.miss_cycles", &more, "0"),
        ("hit_cycles = 1", "processor.fill_cycles", &more, "0"),
        ("hit_cycles = 1", "processor.per_node", "0", "1"),
        ("message_cycles = 40", "network.message_cycles", &more, "0"),
        ("home_cycles = 20", "coherence.home_cycles", "0", "1"),
        ("home_cycles = 20", "coherence.holder_cycles", &more, "0"),
        ("home_cycles = 20", "coherence.invalidate_cycles", &more, "0"),
        ("home_cycles = 20", "coherence.overflow_cycles", &more, "0"),
        ("home_cycles = 20", "coherence.fetch_op_cycles", &more, "0"),
    ] {
        let name = field.rsplit('.').next().unwrap();
        let new = if old.starts_with(&format!("{name} ")) {
            format!("{name} = {value}")
        } else {
            format!("{old}\n{name} = {value}")
        };
        assert_error(old, &new, &[&format!("{field} = {value}: must be from {least} to")]);
    }
    assert_error("hit_cycles = 1", &format!("hit_cycles = {more}"), &[&format!("to {most}")]);
    for (old, new, start) in [
        ("processors = 8", "processors = 0", "line 4: processors = 0: "),
        ("hit_cycles = 1", "hit_cycles = 0", "line 8: processor.hit_cycles = 0: "),
        ("home_cycles = 20", "home_cycles = 0", "line 16: coherence.home_cycles = 0: "),
    ] {
        assert!(error(old, new).starts_with(start), "{}", error(old, new));
    }
    assert_error(
        "home_cycles = 20",
        "home_cycles = 20\npointers = 0\noverflow_cycles = 1",
        &["coherence.pointers = 0: must be from 1 to"],
    );
    for (network, field, value) in [
        (RINGS, "ring_nodes", "0"),
        (RINGS, "near_cycles", &more),
        (RINGS, "far_cycles", &more),
        (RINGS, "slot_cycles", &more),
        (CHIPLETS, "chiplet_nodes", "0"),
        (CHIPLETS, "socket_chiplets", "0"),
        (CHIPLETS, "chiplet_cycles", &more),
        (CHIPLETS, "socket_cycles", &more),
        (CHIPLETS, "far_cycles", &more),
        (BUTTERFLY, "radix", "1"),
        (BUTTERFLY, "message_cycles", &more),
        (BUTTERFLY, "stage_cycles", &more),
    ] {
        let set: Vec<_> = network
            .lines()
            .map(|line| match line.split_once(" = ") {
                Some((name, _)) if name.trim() == field => format!("{field} = {value}"),
                _ => line.to_owned(),
            })
            .collect();
        let expected = format!("network.{field} = {value}: must be from");
        assert_error(UNIFORM, &set.join("\n"), &[&expected]);
    }
    let ideal = "kind = \"ideal\"\naccess_cycles = 0";
    assert_error(DIRECTORY, ideal, &["coherence.access_cycles = 0"]);
    let none = "kind = \"none\"\nmemory_cycles = 1\nrmw_cycles = 0";
    assert_error(DIRECTORY, none, &["coherence.rmw_cycles = 0"]);
    let nearest = "kind = \"nearest\"\nmemory_cycles = 0";
    assert_error(DIRECTORY, nearest, &["coherence.memory_cycles = 0"]);
    for (fetch, upgrade, field) in [(0, 1, "fetch_cycles"), (1, 0, "upgrade_cycles")] {
        let text = format!(
            "[network]\nkind = \"bus\"\n[coherence]\nkind = \"snoop\"\n\
             fetch_cycles = {fetch}\nupgrade_cycles = {upgrade}"
        );
        let parts = format!("[network]\n{UNIFORM}\n\n[coherence]\n{DIRECTORY}");
        assert_error(&parts, &text, &[&format!("coherence.{field} = 0: must be from 1")]);
    }
}

#[test]
fn names_are_short_and_printable() {
    let named = |name: &str| error("name = \"mine\"", &format!("name = \"{name}\""));
    for name in ["", "a\\u001b[31mb", "two\\nlines", &"x".repeat(65)] {
        assert!(named(name).ends_with("must have 1 to 64 characters, all of them printable"));
    }
    let mut spec = MachineSpec::from_toml(GOOD).unwrap();
    spec.name = "\u{e9}".repeat(64);
    assert_eq!(spec.check(), Ok(()), "letters count, not bytes");
}

#[test]
fn pointers_need_to_know_what_more_of_them_cost() {
    let needed = "line 17: coherence.overflow_cycles: needed with pointers";
    assert_error("home_cycles = 20", "home_cycles = 20\npointers = 5", &[needed]);
    let both = GOOD.to_owned() + "pointers = 5\noverflow_cycles = 0\n";
    assert!(MachineSpec::from_toml(&both).is_ok());
}

#[test]
fn parts_that_do_not_go_together_are_named() {
    let snoop = "kind = \"snoop\"\nfetch_cycles = 5\nupgrade_cycles = 2";
    assert_error(DIRECTORY, snoop, &["network.kind = \"uniform\"", "\"snoop\"", "needs \"bus\""]);
    let bus = "kind = \"bus\"";
    assert_error(UNIFORM, bus, &["network.kind = \"bus\"", "\"directory\"", "any network but"]);
    let both = format!("[network]\n{UNIFORM}\n\n[coherence]\n{DIRECTORY}");
    let nearest =
        format!("[network]\n{BUTTERFLY}\n[coherence]\nkind = \"nearest\"\nmemory_cycles = 1");
    assert_error(&both, &nearest, &["network.kind = \"butterfly\"", "\"nearest\"", "\"rings\""]);
}

#[test]
fn a_simulation_refuses_a_machine_that_makes_no_sense() {
    let mut spec = MachineSpec::from_toml(GOOD).unwrap();
    spec.processor.hit_cycles = 0;
    let refused = Simulation::new().machine(spec).run(|| (), |(), _| ()).unwrap_err();
    assert!(matches!(refused, SimError::Machine(_)), "{refused}");
    assert!(refused.to_string().contains("processor.hit_cycles = 0"), "{refused}");
}

/// Mostly short times, some nothing, a few long.
fn cycles() -> impl Strategy<Value = u64> {
    prop_oneof![2 => Just(0), 6 => 1_u64..60, 1 => 1_u64..5000]
}

fn passing() -> impl Strategy<Value = u64> {
    cycles().prop_map(|cycles| cycles.max(1))
}

fn any_processor() -> impl Strategy<Value = ProcessorSpec> {
    let rmw = prop::option::of(passing());
    (passing(), rmw, cycles(), cycles(), cycles(), 1_usize..6).prop_map(
        |(hit_cycles, rmw_hit_cycles, instruction_cycles, miss_cycles, fill_cycles, per_node)| {
            ProcessorSpec {
                hit_cycles,
                rmw_hit_cycles,
                instruction_cycles,
                miss_cycles,
                fill_cycles,
                per_node,
            }
        },
    )
}

fn any_network() -> impl Strategy<Value = NetworkSpec> {
    let size = || 1_usize..9;
    prop_oneof![
        cycles().prop_map(|message_cycles| NetworkSpec::Uniform { message_cycles }),
        (cycles(), cycles()).prop_map(|(message_cycles, hop_cycles)| NetworkSpec::Mesh {
            message_cycles,
            hop_cycles
        }),
        cycles().prop_map(|arbitration_cycles| NetworkSpec::Bus { arbitration_cycles }),
        (size(), cycles(), cycles(), cycles()).prop_map(
            |(ring_nodes, near_cycles, far_cycles, slot_cycles)| NetworkSpec::Rings {
                ring_nodes,
                near_cycles,
                far_cycles,
                slot_cycles
            }
        ),
        (2_usize..9, cycles(), cycles()).prop_map(|(radix, message_cycles, stage_cycles)| {
            NetworkSpec::Butterfly { radix, message_cycles, stage_cycles }
        }),
        (size(), cycles(), cycles()).prop_map(|(router_nodes, message_cycles, hop_cycles)| {
            NetworkSpec::Hypercube { router_nodes, message_cycles, hop_cycles }
        }),
        (size(), size(), cycles(), cycles(), cycles(), cycles()).prop_map(
            |(
                chiplet_nodes,
                socket_chiplets,
                chiplet_cycles,
                socket_cycles,
                far_cycles,
                port_cycles,
            )| NetworkSpec::Chiplets {
                chiplet_nodes,
                socket_chiplets,
                chiplet_cycles,
                socket_cycles,
                far_cycles,
                port_cycles
            }
        ),
    ]
}

fn any_coherence() -> impl Strategy<Value = CoherenceSpec> {
    let costs = (passing(), cycles(), cycles(), cycles());
    let ways = (any::<bool>(), any::<bool>());
    let options = (prop::option::of(1_usize..5), prop::option::of(cycles()));
    prop_oneof![
        1 => passing().prop_map(|access_cycles| CoherenceSpec::Ideal { access_cycles }),
        4 => (costs, ways, options).prop_map(|(costs, ways, options)| CoherenceSpec::Directory {
            home_cycles: costs.0,
            holder_cycles: costs.1,
            invalidate_cycles: costs.2,
            forward: ways.0,
            exclusive: ways.1,
            pointers: options.0,
            overflow_cycles: costs.3,
            fetch_op_cycles: options.1,
        }),
        8 => (passing(), passing()).prop_map(|(fetch_cycles, upgrade_cycles)| {
            CoherenceSpec::Snoop { fetch_cycles, upgrade_cycles }
        }),
        4 => (cycles(), passing(), 1..5_u64).prop_map(|(holder_cycles, memory_cycles, hold)| {
            CoherenceSpec::Nearest { holder_cycles, memory_cycles, hold_accesses: hold }
        }),
        2 => (passing(), passing()).prop_map(|(memory_cycles, rmw_cycles)| {
            CoherenceSpec::None { memory_cycles, rmw_cycles }
        }),
    ]
}

fn any_machine() -> impl Strategy<Value = MachineSpec> {
    let spec = |(processor, network, coherence)| MachineSpec {
        name: "any".into(),
        about: String::new(),
        processors: 1,
        clock_mhz: 1,
        processor,
        network,
        coherence,
    };
    let parts = (any_processor(), any_network(), any_coherence());
    parts.prop_map(spec).prop_filter("parts that go together", |spec| spec.check().is_ok())
}

struct Shared {
    words: Vec<Line<[SimWord; 2]>>,
    turn: Line<SimWord>,
}

fn setup() -> Shared {
    let two = |spot: &_| [SimWord::new(0, spot), SimWord::new(0, spot)];
    Shared {
        words: (0..3).map(|i| Line::new::<Sim>(Place::named("two").index(i), two)).collect(),
        turn: Line::word::<Sim>(0, Place::named("turn").near(17)),
    }
}

/// A few accesses of each kind, and a turn that all processors wait for.
fn body(shared: &Shared, cpu: &SimCpu) -> u64 {
    for _ in 0..6 {
        let word = &shared.words[cpu.random_below(3)][cpu.random_below(2)];
        match cpu.random_below(4) {
            0 => drop(word.load(SeqCst)),
            1 => drop(word.swap(cpu.random(), SeqCst)),
            2 => word.store(1, SeqCst),
            _ => drop(word.spin_while(cpu, 9, SeqCst, |value| value == 0)),
        }
    }
    shared.turn.wait_while(cpu, SeqCst, |turn| turn != cpu.id() as u64);
    shared.words[0][0].fetch_add(1, SeqCst);
    shared.turn.fetch_add(1, SeqCst)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_machine_that_passes_the_check_works(
        spec in any_machine(),
        processors in 1_usize..=20,
        seed in any::<u64>(),
    ) {
        // The run itself counts all copies and accesses again, and panics if any is lost.
        let simulation = Simulation::new().machine(spec.clone()).processors(processors).seed(seed);
        let outcome = simulation.run(setup, body).unwrap();
        prop_assert_eq!(outcome.end, End::Finished);
        prop_assert_eq!(outcome.memory.total.accesses(), outcome.accesses);
        prop_assert!(outcome.results.into_iter().flatten().eq(0..processors as u64));
        prop_assert_eq!(outcome.trace_hash, simulation.run(setup, body).unwrap().trace_hash);
        prop_assert_eq!(MachineSpec::from_toml(&spec.to_toml()), Ok(spec));
    }
}

#[test]
fn the_longest_times_work() {
    const MOST: u64 = 1 << 32;
    let mut alewife = MachineSpec::preset("alewife").unwrap();
    alewife.processor.miss_cycles = MOST;
    alewife.network = NetworkSpec::Mesh { message_cycles: MOST, hop_cycles: MOST };
    let mut server = MachineSpec::preset("server").unwrap();
    server.processor.hit_cycles = MOST;
    server.coherence =
        CoherenceSpec::Nearest { holder_cycles: MOST, memory_cycles: MOST, hold_accesses: 2 };
    let mut sequent = MachineSpec::preset("sequent").unwrap();
    sequent.coherence = CoherenceSpec::Snoop { fetch_cycles: MOST, upgrade_cycles: MOST };
    for spec in [alewife, server, sequent] {
        spec.check().unwrap();
        let outcome = Simulation::new().machine(spec).processors(10).run(setup, body).unwrap();
        assert_eq!(outcome.end, End::Finished);
        assert!(outcome.cycles > MOST);
    }
}
