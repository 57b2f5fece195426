//! Measured curves, and what can be said about their shape.

use serde::Serialize;

use crate::chart::Look;

/// A measured point: the mean of its repetitions, with their smallest and largest value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The varied quantity.
    pub x: f64,
    /// The mean.
    pub y: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Point {
    /// Returns a point without spread, for values known exactly.
    pub fn exact(x: f64, y: f64) -> Self {
        Point { x, y, min: y, max: y }
    }

    /// Returns the point of `repetitions`; its values are NaN where there are none.
    pub fn of(x: f64, repetitions: &[f64]) -> Self {
        let sum: f64 = repetitions.iter().sum();
        Point {
            x,
            y: sum / repetitions.len() as f64,
            min: repetitions.iter().copied().fold(f64::INFINITY, f64::min),
            max: repetitions.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// Points that belong together, from left to right.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The name in the legend.
    pub name: String,
    /// From left to right.
    pub points: Vec<Point>,
    /// Line and marker in the chart.
    pub look: Look,
    /// The command that runs the last point alone, from the first seed; `None` where nothing ran.
    pub command: Option<String>,
    /// A caveat about its numbers, printed with them.
    pub note: Option<String>,
}

impl Curve {
    /// Returns a curve of measured points.
    pub fn measured(name: impl Into<String>, points: Vec<Point>) -> Self {
        Curve { name: name.into(), points, look: Look::Joined, command: None, note: None }
    }

    /// Returns the curve of a formula, evaluated at `xs`.
    pub fn formula(name: impl Into<String>, xs: &[f64], y: impl Fn(f64) -> f64) -> Self {
        let points = xs.iter().map(|&x| Point::exact(x, y(x))).collect();
        Curve { look: Look::Dashed, ..Curve::measured(name, points) }
    }

    /// Returns the ratio of this curve to `other`, wherever both were measured.
    #[must_use]
    pub fn over(&self, other: &Curve) -> Self {
        let ratio = |point: &Point| Some(Point::exact(point.x, point.y / other.at(point.x)?));
        Curve::measured(self.name.clone(), self.points.iter().filter_map(ratio).collect())
    }

    /// Marks the curve as one the paper does not have: dashed, and named accordingly.
    #[must_use]
    pub fn ours(self) -> Self {
        Curve { name: format!("(ours) {}", self.name), look: Look::Dashed, ..self }
    }

    /// Returns the point nearest to `x`, by ratio.
    pub fn nearest(&self, x: f64) -> Option<Point> {
        let off = |point: &&Point| (point.x / x).ln().abs();
        self.points.iter().min_by(|a, b| off(a).total_cmp(&off(b))).copied()
    }

    /// Returns the value at `x`, or `None` if it was not measured there.
    pub fn at(&self, x: f64) -> Option<f64> {
        self.points.iter().find(|point| point.x == x).map(|point| point.y)
    }

    /// Returns the points with `least <= x <= most`.
    pub fn between(&self, least: f64, most: f64) -> Vec<Point> {
        self.points.iter().copied().filter(|point| (least..=most).contains(&point.x)).collect()
    }

    /// Returns the last point.
    pub fn last(&self) -> Option<Point> {
        self.points.last().copied()
    }

    /// Returns the highest point; of several equal ones the first.
    pub fn highest(&self) -> Option<Point> {
        highest(&self.points)
    }

    /// Returns the lowest point; of several equal ones the first.
    pub fn lowest(&self) -> Option<Point> {
        lowest(&self.points)
    }

    /// Returns the first peak and the lowest point after it. A peak is a point to which the curve
    /// has risen, and below which it falls by more than `noise` times its height before it rises
    /// above it.
    pub fn peak_and_valley(&self, noise: f64) -> Option<(Point, Point)> {
        let mut peak = *self.points.first()?;
        for (i, point) in self.points.iter().enumerate() {
            if point.y > peak.y {
                peak = *point;
            }
            let risen = peak.x > self.points[0].x;
            if risen && point.y < peak.y * (1.0 - noise) {
                return lowest(&self.points[i..]).map(|valley| (peak, valley));
            }
        }
        None
    }

    /// Returns the exponent e of the power x^e fitted to the curve from the first point at or after
    /// `from` to its end: 0 is flat, 1 linear growth.
    pub fn exponent_from(&self, from: f64) -> Option<f64> {
        let logs: Vec<(f64, f64)> = (self.between(from, f64::INFINITY).iter())
            .filter(|point| point.x > 0.0 && point.y > 0.0)
            .map(|point| (point.x.ln(), point.y.ln()))
            .collect();
        LinearFit::of(&logs).map(|fit| fit.slope)
    }
}

/// Returns the highest or the lowest of some curves, as `pick` picks, at each x of the first.
pub fn composite<'a>(
    name: &str,
    curves: impl IntoIterator<Item = &'a Curve>,
    pick: fn(f64, f64) -> f64,
) -> Curve {
    let curves: Vec<&Curve> = curves.into_iter().collect();
    let points = curves.first().map_or(&[][..], |curve| &curve.points).iter().filter_map(|point| {
        let at_x = curves.iter().filter_map(|curve| curve.at(point.x));
        at_x.reduce(pick).map(|y| Point::exact(point.x, y))
    });
    Curve::measured(name, points.collect())
}

/// Returns the highest of `points`; of several equal ones the first.
pub fn highest(points: &[Point]) -> Option<Point> {
    points.iter().copied().reduce(|best, point| if point.y > best.y { point } else { best })
}

/// Returns the lowest of `points`; of several equal ones the first.
pub fn lowest(points: &[Point]) -> Option<Point> {
    points.iter().copied().reduce(|best, point| if point.y < best.y { point } else { best })
}

/// A straight line fitted to points by least squares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearFit {
    /// The slope a of y = a x + c.
    pub slope: f64,
    /// The intercept c of y = a x + c.
    pub intercept: f64,
    /// R squared: the share of the variance that the line explains. 1 is a perfect fit.
    pub r_squared: f64,
}

