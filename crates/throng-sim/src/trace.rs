//! Every access to shared memory, in order.

/// One access, as it took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The time when it took effect, in cycles.
    pub time: u64,
    /// The processor that made it.
    pub processor: usize,
    /// The word or cell, numbered in the order of creation.
    pub word: u32,
    /// The operation.
    pub operation: Operation,
    /// The value found; 0 for a cell.
    pub found: u64,
    /// The value written, if any.
    pub written: Option<u64>,
}

/// The operation of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Reads a word; also each look of a wait.
    Load,
    /// Writes a word.
    Store,
    /// Writes a word and reads the value before.
    Swap,
    /// Writes a word if it has the expected value.
    CompareExchange,
    /// Adds.
    FetchAdd,
    /// Subtracts.
    FetchSub,
    /// Sets bits.
    FetchOr,
    /// Clears bits.
    FetchAnd,
    /// Uses the content of a cell.
    Cell,
}

/// The accesses so far: their hash, and the accesses themselves if wanted.
#[derive(Debug)]
pub(crate) struct Trace {
    hash: u64,
    /// Each access, and the time when it was issued.
    recorded: Option<Vec<(Access, u64)>>,
}

/// All accesses in the order of time, and the time when each was issued.
pub(crate) type Recorded = (Vec<Access>, Vec<u64>);

impl Trace {
    pub(crate) fn new(record: bool) -> Self {
        Trace { hash: 0, recorded: record.then(Vec::new) }
    }

    #[inline]
    pub(crate) fn add(&mut self, access: Access, issued_at: u64) {
        self.hash = hash(self.hash, &access);
        if let Some(recorded) = &mut self.recorded {
            recorded.push((access, issued_at));
        }
    }

    /// Returns the hash, and the recorded accesses in the order of time.
    pub(crate) fn into_parts(mut self) -> (u64, Option<Recorded>) {
        // A processor that hits may be simulated a few cycles ahead of the others.
        if let Some(recorded) = &mut self.recorded {
            recorded.sort_by_key(|(access, _)| access.time);
        }
        (self.hash, self.recorded.map(|recorded| recorded.into_iter().unzip()))
    }
}

/// Returns the hash of a trace that ends with `access`, from the hash of all before it. It is the
/// same on every machine. It is two long multiplications that do not wait for each other, then a
/// third. This runs for every access, and must not dominate the time of the simulator.
#[inline]
fn hash(before: u64, access: &Access) -> u64 {
    let who_what = (u64::from(access.word) << 32)
        | (access.processor as u64) << 8
        | (access.operation as u64) << 1
        | u64::from(access.written.is_some());
    let place = fold(access.time ^ 0xA076_1D64_78BD_642F, who_what ^ 0xE703_7ED1_A0B4_28DB);
    let values = fold(
        access.found ^ 0x8EBC_6AF0_9C88_C6E3,
        access.written.unwrap_or(0) ^ 0x5899_65CC_7537_4CC3,
    );
    fold(before ^ place ^ 0x1D8E_4E27_C47D_124F, values ^ 0xEB44_ACCA_B455_D165)
}

/// Combines both halves of the long product.
#[inline]
const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_an_access_and_the_order_change_the_hash() {
        let access = Access {
            time: 10,
            processor: 3,
            word: 5,
            operation: Operation::Swap,
            found: 7,
            written: Some(0),
        };
        #[rustfmt::skip]
        let others = [
            Access { time: 11, ..access },
            Access { processor: 2, ..access },
            Access { word: 4, ..access },
            Access { operation: Operation::Store, ..access },
            Access { found: 8, ..access },
            Access { written: Some(1), ..access },
            Access { written: None, ..access },
        ];
        let of = |accesses: &[Access]| {
            let mut trace = Trace::new(false);
            accesses.iter().for_each(|&a| trace.add(a, 0));
            trace.into_parts().0
        };
        for other in others {
            assert_ne!(of(&[access]), of(&[other]), "{other:?}");
            let (there, back) = ([access, other, access], [other, access, access]);
            assert_ne!(of(&there), of(&back), "{other:?}");
        }
        assert_eq!(of(&[access, others[0]]), of(&[access, others[0]]));
    }
}
