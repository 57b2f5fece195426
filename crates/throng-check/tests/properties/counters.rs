//! Every counter of every shape, under every load.

use proptest::prelude::*;
use throng::machine::Native;
use throng::structures::counter::{About, Consistency, Registered, Shape, methods};
use throng_check::workload::Observed;
use throng_sim::{End, Faults, Sim, Simulation};

/// Returns any shape that every method accepts.
fn shapes() -> impl Strategy<Value = Shape> {
    let width = prop::option::of((0_u32..6).prop_map(|k| 1_usize << k));
    (1_usize..300, width, 0_u32..200, 1_usize..9, 0_u32..4).prop_map(
        |(processors, width, spin, bank, patience)| {
            let usual = Shape::for_processors(processors);
            usual.width(width).spin(spin).bank(bank).patience(patience)
        },
    )
}

fn method<M: throng::machine::Machine>(index: usize) -> Registered<M> {
    let all = methods();
    all[index % all.len()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Holds for any shape, any number of processors and any disturbance.
    #[test]
    fn a_disturbed_crowd_is_counted(
        index in 0_usize..100,
        shape in shapes(),
        processors in 1_usize..40,
        calls in 1_usize..6,
        seed: u64,
        delay_one_in in 1_u32..30,
        stalls in 0_usize..10,
    ) {
        let method = method::<Sim>(index);
        let name = method.about.name;
        let faults = Faults::none()
            .random_delays(delay_one_in, 500)
            .random_stalls(stalls.min(processors), 40, 10_000);
        let simulation = Simulation::new().processors(processors).seed(seed).faults(faults);
        let outcome = simulation
            .run(move || Observed::new(&method, &shape), move |observed, cpu| {
                observed.count(cpu, calls);
            })
            .unwrap();
        prop_assert_eq!(outcome.shared.verdict(), Ok(()), "{}", name);
        prop_assert_eq!(outcome.end, End::Finished, "{}", name);
        prop_assert_eq!(outcome.shared.calls().len(), processors * calls);
    }

    /// One caller alone gets 0, 1, 2, ... and from a linearizable counter in this order.
    #[test]
    fn one_caller_alone_is_counted(index in 0_usize..100, shape in shapes()) {
        let About { name, consistency, .. } = method::<Native>(index).about;
        let counter = method::<Native>(index).build(&shape).unwrap();
        let mut values = [0; 50];
        counter.fill_on(&Native::cpu(), &mut values);
        if consistency == Consistency::Quiescent {
            values.sort_unstable();
        }
        prop_assert!(values.into_iter().eq(0..50), "{name}: {values:?}");
    }
}
