//! The sections of a TOML file whose fields depend on their kind. They are checked here, field by
//! field, before they are read. So an error names the field, its line and what is allowed.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use self::Holds::{Flag, Number, NumberOrNothing};
use super::SpecError;
use super::check::{CYCLES_MAX, PROCESSORS_MAX};

/// The content of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// A whole number; the field must be there.
    Number,
    /// A whole number; the field may be left out.
    NumberOrNothing,
    /// True or false; the field may be left out.
    Flag,
}

/// A kind of a section: its name and its fields.
type Kind = (&'static str, &'static [(&'static str, Holds)]);

const NETWORKS: [Kind; 7] = [
    ("uniform", &[("message_cycles", Number)]),
    ("mesh", &[("message_cycles", Number), ("hop_cycles", Number)]),
    ("bus", &[("arbitration_cycles", NumberOrNothing)]),
    (
        "rings",
        &[
            ("ring_nodes", Number),
            ("near_cycles", Number),
            ("far_cycles", Number),
            ("slot_cycles", NumberOrNothing),
        ],
    ),
    ("butterfly", &[("radix", Number), ("message_cycles", Number), ("stage_cycles", Number)]),
    ("hypercube", &[("router_nodes", Number), ("message_cycles", Number), ("hop_cycles", Number)]),
    (
        "chiplets",
        &[
            ("chiplet_nodes", Number),
            ("socket_chiplets", Number),
            ("chiplet_cycles", Number),
            ("socket_cycles", Number),
            ("far_cycles", Number),
            ("port_cycles", NumberOrNothing),
        ],
    ),
];

const COHERENCES: [Kind; 5] = [
    ("ideal", &[("access_cycles", Number)]),
    (
        "directory",
        &[
            ("home_cycles", Number),
            ("holder_cycles", NumberOrNothing),
            ("invalidate_cycles", NumberOrNothing),
            ("forward", Flag),
            ("exclusive", Flag),
            ("pointers", NumberOrNothing),
            ("overflow_cycles", NumberOrNothing),
            ("fetch_op_cycles", NumberOrNothing),
        ],
    ),
    ("snoop", &[("fetch_cycles", Number), ("upgrade_cycles", Number)]),
    (
        "nearest",
        &[
            ("holder_cycles", NumberOrNothing),
            ("memory_cycles", Number),
            ("hold_accesses", NumberOrNothing),
        ],
    ),
    ("none", &[("memory_cycles", Number), ("rmw_cycles", Number)]),
];

/// Checks the fields of the network and of the coherence in a TOML text: their names, and whether
/// they hold numbers where they should. Other errors are found elsewhere.
pub(super) fn check_sections(text: &str) -> Result<(), SpecError> {
    let Ok(machine) = DeTable::parse(text) else { return Ok(()) };
    for (name, kinds) in [("network", &NETWORKS[..]), ("coherence", &COHERENCES[..])] {
        if let Some(value) = machine.get_ref().get(name)
            && let DeValue::Table(fields) = value.get_ref()
        {
            // A table without a head of its own may have an empty span.
            Section { text, name, fields, start: value.span().start }.check(kinds)?;
        }
    }
    Ok(())
}

/// Adds the line to an error about a field of this text. The error begins with the field's name.
pub(super) fn with_line(text: &str, error: SpecError) -> SpecError {
    let said = error.to_string();
    let name = said.split(" = ").next().unwrap_or_default();
    match span_start(text, name) {
        Some(at) => SpecError::new(format!("line {}: {said}", line(text, at))),
        None => error,
    }
}

/// Returns the start of the value of `field` or `section.field`.
fn span_start(text: &str, name: &str) -> Option<usize> {
    let machine = DeTable::parse(text).ok()?;
    let value = match name.split_once('.') {
        None => machine.get_ref().get(name)?,
        Some((section, field)) => {
            machine.get_ref().get(section)?.get_ref().as_table()?.get(field)?
        }
    };
    Some(value.span().start)
}

/// Returns the line of the text, from 1 on.
fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1
}

struct Section<'a> {
    text: &'a str,
    name: &'static str,
    fields: &'a DeTable<'a>,
    start: usize,
}

impl Section<'_> {
    fn check(&self, kinds: &[Kind]) -> Result<(), SpecError> {
        let known = listed(kinds.iter().map(|(kind, _)| format!("{kind:?}")));
        let Some(typed) = self.fields.get("kind") else {
            let what = format!("missing field `kind`: must be {known}");
            return Err(self.error(self.start, &what));
        };
        let kind = typed.get_ref().as_str();
        let Some((kind, fields)) = kinds.iter().find(|(name, _)| Some(*name) == kind) else {
            return Err(self.wrong("kind", typed, &known));
        };
        for (key, value) in self.fields {
            let name: &str = key.get_ref();
            if name == "kind" {
                continue;
            }
            let Some((_, holds)) = fields.iter().find(|(field, _)| *field == name) else {
                let fields = listed(fields.iter().map(|(field, _)| format!("`{field}`")));
                let what = format!("unknown field `{name}`: kind = {kind:?} has {fields}");
                return Err(self.error(key.span().start, &what));
            };
            self.check_value(name, value, *holds)?;
        }
        self.check_complete(kind, fields)
    }

    fn check_value(
        &self,
        name: &str,
        value: &Spanned<DeValue<'_>>,
        holds: Holds,
    ) -> Result<(), SpecError> {
        let (fits, allowed) = match holds {
            Flag => (value.get_ref().is_bool(), "true or false".to_owned()),
            Number | NumberOrNothing => (is_number(value.get_ref()), range(name)),
        };
        if fits { Ok(()) } else { Err(self.wrong(name, value, &allowed)) }
    }

    fn check_complete(&self, kind: &str, fields: &[(&str, Holds)]) -> Result<(), SpecError> {
        let mut missing = fields
            .iter()
            .filter(|(name, holds)| *holds == Number && !self.fields.contains_key(*name));
        if let Some((name, _)) = missing.next() {
            let what = format!("missing field `{name}`: kind = {kind:?} needs it");
            return Err(self.error(self.start, &what));
        }
        if let Some((pointers, _)) = self.fields.get_key_value("pointers")
            && !self.fields.contains_key("overflow_cycles")
        {
            let line = self.line(pointers.span().start);
            let what = format!("line {line}: {}.overflow_cycles: needed with pointers", self.name);
            return Err(SpecError::new(what));
        }
        Ok(())
    }

    /// Returns the error of a value that is not allowed, quoted as it was typed.
    fn wrong(&self, name: &str, value: &Spanned<DeValue<'_>>, allowed: &str) -> SpecError {
        let span = value.span();
        let line = self.line(span.start);
        let typed = self.text.get(span).unwrap_or_default();
        SpecError::new(format!("line {line}: {}.{name} = {typed}: must be {allowed}", self.name))
    }

    fn error(&self, at: usize, what: &str) -> SpecError {
        SpecError::new(format!("line {}: [{}]: {what}", self.line(at), self.name))
    }

    fn line(&self, at: usize) -> usize {
        line(self.text, at)
    }
}

