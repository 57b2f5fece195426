//! Axes: the part of the numbers they show, and where they have ticks.

use std::ops::RangeInclusive;

use crate::numbers::grouped;

/// One axis of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The measured quantity, with its unit.
    pub label: String,
    /// How numbers are spaced.
    pub scale: Scale,
}

/// How the numbers of an axis are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly, and zero is always shown.
    Linear,
    /// By ratio, with ticks at powers of two: for numbers of processors.
    Log2,
    /// By ratio, with ticks at 1, 2, 5, 10, 20, ...
    Log10,
}

/// Largest numbers of ticks from left to right: the first is used with which the tick labels fit.
pub(super) const TICKS_ACROSS: [usize; 4] = [13, 9, 6, 4];
/// Largest number of ticks that fit from bottom to top.
pub(super) const TICKS_UP: usize = 10;

impl Axis {
    /// Returns an axis of this scale.
    pub fn new(label: impl Into<String>, scale: Scale) -> Self {
        Axis { label: label.into(), scale }
    }

    /// Returns whether the axis can show a value.
    pub(super) fn has(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }

    /// Fits the axis to these values. There is at least one, and the axis can show all of them.
    pub(super) fn fitted(&self, values: impl Iterator<Item = f64>, most_ticks: usize) -> Fitted {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let ticks = match self.scale {
            Scale::Linear => linear_ticks(low.min(0.0), high.max(0.0), most_ticks),
            Scale::Log2 => power_ticks(low, high, most_ticks),
            Scale::Log10 => decimal_ticks(low, high, most_ticks),
        };
        Fitted { scale: self.scale, ticks }
    }
}

/// An axis whose ends and ticks are known.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    scale: Scale,
    /// Values of the ticks, ascending, at least two; the first and the last are the ends.
    ticks: Vec<f64>,
}

impl Fitted {
    /// Returns the place of a value, in units in which the axis is even.
    pub(super) fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log2 | Scale::Log10 => value.log2(),
        }
    }

    /// Returns the ends, as places.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.place(self.ticks[0]), self.place(self.ticks[self.ticks.len() - 1]))
    }

    /// Returns the values of the ticks and their labels.
    pub(super) fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        self.ticks.iter().map(|&value| (value, self.label(value)))
    }

    fn label(&self, value: f64) -> String {
        // All labels of an axis have one style.
        let all_in =
            |range: RangeInclusive<f64>| self.ticks.iter().all(|tick| range.contains(tick));
        match self.scale {
            Scale::Linear => number(value, self.ticks[1] - self.ticks[0]),
            Scale::Log2 if !all_in(1.0 / 16.0..=65536.0) => format!("2^{}", value.log2().round()),
            Scale::Log10 if !all_in(1e-3..=1e7) => power_of_ten(value),
            Scale::Log2 | Scale::Log10 => number(value, value),
        }
    }
}

/// Formats a value such as 10^6 or 2·10^6.
fn power_of_ten(value: f64) -> String {
    // The logarithm of a power of ten may fall short of a whole number by rounding.
    let exponent = (value.log10() + 1e-9).floor();
    let lead = (value / 10_f64.powf(exponent)).round();
    if lead == 1.0 { format!("10^{exponent}") } else { format!("{lead}·10^{exponent}") }
}

/// Formats a number with as many decimals as its `step` needs.
fn number(value: f64, step: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if value.abs() > 1e7 || step.abs() < 1e-5 {
        return format!("{value:.1e}");
    }
    let decimals = (0..5).find(|&d| {
        let scaled = step * 10_f64.powi(d);
        (scaled - scaled.round()).abs() < 1e-6 * scaled.abs()
    });
    apart(&format!("{value:.*}", decimals.unwrap_or(5) as usize))
}

/// Puts spaces between thousands, from five digits before the point on.
fn apart(number: &str) -> String {
    let (whole, rest) = number.split_at(number.find('.').unwrap_or(number.len()));
    let (sign, digits) = whole.split_at(usize::from(whole.starts_with('-')));
    match digits.parse() {
        Ok(whole) if digits.len() >= 5 => format!("{sign}{}{rest}", grouped(whole)),
        _ => number.to_owned(),
    }
}

/// Returns multiples of 1, 2 or 5 times a power of ten that enclose both values.
fn linear_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    // Halved and doubled again, because the difference of two finite numbers can be infinite.
    let span = 2.0 * (high / 2.0 - low / 2.0);
    if !(span.is_finite() && span > f64::MIN_POSITIVE) {
        return if high == low { vec![low, low + 1.0] } else { vec![low, high] };
    }
    let rough = span / most as f64;
    let decade = 10_f64.powf(rough.log10().floor());
    let ticks = [1.0, 2.0, 5.0, 10.0, 20.0].into_iter().find_map(|lead| {
        let step = lead * decade;
        let (first, last) = ((low / step).floor(), (high / step).ceil());
        let count = last - first + 1.0;
        // At most 2^53 steps from zero: beyond that, adding a step changes nothing.
        (count <= most as f64 + 1.0 && first.abs().max(last.abs()) < 9e15)
            .then(|| (0..count as usize).map(|k| (first + k as f64) * step).collect())
    });
    ticks.unwrap_or_else(|| vec![low, high])
}

/// Returns powers of two that enclose both values.
fn power_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let first = low.log2().floor() as i32;
    // At least two: a power of two that is the only value has itself and the next.
    let last = (high.log2().ceil() as i32).max(first + 1);
    let stride = ((last - first) as usize).div_ceil(most - 1).max(1);
    let mut ticks: Vec<f64> = (first..last).step_by(stride).map(|k| 2_f64.powi(k)).collect();
    ticks.push(2_f64.powi(first + (ticks.len() * stride) as i32));
    within_range(ticks, low, high)
}

