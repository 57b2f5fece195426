//! DT96 Figure 9: latency by the number of processors, work 0.

use super::*;

const WORK: u32 = 0;
/// Largest exponent of P for a nearly flat latency: with 16 times as many processors it at most
/// doubles.
const FLAT: f64 = 0.25;
/// Smallest exponent of P for a latency that grows with P.
const GROWS: f64 = 0.75;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-9",
    title: "latency of five counters",
    paper: "DT96 Figure 9",
    shows: "The latency of the diffracting tree hardly depends on the number of processors.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let rows = benchmark(lab, FIGURE.id, &CONTENDERS, WORK)?;
    let curves = latencies(&rows, WORK);
    let claims = vec![
        nearly_flat(lab, named(&curves, &DTREE))
            .because(format!("processors waited at: {}", row(&rows, &DTREE).hottest(MOST))),
        grows(lab, named(&curves, &MCS)),
        grows(lab, named(&curves, &EXP_BACKOFF)),
    ];
    let setup = latency_setup(lab, WORK);
    Ok(Findings { claims, setup, ..findings(lab, WORK, latency_axis(), curves) })
}

fn nearly_flat(lab: &Lab, curve: &Curve) -> Claim {
    let claim = Claim::new(
        format!("{} nearly flat in P", curve.name),
        format!("latency grows like P^e with e < {FLAT} from P = {SEVERAL} to {MOST}"),
    );
    judge_exponent(claim, curve, |exponent| lab.judge(exponent < FLAT))
}

fn grows(lab: &Lab, curve: &Curve) -> Claim {
    let claim = Claim::new(
        format!("{} grows with P", curve.name),
        format!("latency grows like P^e with e > {GROWS} from P = {SEVERAL} to {MOST}"),
    );
    judge_exponent(claim, curve, |exponent| lab.judge(exponent > GROWS))
}

fn judge_exponent(claim: Claim, curve: &Curve, judge: impl FnOnce(f64) -> Option<bool>) -> Claim {
    let (Some(exponent), Some(from), Some(to)) =
        (curve.exponent_from(SEVERAL), curve.at(SEVERAL), curve.last())
    else {
        return claim;
    };
    let measured = format!(
        "e = {exponent:.2}: from {} to {} cycles ({} at P = 1)",
        short(from),
        short(to.y),
        curve.at(1.0).map_or("-".to_owned(), short)
    );
    claim.judged(measured, judge(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_and_linear_latencies_are_told_apart() {
        let lab = Lab::new(false, 1, 1);
        let xs = [1.0, 16.0, 64.0, 256.0];
        let flat = Curve::formula("t", &xs, |_| 500.0);
        let linear = Curve::formula("t", &xs, |x| 20.0 * x);
        let verdicts = |curve| (nearly_flat(&lab, curve).holds, grows(&lab, curve).holds);
        assert_eq!(verdicts(&flat), (Some(true), Some(false)));
        assert_eq!(verdicts(&linear), (Some(false), Some(true)));
        let between = Curve::formula("t", &xs, f64::sqrt);
        assert_eq!(verdicts(&between), (Some(false), Some(false)));
        assert_eq!(
            grows(&lab, &linear).measured,
            "e = 1.00: from 320 to 5 120 cycles (20 at P = 1)"
        );
    }
}
