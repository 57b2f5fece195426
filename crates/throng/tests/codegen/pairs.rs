//! Pairs of functions: one written against the machine contract, one with plain atomics. The test
//! `codegen` compiles them and compares the instructions.

#![crate_type = "lib"]

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

use throng::structures::counter::Hardware;
use throng::structures::counter::diffracting::{Balancer, Side, Toggle, Token};
use throng::machine::{Line, Machine, Native, Word};

/// The same written by hand.
#[repr(align(128))]
pub struct Padded(AtomicU64);

#[unsafe(no_mangle)]
pub fn throng_fetch_add(counter: &Hardware) -> u64 {
    counter.next()
}

#[unsafe(no_mangle)]
pub fn plain_fetch_add(counter: &Padded) -> u64 {
    counter.0.fetch_add(1, AcqRel)
}

#[unsafe(no_mangle)]
pub fn throng_toggle(balancer: &Toggle, token: &Token<'_, Native>) -> Side {
    balancer.traverse(token)
}

#[unsafe(no_mangle)]
pub fn plain_toggle(toggle: &Padded) -> Side {
    if toggle.0.fetch_add(1, AcqRel) & 1 == 0 { Side::Left } else { Side::Right }
}

/// A prism slot, as the balancers use it: write the id, withdraw, diffract the token found.
fn prism_slot<M: Machine>(
    slot: &Line<M::Word>,
    own: &Line<M::Word>,
    other: &Line<M::Word>,
    me: u64,
    node: u64,
) -> bool {
    slot.swap(me, AcqRel) != 0
        && own.compare_exchange(node, 0, AcqRel, Acquire).is_ok()
        && other.compare_exchange(node, 0, AcqRel, Acquire).is_ok()
}

type NativeLine = Line<<Native as Machine>::Word>;

#[unsafe(no_mangle)]
pub fn throng_prism_slot(
    slot: &NativeLine,
    own: &NativeLine,
    other: &NativeLine,
    me: u64,
    node: u64,
) -> bool {
    prism_slot::<Native>(slot, own, other, me, node)
}

#[unsafe(no_mangle)]
pub fn plain_prism_slot(slot: &Padded, own: &Padded, other: &Padded, me: u64, node: u64) -> bool {
    slot.0.swap(me, AcqRel) != 0
        && own.0.compare_exchange(node, 0, AcqRel, Acquire).is_ok()
        && other.0.compare_exchange(node, 0, AcqRel, Acquire).is_ok()
}

/// Not a pair: one instruction more than its plain namesake, to see that the comparison can tell.
#[unsafe(no_mangle)]
pub fn throng_different(counter: &Hardware) -> u64 {
    counter.next() ^ 1
}

#[unsafe(no_mangle)]
pub fn plain_different(counter: &Padded) -> u64 {
    counter.0.fetch_add(1, AcqRel)
}

/// The default counter.
#[unsafe(no_mangle)]
pub fn throng_default(counter: &throng::Counter) -> u64 {
    counter.next()
}