impl LinearFit {
    /// Fits a line, or returns `None` for fewer than two different x.
    pub fn of(points: &[(f64, f64)]) -> Option<Self> {
        let n = points.len() as f64;
        let mean = |f: fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
        let (x_mean, y_mean) = (mean(|p| p.0), mean(|p| p.1));
        let sum = |f: &dyn Fn(f64, f64) -> f64| {
            points.iter().map(|&(x, y)| f(x - x_mean, y - y_mean)).sum::<f64>()
        };
        let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
        if xx.is_nan() || xx <= 0.0 {
            return None;
        }
        let slope = xy / xx;
        Some(LinearFit {
            slope,
            intercept: y_mean - slope * x_mean,
            r_squared: if yy > 0.0 { xy * xy / (xx * yy) } else { 1.0 },
        })
    }

    /// Returns the y of the line at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.slope * x + self.intercept
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a curve through these points.
    pub(in crate::figures) fn curve(name: &str, points: &[(f64, f64)]) -> Curve {
        Curve::measured(name, points.iter().map(|&(x, y)| Point::exact(x, y)).collect())
    }

    #[test]
    fn repetitions_give_a_mean_and_a_range() {
        assert_eq!(Point::of(2.0, &[1.0, 3.0]), Point { x: 2.0, y: 2.0, min: 1.0, max: 3.0 });
        assert!(Point::of(2.0, &[]).y.is_nan());
    }

    #[test]
    fn a_line_is_fitted_exactly_and_noise_lowers_r_squared() {
        let line: Vec<(f64, f64)> =
            (0..9).map(|x| (f64::from(x), 3.0 * f64::from(x) - 1.0)).collect();
        let fit = LinearFit::of(&line).unwrap();
        assert!((fit.slope - 3.0).abs() < 1e-12 && (fit.intercept + 1.0).abs() < 1e-12);
        assert!((fit.r_squared - 1.0).abs() < 1e-12 && (fit.at(10.0) - 29.0).abs() < 1e-9);
        let fit = LinearFit::of(&[(0.0, 0.0), (1.0, 5.0), (2.0, 0.0), (3.0, 5.0)]).unwrap();
        assert!(fit.r_squared < 0.5);
        assert_eq!(LinearFit::of(&[(1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(LinearFit::of(&[]), None);
        assert_eq!(LinearFit::of(&[(1.0, 2.0), (5.0, 2.0)]).unwrap().r_squared, 1.0);
    }

    #[test]
    fn exponents_tell_flat_from_linear() {
        let xs = [1.0, 16.0, 64.0, 256.0];
        let flat = Curve::formula("flat", &xs, |_| 7.0);
        let linear = Curve::formula("linear", &xs, |x| 3.0 * x);
        assert!(flat.exponent_from(16.0).unwrap().abs() < 1e-12);
        assert!((linear.exponent_from(16.0).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(linear.exponent_from(256.0), None);
    }

    #[test]
    fn a_peak_is_one_that_is_left_again() {
        let hill = curve("hill", &[(1.0, 1.0), (2.0, 4.0), (3.0, 3.9), (4.0, 2.0), (5.0, 6.0)]);
        let (peak, valley) = hill.peak_and_valley(0.05).unwrap();
        assert_eq!((peak.x, valley.x), (2.0, 4.0));
        let rise = curve("rise", &[(1.0, 1.0), (2.0, 4.0), (3.0, 3.9), (4.0, 5.0)]);
        assert_eq!(rise.peak_and_valley(0.05), None);
        let fall = curve("fall", &[(1.0, 9.0), (2.0, 4.0), (3.0, 1.0)]);
        assert_eq!(fall.peak_and_valley(0.05), None, "it never rose");
        assert_eq!(curve("nothing", &[]).peak_and_valley(0.05), None);
    }

    #[test]
    fn points_are_found_by_place_and_height() {
        let hill = curve("hill", &[(1.0, 1.0), (2.0, 4.0), (3.0, 2.0)]);
        assert_eq!(hill.at(2.0), Some(4.0));
        assert_eq!(hill.at(2.5), None);
        assert_eq!(hill.highest().unwrap().x, 2.0);
        assert_eq!(hill.lowest().unwrap().x, 1.0);
        assert_eq!(hill.between(2.0, 9.0).len(), 2);
    }
}
