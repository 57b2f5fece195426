//! Groups of cases, and the units they are measured in.

use serde::{Serialize, Serializer};

/// Cases that are alike and share a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// One thread.
    Single,
    /// Memory.
    Bytes,
    /// One producer and one consumer.
    Stream,
    /// Items that arrive at random times.
    Open,
    /// Every thread pushes and pops in turn.
    Pairs,
    /// Three stages in a row.
    Pipeline,
    /// Jobs that create jobs.
    Tree,
}

impl Group {
    /// All groups, in the order of their tables.
    pub const ALL: [Group; 7] = [
        Group::Single,
        Group::Bytes,
        Group::Stream,
        Group::Open,
        Group::Pairs,
        Group::Pipeline,
        Group::Tree,
    ];

    /// Returns the name, as typed on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Single => "single",
            Group::Bytes => "bytes",
            Group::Stream => "stream",
            Group::Open => "open",
            Group::Pairs => "pairs",
            Group::Pipeline => "pipeline",
            Group::Tree => "tree",
        }
    }

    /// Describes the group, for the line above its table.
    pub const fn in_words(self) -> &'static str {
        match self {
            Group::Single => {
                "one thread; burst-k: push k items, pop until empty; fill-k: push k items into room for \
                 k,\none more is refused, pop all; full-pop-push: pop one of a full queue and push one; \
                 create-*:\nbuild, push, pop, drop; backlog-nM: pop and push with n million items \
                 inside (100: only if asked for by name)"
            }
            Group::Bytes => {
                "bytes allocated, with the struct itself; empty and small: room for 16 items of 16 \
                 bytes,\nwith 0 and 16 items; large: 1 048 576 items of 8 bytes"
            }
            Group::Stream => "one producer and one consumer, items of 8, 64 and 256 bytes",
            Group::Open => {
                "open loop: Poisson arrivals, producers:consumers, arrivals a second in total; latency is \
                 from\nthe intended arrival to the pop; several consumers have 500 ns of work for each item"
            }
            Group::Pairs => {
                "every thread pushes one item and pops one; the latency of every call; pairs-k: about k ns \
                 of\nwork before each call; untimed: no work and no clock"
            }
            Group::Pipeline => "three stages and two queues; pipeline-k: k threads in each stage",
            Group::Tree => "each job creates two; tree-k: k ns of work in each job",
        }
    }

    /// Returns the unit of this group.
    pub const fn unit(self) -> Unit {
        match self {
            Group::Single => Unit::NsACycle,
            Group::Bytes => Unit::Bytes,
            _ => Unit::MillionASecond,
        }
    }

    /// Returns whether runs of this group measure latencies.
    pub const fn has_latency(self) -> bool {
        matches!(self, Group::Open | Group::Pairs)
    }
}

impl Serialize for Group {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The unit of a measured value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds of one cycle: less is better.
    NsACycle,
    /// Bytes: less is better.
    Bytes,
    /// Million items, pairs or jobs a second: more is better.
    MillionASecond,
}

impl Unit {
    /// Returns the head of a column.
    pub const fn head(self) -> &'static str {
        match self {
            Unit::NsACycle => "ns",
            Unit::Bytes => "bytes",
            Unit::MillionASecond => "M/s",
        }
    }

    /// Returns whether the smaller of two values is the better one.
    pub const fn less_is_better(self) -> bool {
        !matches!(self, Unit::MillionASecond)
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.head())
    }
}
