//! GV93 Table 2: what the paper computes for each barrier, counted.
//!
//! Counts the accesses of one round, with fixed fan-ins and numbers of processors that are powers of
//! them, for which the formulas are exact. Like the table, it leaves out the words that tell that the
//! round is over, and clearing flags for the next one.
//!
//! | row | counted as |
//! |---|---|
//! | critical path | the longest chain of words, without the last, which releases all |
//! | network transactions | writes of words in the memory of other processors |
//! | the same, COMA | misses on the KSR-1 |
//! | writers | the largest number of processors that write one line: the paper's packed word |
//! | space | lines |

use super::*;
use crate::workloads::barrier::{BarrierMeasured, FanInChoice};
use throng::structures::barrier::{Flags, Reinit};

/// Fan-ins, and numbers of processors that are powers of them.
const SIZES: [(usize, &[usize]); 3] = [(2, &[16, 64, 256]), (4, &[16, 64, 256]), (8, &[64])];
const SIZES_SMOKE: [(usize, &[usize]); 1] = [(2, &[8])];
/// The fan-in that is drawn.
const DRAWN: usize = 4;
/// Largest relative difference that is only rounding.
const EXACT: f64 = 1e-9;
/// Largest factor between an estimate that is right and the count.
const FACTOR: f64 = 1.5;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "GV93-T2",
    title: "what a round takes, counted against the formulas",
    paper: "GV93 Table 2",
    shows: "The counts agree with the paper's formulas, except where several processors arrive at once.",
    find,
};

/// A formula of the table, of the number of processors and the fan-in.
type Formula = fn(f64, f64) -> f64;

/// A column of the table.
struct Column {
    contender: Contender,
    critical_path: Formula,
    transactions: Formula,
    transactions_coma: Formula,
    writers: Formula,
    space: Formula,
}

/// Returns the number of levels of a tree of `p` leaves; both numbers are powers.
fn levels(p: f64, f: f64) -> f64 {
    (p.ln() / f.ln()).round()
}

/// Returns the number of nodes of a tree of `p` leaves.
fn nodes(p: f64, f: f64) -> f64 {
    ((p - 1.0) / (f - 1.0)).ceil()
}

const COLUMNS: [Column; 7] = [
    Column {
        contender: CENTRAL,
        critical_path: |_, _| 1.0,
        transactions: |p, _| p - 1.0,
        transactions_coma: |p, _| p - 1.0,
        writers: |p, _| p,
        space: |_, _| 1.0,
    },
    Column {
        contender: COMBINING,
        critical_path: levels,
        transactions: |p, f| nodes(p, f) * f,
        transactions_coma: |p, f| nodes(p, f) * f,
        writers: |_, f| f,
        space: |p, _| p,
    },
    Column {
        contender: DISSEMINATION,
        critical_path: |p, _| levels(p, 2.0),
        transactions: |p, _| p * levels(p, 2.0),
        transactions_coma: |p, _| 2.0 * p * levels(p, 2.0),
        writers: |_, _| 1.0,
        space: |p, _| p * levels(p, 2.0),
    },
    Column {
        contender: TOURNAMENT,
        critical_path: |p, _| levels(p, 2.0),
        transactions: |p, _| p - 1.0,
        transactions_coma: |p, _| 2.0 * (p - 1.0),
        writers: |_, _| 1.0,
        space: |p, _| p / 2.0 * levels(p, 2.0),
    },
    Column {
        contender: MCS,
        critical_path: levels,
        transactions: |p, _| p - 1.0,
        transactions_coma: |p, f| ((p - 1.0) / f).ceil() * (3.0 * f + 1.0) / 2.0,
        writers: |_, f| f,
        space: |p, _| p,
    },
    Column {
        contender: STATIC,
        critical_path: levels,
        transactions: |p, _| p - 1.0,
        transactions_coma: |p, f| nodes(p, f) * (3.0 * f - 2.0) / 2.0,
        writers: |_, f| f - 1.0,
        space: |p, f| p / f * levels(p, f),
    },
    Column {
        contender: DYNAMIC,
        critical_path: levels,
        transactions: |p, f| nodes(p, f) * f,
        transactions_coma: |p, f| nodes(p, f) * f,
        writers: |_, f| f,
        space: |p, f| p / f * levels(p, f),
    },
];

impl Column {
    /// Returns the barrier of this column of the table, with this fan-in.
    fn contender(&self, fan_in: usize) -> Contender {
        let mut contender = self.contender;
        contender.tuning.fan_in = Some(FanInChoice::Fixed(fan_in));
        // The paper packs the flags of a node. The flags of dissemination have a word each.
        if contender.method == DISSEMINATION.method {
            contender.tuning.flags = Some(Flags::Padded);
        }
        contender.tuning.reinit = Some(Reinit::Count);
        contender
    }

