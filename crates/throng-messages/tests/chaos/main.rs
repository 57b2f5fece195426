//! The structures under the worst host that is allowed, and broken structures that it must expose.

mod barriers;
mod broken;
mod counters;
mod deaths;
mod host;
