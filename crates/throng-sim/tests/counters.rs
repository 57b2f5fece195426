//! Every counting method runs on the simulator and hands out each number once.

use throng::counter::{Shape, methods};
use throng_sim::{End, Faults, Sim, Simulation};

const PROCESSORS: usize = 64;
const CALLS: usize = 20;

#[test]
fn every_counter_counts() {
    for method in methods::<Sim>() {
        for seed in 0..4 {
            let name = method.about.name;
            let outcome = Simulation::new()
                .processors(PROCESSORS)
                .seed(seed)
                .faults(Faults::none().random_delays(10, 200))
                .run(
                    || method.build(&Shape::for_processors(PROCESSORS)).unwrap(),
                    |counter, cpu| {
                        let mut values = [0; CALLS];
                        counter.fill_on(cpu, &mut values);
                        values
                    },
                )
                .unwrap();
            assert_eq!(outcome.end, End::Finished, "{name}, seed {seed}");
            let mut values: Vec<u64> = outcome.results.into_iter().flatten().flatten().collect();
            values.sort_unstable();
            let all = 0..(PROCESSORS * CALLS) as u64;
            assert!(values.into_iter().eq(all), "{name}, seed {seed}");
        }
    }
}