    /// Returns the number of links of the chain that the table does not count: the word that
    /// releases all.
    fn wake_up(&self) -> f64 {
        if self.contender.method == DISSEMINATION.method { 0.0 } else { 1.0 }
    }
}

/// The counts of one barrier, by fan-in and processors.
struct Counted {
    column: &'static Column,
    /// (f, P, measured in step, measured with work)
    cells: Vec<Cell>,
}

struct Cell {
    fan_in: f64,
    processors: f64,
    in_step: std::rc::Rc<BarrierMeasured>,
    apart: std::rc::Rc<BarrierMeasured>,
}

fn find(lab: &Lab) -> Result<Findings, Error> {
    let setting = Setting::on(lab.preset("ksr1"));
    let counted = count(lab, &setting)?;
    let panels = panels(&counted);
    Ok(Findings { setup: setting.in_words(lab), panels, claims: claims(lab, &counted) })
}

fn count(lab: &Lab, setting: &Setting) -> Result<Vec<Counted>, Error> {
    let sizes = lab.pick(&SIZES[..], &SIZES_SMOKE[..]);
    let apart = Setting { work: WORK, ..setting.clone() };
    static ALL: [Column; 7] = COLUMNS;
    let mut counted = Vec::new();
    for column in &ALL {
        let mut cells = Vec::new();
        for &(fan_in, processors) in sizes {
            let barrier = column.contender(fan_in).barrier();
            let runs = processors.iter().flat_map(|&p| {
                [setting, &apart].map(|setting| setting.run(lab, barrier.clone(), p))
            });
            let measured = lab.measure(FIGURE.id, &runs.collect::<Vec<_>>())?;
            for (&p, pair) in processors.iter().zip(measured.chunks(2)) {
                cells.push(Cell {
                    fan_in: fan_in as f64,
                    processors: p as f64,
                    in_step: pair[0].clone(),
                    apart: pair[1].clone(),
                });
            }
        }
        counted.push(Counted { column, cells });
    }
    Ok(counted)
}

/// Counted and computed values of one row of the table.
struct Compared {
    name: &'static str,
    /// The smallest and the largest ratio of counted to computed.
    least: f64,
    most: f64,
}

fn compare(
    counted: &[Counted],
    formula: fn(&Column) -> Formula,
    number: impl Fn(&Column, &Cell) -> f64,
) -> Vec<Compared> {
    let one = |counted: &Counted| {
        let ratios = counted.cells.iter().map(|cell| {
            number(counted.column, cell) / formula(counted.column)(cell.processors, cell.fan_in)
        });
        let (least, most) = ratios.fold((f64::INFINITY, 0.0_f64), |(least, most), ratio| {
            (least.min(ratio), most.max(ratio))
        });
        Compared { name: counted.column.contender.label, least, most }
    };
    counted.iter().map(one).collect()
}

impl Compared {
    fn in_words(&self) -> String {
        let Compared { name, least, most } = self;
        if most - least < 0.005 {
            format!("{name} {least:.2}")
        } else {
            format!("{name} {least:.2} to {most:.2}")
        }
    }
}

/// Judges a row. Names the cells outside the bounds as the reason.
fn row_claim(lab: &Lab, claim: Claim, compared: &[Compared], least: f64, most: f64) -> Claim {
    let words: Vec<String> = compared.iter().map(Compared::in_words).collect();
    let holds = compared.iter().all(|one| one.least >= least && one.most <= most);
    let off: Vec<&str> = compared
        .iter()
        .filter(|one| one.least < least || one.most > most)
        .map(|one| one.name)
        .collect();
    claim
        .judged(format!("counted / computed: {}", words.join(", ")), lab.judge(holds))
        .because(format!("off: {}", off.join(", ")))
}

/// Appends a reason to that of the cells outside the bounds.
fn add_reason(claim: Claim, reason: &str) -> Claim {
    let note = claim.note.as_ref().map(|off| format!("{off}. {reason}"));
    Claim { note, ..claim }
}