/// Returns the range of a field: a time, or a number of parts.
fn range(name: &str) -> String {
    if name.ends_with("_cycles") {
        format!("a whole number from 0 to {CYCLES_MAX}")
    } else {
        format!("a whole number from 1 to {PROCESSORS_MAX}")
    }
}

/// Returns whether it is a number that fits; its range is checked later.
fn is_number(value: &DeValue<'_>) -> bool {
    value.as_integer().is_some_and(|number| {
        let digits = number.as_str().trim_start_matches('+');
        i64::from_str_radix(digits, number.radix()).is_ok_and(|number| number >= 0)
    })
}

/// "a", "a or b", "a, b or c".
fn listed(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    match items.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CoherenceSpec, NetworkSpec};
    use super::*;
    use std::collections::BTreeSet;

    /// Returns the fields that a part has when it is written.
    fn written(part: &impl serde::Serialize) -> BTreeSet<String> {
        let table = toml::Table::try_from(part).unwrap();
        table.into_iter().map(|(name, _)| name).filter(|name| name != "kind").collect()
    }

    /// Returns the section with all of these fields.
    fn section<'a>(kind: &str, fields: impl Iterator<Item = &'a (&'a str, Holds)>) -> String {
        let set = |(name, holds): &(&str, Holds)| match holds {
            Flag => format!("{name} = true\n"),
            Number | NumberOrNothing => format!("{name} = 2\n"),
        };
        format!("kind = {kind:?}\n{}", fields.map(set).collect::<String>())
    }

    fn listed(kinds: &[Kind], kind: &str) -> BTreeSet<String> {
        let (_, fields) = kinds.iter().find(|(name, _)| *name == kind).unwrap();
        fields.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    #[test]
    fn every_field_of_every_kind_is_known() {
        for (kind, fields) in NETWORKS {
            let network: NetworkSpec = toml::from_str(&section(kind, fields.iter())).unwrap();
            assert_eq!(written(&network), listed(&NETWORKS, network.kind()));
        }
        for (kind, fields) in COHERENCES {
            let part: CoherenceSpec = toml::from_str(&section(kind, fields.iter())).unwrap();
            assert_eq!(written(&part), listed(&COHERENCES, part.kind()));
        }
    }

    #[test]
    fn a_field_must_be_there_where_the_machine_cannot_be_read_without_it() {
        for (kinds, of_network) in [(&NETWORKS[..], true), (&COHERENCES[..], false)] {
            for (kind, fields) in kinds {
                for (left_out, holds) in *fields {
                    let others = fields.iter().filter(|(name, _)| name != left_out);
                    let text = section(kind, others);
                    let fails = if of_network {
                        toml::from_str::<NetworkSpec>(&text).is_err()
                    } else {
                        toml::from_str::<CoherenceSpec>(&text).is_err()
                    };
                    assert_eq!(fails, *holds == Number, "{kind} without {left_out}");
                }
            }
        }
    }
}
