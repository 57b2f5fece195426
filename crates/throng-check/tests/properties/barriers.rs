//! Every barrier of every shape, under every load.

use proptest::prelude::*;
use throng::machine::Cpu;
use throng::structures::barrier::{FanIn, Flags, Registered, Reinit, Shape, WakeUp, methods};
use throng::topology::Topology;
use throng_check::workload::{ObservedEntrance, ObservedMeeting};
use throng_sim::{End, Faults, Sim, Simulation};

fn fan_ins() -> impl Strategy<Value = FanIn> {
    let machine = (2_usize..20, 1_usize..9, 1_usize..9);
    prop_oneof![
        Just(FanIn::Usual),
        (2_usize..20).prop_map(FanIn::Fixed),
        (0_usize..8, 0_usize..8)
            .prop_map(|(least, more)| FanIn::Fullest { least, most: least.max(1) + 1 + more }),
        machine.prop_map(|(most, small, large)| {
            let topology = Topology::of_groups(&[small, small * large]);
            FanIn::Machine { most, topology }
        }),
    ]
}

/// Returns any shape that every method accepts.
fn shapes() -> impl Strategy<Value = Shape> {
    (1_usize..50, fan_ins(), any::<[bool; 3]>()).prop_map(|(members, fan_in, choices)| {
        Shape::for_members(members)
            .fan_in(fan_in)
            .flags(if choices[0] { Flags::Packed } else { Flags::Padded })
            .wake_up(if choices[1] { WakeUp::Global } else { WakeUp::Tree })
            .reinit(if choices[2] { Reinit::Clear } else { Reinit::Count })
    })
}

fn method(index: usize) -> Registered<Sim> {
    let all = methods();
    all[index % all.len()]
}

fn disturbed(processors: usize, seed: u64, delay_one_in: u32, stalls: usize) -> Simulation {
    let faults = Faults::none().random_delays(delay_one_in, 500).random_stalls(
        stalls.min(processors),
        40,
        10_000,
    );
    Simulation::new().processors(processors).seed(seed).faults(faults)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Holds for any shape, any number of members and any disturbance.
    #[test]
    fn members_meet(
        index in 0_usize..100,
        shape in shapes(),
        rounds in 1_u64..7,
        seed: u64,
        delay_one_in in 1_u32..30,
        stalls in 0_usize..10,
    ) {
        let (method, members) = (method(index), shape.members);
        let known = format!("{}, {shape:?}", method.about.name);
        let outcome = disturbed(members, seed, delay_one_in, stalls)
            .run(move || ObservedMeeting::new(&method, &shape), move |observed, cpu| {
                observed.meet(cpu, cpu.id(), rounds);
            })
            .unwrap();
        prop_assert_eq!(outcome.shared.verdict(), Ok(()), "{}", known);
        prop_assert_eq!(outcome.end, End::Finished, "{}", known);
        let visits = outcome.shared.visits();
        prop_assert!(visits.iter().all(|visits| visits.len() as u64 == rounds), "{}", known);
    }

    /// Holds for any number of callers.
    #[test]
    fn any_threads_meet(
        index in 0_usize..100,
        shape in shapes(),
        more in 0_usize..20,
        visits in 1_u64..6,
        seed: u64,
        delay_one_in in 1_u32..30,
        stalls in 0_usize..10,
    ) {
        let (method, visitors) = (method(index), shape.members + more);
        let known = format!("{}, {visitors} at {shape:?}", method.about.name);
        let outcome = disturbed(visitors, seed, delay_one_in, stalls)
            .run(move || ObservedEntrance::anonymous(&method, &shape, visitors), move |observed, cpu| {
                observed.visit(cpu, cpu.id(), visits);
            })
            .unwrap();
        prop_assert_eq!(outcome.shared.verdict(), Ok(()), "{}", known);
        prop_assert_eq!(outcome.end, End::Finished, "{}", known);
    }
}
