//! Which rank plays which role.

use throng_messages::{Address, Plan};

/// The rank of each role, by its number: the busiest role first, each to the rank that has the least
/// to do so far. The same on every rank, since it depends on nothing else.
pub(crate) fn place(plan: &Plan, clients: u32, ranks: u32) -> Vec<u32> {
    let mut busy = vec![0.0_f64; plan.len()];
    for traffic in plan.traffic(clients) {
        for address in [traffic.from, traffic.to] {
            if let Address::Role(number) = address {
                busy[number as usize] += traffic.messages;
            }
        }
    }
    let mut order: Vec<usize> = (0..plan.len()).collect();
    order.sort_by(|&a, &b| busy[b].total_cmp(&busy[a]).then(a.cmp(&b)));
    let mut load = vec![0.0_f64; ranks as usize];
    let mut rank_of = vec![0; plan.len()];
    for role in order {
        let least = (0..ranks as usize)
            .min_by(|&a, &b| load[a].total_cmp(&load[b]).then(a.cmp(&b)))
            .expect("a communicator has ranks");
        load[least] += busy[role];
        rank_of[role] = least as u32;
    }
    rank_of
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn one_role_is_on_the_first_rank() {
        assert_eq!(place(&Plan::central(), 4, 4), [0]);
    }
}
