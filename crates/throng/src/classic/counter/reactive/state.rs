//! The state of a node, in one word.
//!
//! # State words
//!
//! | bits | what |
//! |---|---|
//! | 0..2 | the role, see below |
//! | 2..33 | the version: the number of the unfolding of the parent that switched this node on; 0 at the root |
//! | 33..64 | the setting: the number of times that this node was unfolded, which is the version of its children |
//!
//! | role | paper | hands out | its children are | becomes |
//! |---|---|---|---|---|
//! | off | Off | nothing | off or draining | counting, when its parent unfolds |
//! | counting | Counter | its next numbers, without end | off or draining | balancing, when it unfolds; off or draining, when its parent folds |
//! | draining | Counter_Limit | the numbers left below its limit | off or draining | off, when no number is left |
//! | balancing | Balancer | nothing, it sends tokens to its children | counting or balancing | counting, when it folds |
//!
//! A node is written by the holder of its lock, and read by all. A token that expects version v may
//! use the node only while it is on and its version is v.

use crate::classic::counter::diffracting::{LAST_SETTING, Setting};

/// The number of bits of the role.
const ROLE_BITS: u32 = 2;
/// The number of bits of the version.
const VERSION_BITS: u32 = 31;

/// The role of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Off = 0,
    Counting = 1,
    Draining = 2,
    Balancing = 3,
}

/// The state of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) role: Role,
    /// The number of the unfolding of the parent that switched this node on.
    pub(super) version: Setting,
    /// The number of times that this node was unfolded: the version that its children have.
    pub(super) setting: Setting,
}

impl State {
    /// Returns the state of a node in a new tree.
    pub(super) const fn first(role: Role) -> Self {
        State { role, version: 0, setting: 0 }
    }

    pub(super) const fn pack(self) -> u64 {
        let State { role, version, setting } = self;
        role as u64 | version << ROLE_BITS | setting << (ROLE_BITS + VERSION_BITS)
    }

    #[inline]
    pub(super) const fn unpack(word: u64) -> Self {
        let role = match word & 3 {
            0 => Role::Off,
            1 => Role::Counting,
            2 => Role::Draining,
            _ => Role::Balancing,
        };
        State {
            role,
            version: word >> ROLE_BITS & LAST_SETTING,
            setting: word >> (ROLE_BITS + VERSION_BITS),
        }
    }

    /// Returns whether a token that expects `version` may use the node.
    #[inline]
    pub(super) fn is_open_to(self, version: Setting) -> bool {
        self.role != Role::Off && self.version == version
    }

    pub(super) const fn with_role(self, role: Role) -> Self {
        State { role, ..self }
    }

    /// Returns the state of a balancer whose toggle has been set anew.
    pub(super) const fn unfolded(self) -> Self {
        State { role: Role::Balancing, setting: (self.setting + 1) & LAST_SETTING, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_can_be_unpacked() {
        for role in [Role::Off, Role::Counting, Role::Draining, Role::Balancing] {
            for (version, setting) in [(0, 0), (1, 2), (LAST_SETTING, 7), (7, LAST_SETTING)] {
                let state = State { role, version, setting };
                assert_eq!(State::unpack(state.pack()), state);
            }
        }
    }

    #[test]
    fn only_tokens_of_the_foretold_version_are_let_in() {
        let state = State { role: Role::Counting, version: 5, setting: 0 };
        assert!(state.is_open_to(5) && !state.is_open_to(4));
        assert!(!state.with_role(Role::Off).is_open_to(5));
        let last = State { setting: LAST_SETTING, ..state };
        assert_eq!(last.unfolded(), State { role: Role::Balancing, version: 5, setting: 0 });
    }
}
