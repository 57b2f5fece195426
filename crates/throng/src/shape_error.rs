//! The error for a shape that cannot be built.

use std::error::Error;
use std::fmt;

/// The error for a shape that cannot be built. It names the value and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeError {
    what: &'static str,
    value: usize,
    allowed: String,
}

impl ShapeError {
    /// The greatest depth of a tree: 65 536 leaves.
    pub(crate) const MAX_DEPTH: u32 = 16;

    /// Returns the error "`what` `value`: must be `allowed`".
    #[must_use]
    pub fn new(what: &'static str, value: usize, allowed: impl Into<String>) -> Self {
        ShapeError { what, value, allowed: allowed.into() }
    }

    /// Returns `value` if it is within `allowed`.
    ///
    /// # Errors
    /// If it is not.
    pub fn check_range(
        what: &'static str,
        value: usize,
        allowed: std::ops::RangeInclusive<usize>,
    ) -> Result<usize, Self> {
        if allowed.contains(&value) {
            Ok(value)
        } else {
            let text = format!("from {} to {}", allowed.start(), allowed.end());
            Err(ShapeError::new(what, value, text))
        }
    }

    /// Checks that `width` is a power of two up to 2^16, and returns its base-2 logarithm.
    pub(crate) fn check_width(width: usize) -> Result<u32, Self> {
        if width.is_power_of_two() && width <= 1 << Self::MAX_DEPTH {
            Ok(width.trailing_zeros())
        } else {
            let text = format!("a power of two from 1 to {}", 1 << Self::MAX_DEPTH);
            Err(ShapeError::new("width", width, text))
        }
    }
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: must be {}", self.what, self.value, self.allowed)
    }
}

impl Error for ShapeError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_value_and_what_is_allowed() {
        assert_eq!(
            ShapeError::check_width(6).unwrap_err().to_string(),
            "width 6: must be a power of two from 1 to 65536"
        );
        assert_eq!(
            ShapeError::check_range("depth", 40, 0..=16).unwrap_err().to_string(),
            "depth 40: must be from 0 to 16"
        );
    }
}
