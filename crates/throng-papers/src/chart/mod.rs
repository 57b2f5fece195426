//! Charts as SVG text, fit to be printed: labelled axes, a legend beside the data, colours that
//! colour-blind readers can tell apart and a marker of its own for each series.
//!
//! ```
//! use throng_papers::chart::{Axis, Chart, Mark, Scale, Series};
//!
//! let chart = Chart {
//!     title: "Latency".to_owned(),
//!     subtitle: "a tree of depth 5".to_owned(),
//!     x: Axis::new("processors", Scale::Log2),
//!     y: Axis::new("latency (cycles)", Scale::Linear),
//!     series: vec![
//!         Series::measured("new balancer", vec![(1.0, 50.0), (2.0, 61.0), (4.0, 90.0)]),
//!         Series::curve("bound", vec![(1.0, 60.0), (4.0, 120.0)]),
//!     ],
//!     marks: vec![Mark::new(3.0, "peak")],
//! };
//! let svg = chart.svg()?;
//! assert!(svg.starts_with("<svg") && svg.contains("new balancer"));
//! # Ok::<(), throng_papers::error::Error>(())
//! ```
//!
//! A point that has no place in the chart (not a number, infinite, or not above zero on a
//! logarithmic axis) is left out, and the line is interrupted there. A chart in which nothing is
//! left is refused.

mod axis;
mod draw;
mod look;

pub use axis::{Axis, Scale};

use crate::error::Error;

/// What a chart shows. All fields are plain data; [`Chart::svg`] draws them.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The title, in large letters.
    pub title: String,
    /// The circumstances, in small letters. Long lines are broken. May be empty.
    pub subtitle: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// In the order of the legend, which is also the order of colours and markers.
    pub series: Vec<Series>,
    /// Positions on the x axis worth a line of their own.
    pub marks: Vec<Mark>,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// In the order in which they are joined.
    pub points: Vec<(f64, f64)>,
    /// How they are drawn.
    pub look: Look,
}

impl Series {
    /// Returns measured points: markers, joined by a line.
    pub fn measured(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.into(), points, look: Look::Joined }
    }

    /// Returns a formula or a bound: a dashed line without markers.
    pub fn curve(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.into(), points, look: Look::Dashed }
    }

    /// Returns points that are not joined.
    pub fn scattered(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.into(), points, look: Look::Scattered }
    }
}

/// How the points of a series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Markers, joined by a line.
    Joined,
    /// A line without markers.
    Line,
    /// A dashed line without markers.
    Dashed,
    /// Markers alone.
    Scattered,
}

/// A vertical line with a label above it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The place on the x axis.
    pub x: f64,
    /// The label.
    pub label: String,
    /// The number of the series whose colour it has. `None`: grey.
    pub series: Option<usize>,
}

impl Mark {
    /// Returns a line at `x`.
    pub fn new(x: f64, label: impl Into<String>) -> Self {
        Mark { x, label: label.into(), series: None }
    }

    /// Gives the line the colour of a series.
    #[must_use]
    pub fn of_series(self, number: usize) -> Self {
        Mark { series: Some(number), ..self }
    }
}

impl Chart {
    /// Returns the chart as the text of an SVG file.
    ///
    /// # Errors
    /// When no point of any series has a place in the chart, or drawing fails.
    pub fn svg(&self) -> Result<String, Error> {
        let refused = |why: &str| Error::Chart { title: self.title.clone(), why: why.to_owned() };
        let points = || self.series.iter().flat_map(|series| self.places(series).flatten());
        if points().next().is_none() {
            return Err(refused("no series has a point that can be drawn"));
        }
        let marked = self.marks.iter().map(|mark| mark.x).filter(|&x| self.x.has(x));
        let places = || points().map(|(x, _)| x).chain(marked.clone());
        let [most, fewer @ ..] = axis::TICKS_ACROSS;
        let mut x = self.x.fitted(places(), most);
        for most in fewer {
            if !draw::has_room_across(&x) {
                x = self.x.fitted(places(), most);
            }
        }
        let y = self.y.fitted(points().map(|(_, y)| y), axis::TICKS_UP);
        draw::svg(self, &x, &y).map_err(|why| refused(&why))
    }

