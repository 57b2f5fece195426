//! Numbers as a person reads them: in one style all over the report.

/// A number with about three digits; whole from 100 on.
#[must_use]
pub fn short(number: f64) -> String {
    match number {
        n if n >= 100.0 || n == n.round() => grouped(n.round() as u64),
        n if n >= 10.0 => format!("{n:.1}"),
        n => format!("{n:.2}"),
    }
}

/// A whole number with blanks between groups of digits.
#[must_use]
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

/// "1 processor", "2 000 processors".
#[must_use]
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
        assert_eq!(counted(1, "value"), "1 value");
        assert_eq!(counted(2000, "value"), "2 000 values");
    }
}
