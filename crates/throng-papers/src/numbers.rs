//! Formats numbers in one style wherever the lab prints them.

/// Formats a number with about three digits. Whole numbers, and all from 100 on, have no point.
pub fn short(number: f64) -> String {
    let size = number.abs();
    let decimals = match size {
        _ if !size.is_finite() => return number.to_string(),
        _ if size >= 99.95 || size.fract() == 0.0 => {
            let sign = if number < 0.0 { "-" } else { "" };
            return format!("{sign}{}", grouped(size.round() as u64));
        }
        _ if size >= 9.995 => 1,
        _ if size >= 0.0995 => 2,
        _ if size >= 0.000_95 => 4,
        _ => return format!("{number:.2e}"),
    };
    format!("{number:.decimals$}")
}

/// Formats a whole number with blanks between groups of digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Formats a number with its noun, as in "1 processor", "2 000 processors".
pub fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1 234 567");
        assert_eq!(short(0.123), "0.12");
        assert_eq!(short(12.34), "12.3");
        assert_eq!(short(7.0), "7");
        assert_eq!(short(20_000.4), "20 000");
        assert_eq!(short(-99.97), "-100");
        assert_eq!([0.0, -12.34, 0.0123].map(short), ["0", "-12.3", "0.0123"]);
        assert_eq!([1.47e-5, f64::NAN].map(short), ["1.47e-5", "NaN"]);
        assert_eq!(counted(1, "value"), "1 value");
        assert_eq!(counted(2000, "value"), "2 000 values");
    }
}
