//! The structures of the papers and their competitors, one file each, generic over the machine.
//! They are public as [`structures`](crate::structures).

pub(crate) mod barrier;
pub(crate) mod counter;
pub(crate) mod pool;
