//! The step property of balancers, trees and networks.

use super::Violation;

/// Checks that the tokens that left on outputs 0, 1, 2, ... form a step: when no token is inside,
/// no output has fewer tokens than a later one, nor more than one more.
///
/// ```
/// use throng_check::spec::check_step;
/// assert!(check_step(4, [0, 1, 2, 3, 0]).is_ok());
/// assert!(check_step(2, [0, 0]).is_err());
/// ```
///
/// # Errors
/// [`Violation::NoStep`].
///
/// # Panics
/// If an exit is not below `width`.
pub fn check_step(width: usize, exits: impl IntoIterator<Item = usize>) -> Result<(), Violation> {
    let mut left = vec![0_u64; width];
    for exit in exits {
        left[exit] += 1;
    }
    let is_step = left.is_sorted_by(|a, b| a >= b)
        && left.first().zip(left.last()).is_none_or(|(most, least)| most - least <= 1);
    if is_step { Ok(()) } else { Err(Violation::NoStep { exits: left }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Tokens in turn form a step. Moving one token to another output breaks it, unless it was
        /// the last one and moved to the place of the next.
        #[test]
        fn a_stray_token_is_found(width in 2_usize..9, tokens in 1_usize..40, to in 0_usize..9) {
            let mut exits: Vec<usize> = (0..tokens).map(|i| i % width).collect();
            prop_assert!(check_step(width, exits.iter().copied()).is_ok());
            let last = exits.pop().unwrap();
            let to = to % width;
            exits.push(to);
            prop_assert_eq!(check_step(width, exits).is_ok(), to == last);
        }
    }
}
