//! SS98 section 3: the model itself. Its Markov chain, its differential equations and its closed form
//! held against each other ([`crate::model::figure`]).

use crate::chart::{Chart, Series};
use crate::error::Error;
use crate::model::figure::{ModelClaim, ss98_m};
use crate::papers::claim::Claim;
use crate::papers::curve::{Curve, Point};
use crate::papers::lab::Lab;
use crate::papers::{Figure, Findings, Panel};

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "SS98-M",
    title: "the steady-state model",
    paper: "SS98 section 3",
    shows: "The Markov chain, the differential equations and the closed form against each other.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let (charts, claims) = ss98_m(lab.smoke, lab.seed);
    Ok(Findings {
        setup: format!("no machine: the model, seed {}", lab.seed),
        panels: charts.into_iter().map(panel).collect(),
        claims: claims.into_iter().map(|one| claim(lab, one)).collect(),
    })
}

fn panel(chart: Chart) -> Panel {
    let curve = |series: Series| Curve {
        name: series.name,
        points: series.points.into_iter().map(|(x, y)| Point::exact(x, y)).collect(),
        look: series.look,
    };
    Panel {
        title: chart.title,
        x: chart.x,
        y: chart.y,
        series: chart.series.into_iter().map(curve).collect(),
        marks: chart.marks,
    }
}

fn claim(lab: &Lab, ModelClaim { text, expected, measured, holds }: ModelClaim) -> Claim {
    Claim::new(text, expected).judged(measured, holds.and_then(|holds| lab.judge(holds)))
}