fn claims(lab: &Lab, counted: &[Counted]) -> Vec<Claim> {
    let path =
        |column: &Column, cell: &Cell| cell.in_step.round.critical_path as f64 - column.wake_up();
    let exactly = "counted / computed = 1 for all, at f = 2, 4, 8 and P = 16, 64, 256";
    let factor = format!("counted / computed within a factor of {FACTOR} for all");
    let compared = compare(counted, |column| column.critical_path, path);
    let critical =
        row_claim(lab, Claim::new("critical path", exactly), &compared, 1.0 - EXACT, 1.0 + EXACT);
    let compared = compare(
        counted,
        |column| column.transactions,
        |_, cell| cell.apart.round.writes_elsewhere as f64,
    );
    let transactions = row_claim(
        lab,
        Claim::new("network transactions, where everybody waits at home", &factor),
        &compared,
        1.0 / FACTOR,
        FACTOR,
    );
    let coma = |text: &str, cell: fn(&Cell) -> &BarrierMeasured| {
        let compared = compare(
            counted,
            |column| column.transactions_coma,
            |_, at| cell(at).arrival_misses_a_round,
        );
        let claim = Claim::new(text, &factor);
        row_claim(lab, claim, &compared, 1.0 / FACTOR, FACTOR)
    };
    let compared =
        compare(counted, |column| column.writers, |_, cell| cell.apart.round.writers_a_line as f64);
    let writers = row_claim(
        lab,
        Claim::new("writers of a word, of packed flags a line", exactly),
        &compared,
        1.0 - EXACT,
        1.0 + EXACT,
    );
    let compared =
        compare(counted, |column| column.space, |_, cell| cell.in_step.round.lines as f64);
    let space = row_claim(
        lab,
        Claim::new("space: lines", "never more than computed"),
        &compared,
        0.0,
        1.0 + EXACT,
    );
    vec![
        critical,
        transactions,
        add_reason(coma("network transactions, COMA", |cell| &cell.in_step), TOGETHER),
        add_reason(
            coma("(ours, with work between rounds) network transactions, COMA", |cell| &cell.apart),
            TOGETHER,
        ),
        add_reason(writers, TOGETHER),
        space,
    ]
}

const TOGETHER: &str = "Who comes to a node of the dynamic tree at the same time as others finds them \
    all there, as they find him, and several write the flag above";

fn panels(counted: &[Counted]) -> Vec<Panel> {
    let fan_in = |cell: &&Cell| cell.fan_in == DRAWN as f64 || cell.fan_in == 2.0;
    let drawn = |counted: &Counted| {
        // The largest of the two fan-ins that there is.
        let of: Vec<f64> = counted.cells.iter().filter(fan_in).map(|cell| cell.fan_in).collect();
        of.into_iter().fold(0.0, f64::max)
    };
    type Number = fn(&Cell) -> f64;
    let panel = |title: &str, number: Number, formula: fn(&Column) -> Formula| {
        let mut series = Vec::new();
        for one in counted {
            let f = drawn(one);
            let cells: Vec<&Cell> = one.cells.iter().filter(|cell| cell.fan_in == f).collect();
            let name = one.column.contender.label;
            let point =
                |cell: &&Cell| crate::figures::curve::Point::exact(cell.processors, number(cell));
            series.push(Curve::measured(name, cells.iter().map(point).collect()));
            let xs: Vec<f64> = cells.iter().map(|cell| cell.processors).collect();
            let formula = formula(one.column);
            series.push(Curve::formula(format!("{name}, computed"), &xs, |p| formula(p, f)));
        }
        let y = Axis::new("in a round", Scale::Log10);
        Panel::new(processors_axis(), y, series).titled(title)
    };
    vec![
        panel(
            "network transactions, COMA, in step (fan-in 4)",
            |cell| cell.in_step.arrival_misses_a_round,
            |column| column.transactions_coma,
        ),
        panel(
            "the same with work between rounds",
            |cell| cell.apart.arrival_misses_a_round,
            |column| column.transactions_coma,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formulas_are_those_of_the_table() {
        let [_, combining, dissemination, _, mcs, fway, dynamic] = &COLUMNS;
        assert_eq!((combining.transactions)(64.0, 4.0), 84.0);
        assert_eq!((dissemination.transactions_coma)(256.0, 4.0), 4096.0);
        assert_eq!((mcs.transactions_coma)(65.0, 4.0), 104.0);
        assert_eq!((fway.transactions_coma)(64.0, 4.0), 105.0);
        assert_eq!((fway.space)(64.0, 4.0), 48.0);
        assert_eq!((dynamic.critical_path)(64.0, 8.0), 2.0);
    }

    #[test]
    fn what_is_off_is_named() {
        let lab = Lab::new(false, 1, 1);
        let compared = [
            Compared { name: "a", least: 1.0, most: 1.0 },
            Compared { name: "b", least: 0.5, most: 1.0 },
        ];
        let judged = |least| row_claim(&lab, Claim::new("", ""), &compared, least, 1.0);
        assert_eq!(judged(0.5).holds, Some(true));
        let off = judged(0.9);
        assert_eq!((off.holds, off.note.as_deref()), (Some(false), Some("off: b")));
        assert_eq!(off.measured, "counted / computed: a 1.00, b 0.50 to 1.00");
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!((findings.panels.len(), findings.claims.len()), (2, 6));
    }
}
