//! The rank of each role.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use throng_messages::Plan;

/// Returns the rank of each role, by its number: the busiest role first, each to the rank that has
/// the least load so far. The result is the same on every rank, since it depends on nothing else.
pub(crate) fn place(plan: &Plan, clients: u32, ranks: u32) -> Vec<u32> {
    let busy = plan.loads(clients);
    let mut order: Vec<usize> = (0..plan.len()).collect();
    order.sort_by(|&a, &b| busy[b].total_cmp(&busy[a]).then(a.cmp(&b)));
    // The rank with the least load first, of those the lowest. Loads are not negative, so their
    // bits are in the same order.
    let mut load: BinaryHeap<_> = (0..ranks).map(|rank| Reverse((0_f64.to_bits(), rank))).collect();
    let mut rank_of = vec![0; plan.len()];
    for role in order {
        let mut least = load.peek_mut().expect("a communicator has ranks");
        let Reverse((bits, rank)) = *least;
        rank_of[role] = rank;
        *least = Reverse(((f64::from_bits(bits) + busy[role]).to_bits(), rank));
    }
    rank_of
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_messages::{Delay, DiffractingShape};

    #[test]
    fn many_roles_are_spread_evenly() {
        let plan = Plan::counting_network(16).expect("a power of two");
        for ranks in [2, 3, 5, 8] {
            let mut roles = vec![0; ranks as usize];
            place(&plan, 100, ranks).into_iter().for_each(|rank| roles[rank as usize] += 1);
            let (most, least) = (roles.iter().max(), roles.iter().min());
            assert!(most <= least.map(|least| least * 2).as_ref(), "{ranks} ranks: {roles:?}");
        }
    }

    #[test]
    fn no_rank_has_more_to_do_than_another_by_more_than_one_role() {
        let shape = DiffractingShape::new(16, Delay::fixed(10));
        for plan in [Plan::counting_network(8), Plan::diffracting_tree(&shape)] {
            let plan = plan.expect("a power of two");
            for ranks in [1, 2, 7, 64, 1000] {
                let busy = plan.loads(64);
                let mut load = vec![0.0_f64; ranks as usize];
                for (role, rank) in place(&plan, 64, ranks).into_iter().enumerate() {
                    load[rank as usize] += busy[role];
                }
                let most = load.iter().copied().fold(0.0, f64::max);
                let least = load.iter().copied().fold(f64::INFINITY, f64::min);
                let largest = busy.iter().copied().fold(0.0, f64::max);
                assert!(most - least <= largest * 1.000_001, "{ranks} ranks: {load:?}");
            }
        }
    }

    #[test]
    fn one_role_is_on_the_first_rank() {
        assert_eq!(place(&Plan::central(), 4, 4), [0]);
    }
}
