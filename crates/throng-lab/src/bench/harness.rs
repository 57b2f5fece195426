//! What all benchmarks have in common: the order of their runs, and the record of every single number.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use throng_papers::output;

use super::setup::Setup;
use crate::error::Error;

/// Measures all places in turn, `repetitions` times over. So a disturbance from outside hits all of them alike, and none
/// in every repetition. `measure` gets the number of the repetition, from 0, and may have nothing to add.
pub(super) fn in_turn<P, S>(
    repetitions: usize,
    places: &[P],
    name: impl Fn(&P) -> String,
    mut measure: impl FnMut(&P, usize) -> Result<Option<S>, Error>,
) -> Result<Vec<S>, Error> {
    // The bar moves between runs only, so that drawing it disturbs no measurement.
    let progress = output::progress_bar(places.len() * repetitions);
    let mut samples = Vec::with_capacity(places.len() * repetitions);
    for repetition in 0..repetitions {
        for place in places {
            progress.set_message(name(place));
            samples.extend(measure(place, repetition)?);
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    Ok(samples)
}

/// The JSON output, in the order of the fields.
pub(super) struct Record<'a, C, S> {
    pub(super) benchmark: &'static str,
    pub(super) setup: &'a Setup,
    /// What was asked for: fields with their names.
    pub(super) asked: Vec<(&'static str, Value)>,
    /// The numbers of the tables.
    pub(super) summary: C,
    /// Every single run.
    pub(super) runs: &'a [S],
}

impl<C: Serialize, S: Serialize> Serialize for Record<'_, C, S> {
    fn serialize<W: Serializer>(&self, writer: W) -> Result<W::Ok, W::Error> {
        let mut map = writer.serialize_map(None)?;
        map.serialize_entry("throng", env!("CARGO_PKG_VERSION"))?;
        map.serialize_entry("benchmark", self.benchmark)?;
        map.serialize_entry("setup", self.setup)?;
        for (name, value) in &self.asked {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("summary", &self.summary)?;
        map.serialize_entry("runs", self.runs)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bench::setup::Pinning;

    #[test]
    fn each_place_is_measured_once_in_each_repetition() {
        let measure = |&place: &char, repetition| Ok((place != 'b').then_some((place, repetition)));
        let samples = in_turn(2, &['a', 'b', 'c'], char::to_string, measure).unwrap();
        assert_eq!(samples, [('a', 0), ('c', 0), ('a', 1), ('c', 1)]);
    }

    #[test]
    fn a_record_has_its_fields_in_order() {
        let record = Record {
            benchmark: "rounds",
            setup: &Setup::look(&Pinning::none()),
            asked: vec![("threads", json!([2])), ("repetitions", json!(1))],
            summary: [0.5],
            runs: &[3],
        };
        let text = serde_json::to_string(&record).unwrap();
        let order = ["throng", "benchmark", "setup", "threads", "repetitions", "summary", "runs"];
        let places = order.map(|name| text.find(&format!("\"{name}\":")).unwrap());
        assert!(places.is_sorted(), "{text}");
        assert!(
            text.ends_with("\"threads\":[2],\"repetitions\":1,\"summary\":[0.5],\"runs\":[3]}")
        );
    }
}