/// Returns 1, 2, 5, 10, ... that enclose both values, or powers of ten alone where those are more
/// than `most`.
fn decimal_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let fine: Vec<f64> =
        (first..=last).flat_map(|k| [1.0, 2.0, 5.0].map(|lead| lead * 10_f64.powi(k))).collect();
    // The closest enclosing ticks. Rounding of powers must not lose the ends.
    let start = fine.iter().rposition(|&tick| tick <= low * (1.0 + 1e-12)).unwrap_or(0);
    let end = fine.iter().position(|&tick| tick >= high * (1.0 - 1e-12)).unwrap_or(fine.len() - 1);
    if (2..=most).contains(&(end + 1 - start.min(end))) {
        return within_range(fine[start..=end].to_vec(), low, high);
    }
    let last = last.max(first + 1);
    let stride = ((last - first) as usize).div_ceil(most - 1).max(1);
    let mut ticks: Vec<f64> = (first..last).step_by(stride).map(|k| 10_f64.powi(k)).collect();
    ticks.push(10_f64.powi(first + (ticks.len() * stride) as i32));
    within_range(ticks, low, high)
}

/// Returns the ticks if all of them are finite. Otherwise the values are near the ends of the range
/// of numbers, and serve as ticks themselves.
fn within_range(ticks: Vec<f64>, low: f64, high: f64) -> Vec<f64> {
    let fit = ticks.iter().all(|tick| tick.is_normal());
    match fit {
        true => ticks,
        false if low < high => vec![low, high],
        false => vec![low / 2.0, low],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, values: &[f64]) -> Vec<String> {
        let fitted = Axis::new("", scale).fitted(values.iter().copied(), TICKS_UP);
        fitted.ticks().map(|(_, label)| label).collect()
    }

    #[test]
    fn processors_are_marked_at_powers_of_two() {
        assert_eq!(labels(Scale::Log2, &[1.0, 16.0]), ["1", "2", "4", "8", "16"]);
        assert_eq!(labels(Scale::Log2, &[3.0, 5.0]), ["2", "4", "8"]);
        assert_eq!(labels(Scale::Log2, &[4.0]), ["4", "8"]);
        assert_eq!(labels(Scale::Log2, &[0.25, 1.0]), ["0.25", "0.5", "1"]);
        let many = labels(Scale::Log2, &[1.0, 1_048_576.0]);
        assert_eq!(many, ["2^0", "2^3", "2^6", "2^9", "2^12", "2^15", "2^18", "2^21"]);
    }

    #[test]
    fn even_axes_begin_at_zero() {
        let tens = ["0", "10", "20", "30", "40", "50", "60", "70", "80", "90", "100"];
        assert_eq!(labels(Scale::Linear, &[70.0, 100.0]), tens);
        assert_eq!(labels(Scale::Linear, &[0.1, 0.45])[..3], ["0", "0.05", "0.10"]);
        assert_eq!(labels(Scale::Linear, &[-3.0, 4.0])[..3], ["-3", "-2", "-1"]);
        assert_eq!(labels(Scale::Linear, &[0.0]), ["0", "1"]);
    }

    #[test]
    fn few_decades_have_ticks_between_them() {
        assert_eq!(labels(Scale::Log10, &[1.0, 100.0]), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(labels(Scale::Log10, &[6.0, 7.0]), ["5", "10"]);
        let decades = labels(Scale::Log10, &[0.01, 1e6]);
        assert_eq!(decades[..4], ["0.01", "0.1", "1", "10"]);
        assert_eq!(decades.last().unwrap(), "1 000 000");
    }

    #[test]
    fn the_labels_of_an_axis_are_all_numbers_or_all_powers() {
        assert_eq!(labels(Scale::Log10, &[5e3, 2e4]), ["5000", "10 000", "20 000"]);
        assert_eq!(labels(Scale::Log10, &[1e7, 2e8])[..3], ["10^7", "2·10^7", "5·10^7"]);
        let wide = labels(Scale::Log10, &[1.0, 1e9]);
        assert!(wide.iter().all(|label| label.starts_with("10^")), "{wide:?}");
    }

    #[test]
    fn thousands_stand_apart() {
        let labels = labels(Scale::Linear, &[0.0, 250_000.0]);
        assert_eq!(labels[..2], ["0", "50 000"]);
        assert_eq!(labels.last().unwrap(), "250 000");
        assert_eq!(apart("-1234567.25"), "-1 234 567.25");
        assert_eq!([apart("4096"), apart("-4096"), apart("0.5")], ["4096", "-4096", "0.5"]);
    }

    #[test]
    fn every_value_lies_between_the_ends() {
        for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
            for low in [1e-9, 0.3, 1.0, 7.0, 1000.0, 123_456.0] {
                for factor in [1.0, 1.5, 2.0, 10.0, 3e7] {
                    let axis = Axis::new("", scale);
                    let fitted = axis.fitted([low, low * factor].into_iter(), TICKS_UP);
                    let (start, end) = fitted.ends();
                    let inside = |value: f64| {
                        let place = fitted.place(value);
                        let slack = 1e-9 * (end - start);
                        start - slack <= place && place <= end + slack
                    };
                    assert!(inside(low) && inside(low * factor), "{scale:?} {low} x{factor}");
                    assert!(fitted.ticks.is_sorted() && fitted.ticks.len() <= TICKS_UP + 1);
                }
            }
        }
    }
}
