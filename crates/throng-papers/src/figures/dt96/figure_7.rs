//! DT96 Figure 7: the wait-free balancer. Processors that halt for ever in the middle of a call
//! delay no other. With a lock at the toggle they can.

use throng_sim::{End, Faults};

use super::*;

const TOGETHER: usize = 32;
const WIDTH: usize = 8;
const VALUES: u64 = 640;
/// Numbers of processors that halt.
const HALTED: [usize; 5] = [1, 2, 4, 8, 16];
const HALTED_SMOKE: [usize; 2] = [1, 4];
/// A processor halts at a random one of its first `WITHIN_ACCESSES` accesses, which are in one of
/// its first calls.
const WITHIN_ACCESSES: u64 = 200;
/// Runs for each number of halted processors.
const SEEDS: u64 = 200;
const SEEDS_SMOKE: u64 = 40;
/// Steps after which a run counts as stuck: 20 times what it takes when no processor halts.
const STEP_LIMIT: u64 = 1_500_000;

const WAIT_FREE: &str = "diffracting-wait-free";
const LOCKED: &str = "diffracting-second-chance";

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-7",
    title: "who finishes when processors halt for ever in the middle of a call",
    paper: "DT96 Figure 7 and section 3.2",
    shows: "Without locks every other processor still finishes; with a lock all may hang.",
    find,
};

/// The runs of one method, for one number of halted processors.
struct Crippled {
    halted: usize,
    runs: Vec<(CountingRun, std::rc::Rc<Measured>)>,
}

impl Crippled {
    fn finished(&self) -> usize {
        self.runs.iter().filter(|(_, run)| run.end == End::Finished).count()
    }

    fn first_hung(&self) -> Option<&CountingRun> {
        self.runs.iter().find(|(_, run)| run.end != End::Finished).map(|(run, _)| run)
    }
}

fn find(lab: &Lab) -> Result<Findings, Error> {
    let wait_free = cripple(lab, WAIT_FREE)?;
    let locked = cripple(lab, LOCKED)?;
    let claims = vec![others_finish(lab, &wait_free), lock_can_hang(lab, &locked)];
    Ok(Findings {
        setup: format!(
            "alewife, {TOGETHER} processors, width {WIDTH}, {VALUES} values, {} runs for each \
             number halted, from seed {}",
            lab.pick(SEEDS, SEEDS_SMOKE),
            lab.seed
        ),
        panels: vec![Panel::new(
            Axis::new("processors halted", Scale::Linear),
            Axis::new("runs in which all others finish (%)", Scale::Linear),
            vec![curve("wait-free balancer", &wait_free), curve("lock at the toggle", &locked)],
        )],
        claims,
    })
}

fn cripple(lab: &Lab, method: &str) -> Result<Vec<Crippled>, Error> {
    let seeds = lab.seed..lab.seed + lab.pick(SEEDS, SEEDS_SMOKE);
    let mut all = Vec::new();
    for &halted in lab.pick(&HALTED[..], &HALTED_SMOKE[..]) {
        let counter = CounterChoice::named(method, Some(WIDTH)).expect("a method of the library");
        let run = CountingRun {
            processors: TOGETHER,
            values: VALUES,
            faults: Faults::none().random_halts(halted, WITHIN_ACCESSES),
            step_limit: STEP_LIMIT,
            ..CountingRun::new(counter, lab.alewife())
        };
        let with_seed = |seed| CountingRun { seed, ..run.clone() };
        let runs: Vec<CountingRun> = seeds.clone().map(with_seed).collect();
        let measured = lab.measure(FIGURE.id, &runs)?;
        all.push(Crippled { halted, runs: runs.into_iter().zip(measured).collect() });
    }
    Ok(all)
}

fn curve(name: &str, all: &[Crippled]) -> Curve {
    let percent = |crippled: &Crippled| {
        let share = crippled.finished() as f64 / crippled.runs.len() as f64;
        Point::exact(crippled.halted as f64, 100.0 * share)
    };
    let last = all.last().and_then(|crippled| crippled.runs.first());
    Curve {
        command: last.map(|(run, _)| run.replay_command()),
        ..Curve::measured(name, all.iter().map(percent).collect())
    }
}

fn others_finish(lab: &Lab, wait_free: &[Crippled]) -> Claim {
    let runs: usize = wait_free.iter().map(|crippled| crippled.runs.len()).sum();
    let finished: usize = wait_free.iter().map(Crippled::finished).sum();
    let first_hung = wait_free.iter().find_map(Crippled::first_hung);
    Claim::new(
        "wait-free balancer: every other processor still finishes",
        "all others finish in every run, whatever the number halted",
    )
    .judged(format!("in {finished} of {runs} runs"), lab.judge(finished == runs))
    .because(first_hung.map_or(String::new(), CountingRun::replay_command))
}

fn lock_can_hang(lab: &Lab, locked: &[Crippled]) -> Claim {
    let runs: usize = locked.iter().map(|crippled| crippled.runs.len()).sum();
    let finished: usize = locked.iter().map(Crippled::finished).sum();
    let first_hung = locked.iter().find_map(Crippled::first_hung);
    let example = first_hung
        .map_or(String::new(), |run| format!("; seed {}: {}", run.seed, run.replay_command()));
    Claim::new("the lock-based balancer can hang", "in some run the others do not finish")
        .judged(
            format!("{} of {runs} runs hang{example}", runs - finished),
            lab.judge(finished < runs),
        )
        .because("no halt in these runs fell between taking a toggle's lock and giving it back")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hung_runs_are_found_and_named() {
        let lab = Lab::new(true, 1, 2);
        let findings = find(&lab).unwrap();
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "a small test");
        // Same size as a whole figure's runs, but fewer: one run that hangs is enough.
        let full = Lab::new(false, 1, 2);
        let [wait_free, locked] = [WAIT_FREE, LOCKED].map(|method| cripple(&lab, method).unwrap());
        assert_eq!(others_finish(&full, &wait_free).holds, Some(true));
        assert_eq!(lock_can_hang(&full, &locked).holds, Some(true));
        assert_eq!(others_finish(&full, &locked).holds, Some(false));
        assert_eq!(lock_can_hang(&full, &wait_free).holds, Some(false));
        assert!(findings.claims[1].measured.contains("--fault 'halt any"), "a way to see it again");
        assert!(findings.panels[0].series[0].points.iter().all(|point| point.y == 100.0));
    }
}