    /// Returns the points of a series, with `None` for each point that the axes cannot show.
    fn places<'a>(&'a self, series: &'a Series) -> impl Iterator<Item = Option<(f64, f64)>> + 'a {
        let has_place = |&(x, y): &(f64, f64)| self.x.has(x) && self.y.has(y);
        series.points.iter().map(move |&point| Some(point).filter(has_place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(series: Vec<Series>) -> Chart {
        Chart {
            title: "Title & more".to_owned(),
            subtitle: "of depth 5".to_owned(),
            x: Axis::new("processors", Scale::Log2),
            y: Axis::new("latency (steps)", Scale::Linear),
            series,
            marks: Vec::new(),
        }
    }

    fn points(n: i32) -> Vec<(f64, f64)> {
        (0..n).map(|k| (f64::from(k + 1), f64::from(k * k))).collect()
    }

    #[test]
    fn all_words_are_in_the_picture() {
        let mut chart = chart(vec![
            Series::measured("first <one>", points(9)),
            Series::curve("2nd", points(4)),
        ]);
        chart.marks = vec![Mark::new(4.0, "here"), Mark::new(4.1, "and here")];
        let svg = chart.svg().unwrap();
        for words in [
            "Title &amp; more",
            "of depth 5",
            "processors",
            "latency (steps)",
            "first &lt;one&gt;",
            "2nd",
            ">\nhere",
            "and here",
        ] {
            assert!(svg.contains(words), "{words} is missing in {svg}");
        }
        for tick in [1, 2, 4, 8] {
            assert!(svg.contains(&format!("\n{tick}\n</text>")), "no tick {tick} in {svg}");
        }
    }

    #[test]
    fn a_mark_has_the_colour_of_its_series() {
        let with = |mark: Mark| {
            let mut chart = chart(vec![Series::measured("a", points(9))]);
            chart.marks = vec![mark];
            chart.svg().unwrap()
        };
        assert!(!with(Mark::new(4.0, "here")).contains("#D55E00"));
        assert!(with(Mark::new(4.0, "here").of_series(1)).contains("#D55E00"));
    }

    #[test]
    fn the_same_chart_gives_the_same_text() {
        let chart = chart(vec![Series::measured("a", points(20))]);
        assert_eq!(chart.svg().unwrap(), chart.svg().unwrap());
    }

    #[test]
    fn series_differ_in_colour() {
        let series = (0..8).map(|k| Series::measured(k.to_string(), points(k + 1))).collect();
        let svg = chart(series).svg().unwrap();
        for k in 0..8 {
            let colour = look::colour(k);
            let hex = format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2);
            assert!(svg.contains(&hex), "{hex}");
        }
    }

    #[test]
    fn nothing_to_draw_is_refused_in_words() {
        for series in [
            vec![],
            vec![Series::measured("empty", vec![])],
            vec![Series::measured("nan", vec![(f64::NAN, 1.0), (1.0, f64::INFINITY)])],
            vec![Series::measured("zero on a log axis", vec![(0.0, 1.0), (-1.0, 1.0)])],
        ] {
            assert_eq!(
                chart(series).svg().unwrap_err().to_string(),
                "the chart \"Title & more\" cannot be drawn: \
                 no series has a point that can be drawn"
            );
        }
    }

    #[test]
    fn points_without_a_place_are_left_out_and_break_the_line() {
        let broken = vec![(1.0, 1.0), (2.0, 2.0), (3.0, f64::NAN), (4.0, 4.0), (8.0, 5.0)];
        let lines = |points: Vec<(f64, f64)>| {
            let series = vec![Series { look: Look::Line, ..Series::measured("s", points) }];
            let svg = chart(series).svg().unwrap();
            // The axes are black and the mesh is grey.
            svg.lines()
                .filter(|line| line.contains("<polyline") && line.contains("#0072B2"))
                .count()
        };
        let whole: Vec<_> = broken.iter().copied().filter(|point| point.1.is_finite()).collect();
        assert_eq!(lines(broken), lines(whole) + 1);
    }

    #[test]
    fn odd_data_do_not_panic() {
        let odd = [
            vec![(1.0, 0.0)],
            vec![(5.0, 7.0)],
            vec![(1.0, -3.0), (2.0, -3.0)],
            vec![(1e-300, 1e300), (1e300, -1e300)],
            vec![(1.0, 1e-12), (2.0, 2e-12)],
            vec![(f64::MIN_POSITIVE, f64::MAX), (f64::MAX, f64::MIN)],
        ];
        for points in odd {
            for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
                for look in [Look::Joined, Look::Line, Look::Dashed, Look::Scattered] {
                    let mut chart = chart(vec![
                        Series { look, ..Series::measured("odd", points.clone()) },
                        Series::measured("", vec![]),
                    ]);
                    (chart.x.scale, chart.y.scale) = (scale, scale);
                    chart.marks =
                        vec![Mark::new(f64::NAN, "nowhere"), Mark::new(2.0, "x".repeat(500))];
                    // Either refused or drawn.
                    if let Ok(svg) = chart.svg() {
                        assert!(!svg.contains("nowhere") && svg.trim_end().ends_with("</svg>"));
                    }
                }
            }
        }
    }
}
