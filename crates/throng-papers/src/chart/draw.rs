//! Draws a chart with fitted axes as SVG.
//!
//! ```text
//! +------------------------------------+
//! | title, subtitle                    |
//! |        labels of marks             |
//! |   +------------------+  -o- first  |
//! | y |                  |  -x- second |
//! |   |                  |             |
//! |   +------------------+             |
//! |            x                       |
//! +------------------------------------+
//! ```

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Fitted;
use super::look::{Drawn, STROKE, colour, draw_marker};
use super::{Chart, Look, Mark, Series};

// All in pixels. Fine enough that rounding to whole pixels does not show; SVG scales.
const WIDTH: i32 = 1280;
const HEIGHT: i32 = 800;
const MARGIN: i32 = 20;
/// Gaps between the name of the y axis and its widest number, and between that and the axis.
const Y_GAPS: [i32; 2] = [14, 12];
const X_LABELS: i32 = 70;
const TITLE_SIZE: i32 = 34;
const TEXT_SIZE: i32 = 25;
const LINE_HEIGHT: i32 = 28;
/// Mean width of a letter as a part of the font size, rounded up generously.
const LETTER_WIDTH: f64 = 0.48;
/// Mean width of a digit as a part of the font size.
const DIGIT_WIDTH: f64 = 0.64;
/// Smallest gap between two numbers of the x axis.
const TICK_GAP: i32 = 8;
/// Width of the x axis beside most legends.
const LEAST_ACROSS: i32 = 780;
/// Letters of a line of the subtitle.
const SUBTITLE_LETTERS: usize = 95;
const FONT: &str = "sans-serif";
const MESH: RGBColor = RGBColor(0xDD, 0xDD, 0xDD);
const MARK: RGBColor = RGBColor(0x55, 0x55, 0x55);

/// Length of the line beside a name in the legend.
const KEY_WIDTH: i32 = 48;
const LEGEND_GAP: i32 = 24;
/// Letters of a line of the legend. Longer names are broken.
const LEGEND_LETTERS: usize = 26;

/// Draws the chart.
pub(super) fn svg(chart: &Chart, x: &Fitted, y: &Fitted) -> Result<String, String> {
    let mut text = String::new();
    {
        let backend = SVGBackend::with_string(&mut text, (WIDTH as u32, HEIGHT as u32));
        let area = backend.into_drawing_area();
        draw(chart, x, y, &area).map_err(|error| error.to_string())?;
        area.present().map_err(|error| error.to_string())?;
    }
    Ok(text)
}

fn draw<DB: DrawingBackend>(
    chart: &Chart,
    x: &Fitted,
    y: &Fitted,
    area: &DrawingArea<DB, Shift>,
) -> Drawn<DB> {
    area.fill(&WHITE)?;
    let legend = legend(chart);
    let mut layout = Layout {
        left: MARGIN + LINE_HEIGHT + Y_GAPS[0] + widest_number(y) + Y_GAPS[1],
        top: MARGIN,
        right: WIDTH - MARGIN - legend_width(&legend),
    };
    draw_titles(chart, area, &mut layout)?;
    let mut marks = labelled(chart, x, &layout);
    layout.top += LINE_HEIGHT * rows(&marks) + LINE_HEIGHT / 3;

    let plot = layout.plot();
    draw_mesh(chart, x, y, area, &layout)?;
    let at = |point: (f64, f64)| (plot.across(x, point.0), plot.up(y, point.1));
    // From the highest label down: each covers the lines of those above it.
    marks.sort_by_key(|label| -label.row);
    for label in &marks {
        draw_mark(label, &plot, area)?;
    }
    for (number, series) in chart.series.iter().enumerate() {
        for stretch in stretches(chart, series) {
            draw_line(series.look, number, stretch.iter().map(|&point| at(point)).collect(), area)?;
        }
    }
    // Markers last, so that no line hides one.
    for (number, series) in chart.series.iter().enumerate() {
        if matches!(series.look, Look::Joined | Look::Scattered) {
            for point in chart.places(series).flatten() {
                draw_marker(area, number, at(point))?;
            }
        }
    }
    draw_legend(&legend, area, plot.right + LEGEND_GAP, plot.top)
}

/// The part of the picture for the plot and its axes.
struct Layout {
    left: i32,
    top: i32,
    right: i32,
}

impl Layout {
    fn plot(&self) -> Plot {
        Plot {
            left: self.left,
            right: self.right,
            top: self.top,
            bottom: HEIGHT - MARGIN - X_LABELS,
        }
    }
}

/// The rectangle of the data.
struct Plot {
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

impl Plot {
    fn across(&self, axis: &Fitted, value: f64) -> i32 {
        self.left + scaled(axis, value, self.right - self.left)
    }

    fn up(&self, axis: &Fitted, value: f64) -> i32 {
        self.bottom - scaled(axis, value, self.bottom - self.top)
    }
}

/// Returns the distance of a value from the low end, of `pixels` in all.
fn scaled(axis: &Fitted, value: f64, pixels: i32) -> i32 {
    let (low, high) = axis.ends();
    // Halved, because the difference of two finite numbers can be infinite.
    let part = (axis.place(value) / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
    (part * f64::from(pixels)).round() as i32
}

fn style(size: i32, horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    (FONT, size).into_font().color(&BLACK).pos(Pos::new(horizontal, vertical))
}

fn text_width(text: &str, size: i32) -> i32 {
    (text.chars().count() as f64 * f64::from(size) * LETTER_WIDTH).ceil() as i32
}

/// Returns the width of the widest number of an axis.
fn widest_number(axis: &Fitted) -> i32 {
    let letters = axis.ticks().map(|(_, label)| label.chars().count()).max().unwrap_or(0);
    let width = (letters as f64 * f64::from(TEXT_SIZE) * DIGIT_WIDTH).ceil() as i32;
    // Extremely long numbers must not push the data out of the picture.
    width.min(WIDTH / 4)
}

/// Returns whether the numbers of an axis fit beside each other.
pub(super) fn has_room_across(axis: &Fitted) -> bool {
    let spaces = axis.ticks().count() as i32 - 1;
    spaces * (widest_number(axis) + TICK_GAP) <= LEAST_ACROSS
}

fn draw_titles<DB: DrawingBackend>(
    chart: &Chart,
    area: &DrawingArea<DB, Shift>,
    layout: &mut Layout,
) -> Drawn<DB> {
    let title = std::iter::once((chart.title.clone(), TITLE_SIZE, TITLE_SIZE + 10));
    let subtitle = chart.subtitle.lines().flat_map(|line| broken(line, SUBTITLE_LETTERS));
    let subtitle = subtitle.map(|line| (line, TEXT_SIZE, LINE_HEIGHT + 4));
    for (text, size, height) in title.chain(subtitle).filter(|(text, ..)| !text.is_empty()) {
        let style = style(size, HPos::Left, VPos::Top);
        area.draw(&Text::new(text, (layout.left, layout.top), style))?;
        layout.top += height;
    }
    Ok(())
}

/// Draws the frame, the ticks and the names of the axes.
fn draw_mesh<DB: DrawingBackend>(
    chart: &Chart,
    x: &Fitted,
    y: &Fitted,
    area: &DrawingArea<DB, Shift>,
    layout: &Layout,
) -> Drawn<DB> {
    let plot = layout.plot();
    let mesh = |from, to| PathElement::new(vec![from, to], MESH.stroke_width(1));
    let axis = |from, to| PathElement::new(vec![from, to], BLACK.stroke_width(2));
    for (value, label) in x.ticks() {
        let at = plot.across(x, value);
        area.draw(&mesh((at, plot.top), (at, plot.bottom)))?;
        area.draw(&axis((at, plot.bottom), (at, plot.bottom + 7)))?;
        let style = style(TEXT_SIZE, HPos::Center, VPos::Top);
        area.draw(&Text::new(label, (at, plot.bottom + 12), style))?;
    }
    for (value, label) in y.ticks() {
        let at = plot.up(y, value);
        area.draw(&mesh((plot.left, at), (plot.right, at)))?;
        area.draw(&axis((plot.left - 7, at), (plot.left, at)))?;
        let style = style(TEXT_SIZE, HPos::Right, VPos::Center);
        area.draw(&Text::new(label, (plot.left - Y_GAPS[1], at), style))?;
    }
    area.draw(&axis((plot.left, plot.bottom), (plot.right, plot.bottom)))?;
    area.draw(&axis((plot.left, plot.top), (plot.left, plot.bottom)))?;

    let below = style(TEXT_SIZE, HPos::Center, VPos::Bottom);
    let middle = (plot.left + plot.right) / 2;
    area.draw(&Text::new(chart.x.label.clone(), (middle, HEIGHT - MARGIN), below))?;
    let beside = style(TEXT_SIZE, HPos::Center, VPos::Top).transform(FontTransform::Rotate270);
    let middle = (plot.top + plot.bottom) / 2;
    area.draw(&Text::new(chart.y.label.clone(), (MARGIN, middle), beside))
}

/// Returns the points of a series, split at gaps.
fn stretches(chart: &Chart, series: &Series) -> Vec<Vec<(f64, f64)>> {
    let places: Vec<Option<(f64, f64)>> = chart.places(series).collect();
    places
        .split(Option::is_none)
        .map(|stretch| stretch.iter().copied().flatten().collect::<Vec<_>>())
        .filter(|stretch| !stretch.is_empty())
        .collect()
}

fn draw_line<DB: DrawingBackend>(
    look: Look,
    series: usize,
    points: Vec<(i32, i32)>,
    area: &DrawingArea<DB, Shift>,
) -> Drawn<DB> {
    let style = colour(series).stroke_width(STROKE);
    match look {
        Look::Scattered => Ok(()),
        Look::Joined | Look::Line => area.draw(&PathElement::new(points, style)),
        Look::Dashed => {
            for dash in dashes(&points, 12.0, 7.0) {
                area.draw(&PathElement::new(dash, style))?;
            }
            Ok(())
        }
    }
}

/// Cuts a line into dashes, each of which may go round corners.
fn dashes(points: &[(i32, i32)], on: f64, off: f64) -> Vec<Vec<(i32, i32)>> {
    let mut dashes = Vec::new();
    let mut dash: Vec<(i32, i32)> = points.first().copied().into_iter().collect();
    let (mut inked, mut left) = (true, on);
    for pair in points.windows(2) {
        let [from, to] = [pair[0], pair[1]].map(|(x, y)| (f64::from(x), f64::from(y)));
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let mut gone = 0.0;
        while length - gone > left {
            gone += left;
            let part = gone / length;
            let corner = (
                (from.0 + part * (to.0 - from.0)).round() as i32,
                (from.1 + part * (to.1 - from.1)).round() as i32,
            );
            dash.push(corner);
            if inked {
                dashes.push(std::mem::take(&mut dash));
            }
            inked = !inked;
            dash = vec![corner];
            left = if inked { on } else { off };
        }
        left -= length - gone;
        dash.push(pair[1]);
    }
    if inked && dash.len() > 1 {
        dashes.push(dash);
    }
    dashes
}

/// A mark with the place of its label.
struct Label<'a> {
    mark: &'a Mark,
    /// The x of the line, in pixels.
    at: i32,
    /// The left end of the text, in pixels.
    left: i32,
    width: i32,
    /// The row of the label, counted upwards from the plot.
    row: i32,
}

/// Places the labels of the marks without overlap: each in the lowest row with room.
fn labelled<'a>(chart: &'a Chart, x: &Fitted, layout: &Layout) -> Vec<Label<'a>> {
    let plot = layout.plot();
    let mut marks: Vec<&Mark> = chart.marks.iter().filter(|mark| chart.x.has(mark.x)).collect();
    marks.sort_by(|a, b| a.x.total_cmp(&b.x));
    // Where the text of each row ends.
    let mut taken: Vec<i32> = Vec::new();
    let place = |mark: &'a Mark| {
        let at = plot.across(x, mark.x);
        let width = text_width(&mark.label, TEXT_SIZE);
        let left = (at - width / 2).min(WIDTH - MARGIN - width).max(MARGIN);
        let free = taken.iter().position(|&end| end + 12 <= left);
        let row = free.unwrap_or(taken.len());
        taken.resize(taken.len().max(row + 1), 0);
        taken[row] = left + width;
        Label { mark, at, left, width, row: row as i32 }
    };
    marks.into_iter().map(place).collect()
}

fn rows(labels: &[Label<'_>]) -> i32 {
    labels.iter().map(|label| label.row + 1).max().unwrap_or(0)
}

fn draw_mark<DB: DrawingBackend>(
    label: &Label<'_>,
    plot: &Plot,
    area: &DrawingArea<DB, Shift>,
) -> Drawn<DB> {
    let foot = plot.top - LINE_HEIGHT * label.row - 6;
    let line = [(label.at, foot), (label.at, plot.bottom)];
    let colour = label.mark.series.map_or(MARK, colour);
    for dash in dashes(&line, 3.0, 5.0) {
        area.draw(&PathElement::new(dash, colour.stroke_width(2)))?;
    }
    let corners =
        [(label.left - 4, foot - LINE_HEIGHT + 2), (label.left + label.width + 4, foot - 1)];
    area.draw(&Rectangle::new(corners, WHITE.filled()))?;
    let style = style(TEXT_SIZE, HPos::Left, VPos::Bottom).color(&colour);
    area.draw(&Text::new(label.mark.label.clone(), (label.left, foot - 2), style))
}

/// A name of the legend, broken into lines, with the number and the look of its series.
struct Entry {
    series: usize,
    look: Look,
    lines: Vec<String>,
}

/// Returns the entries of the legend. Series without a name or without a point have none.
fn legend(chart: &Chart) -> Vec<Entry> {
    let entry = |(number, series): (usize, &Series)| {
        let seen = !series.name.is_empty() && chart.places(series).flatten().next().is_some();
        seen.then(|| Entry {
            series: number,
            look: series.look,
            lines: broken(&series.name, LEGEND_LETTERS),
        })
    };
    chart.series.iter().enumerate().filter_map(entry).collect()
}

/// Breaks a text between words into lines of at most `letters`, where words allow.
fn broken(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn legend_width(legend: &[Entry]) -> i32 {
    let lines = legend.iter().flat_map(|entry| &entry.lines);
    let widest = lines.map(|line| text_width(line, TEXT_SIZE)).max();
    // An extremely long name must not push the data out of the picture.
    widest.map_or(0, |text| (LEGEND_GAP + KEY_WIDTH + 12 + text).min(WIDTH / 2))
}

fn draw_legend<DB: DrawingBackend>(
    legend: &[Entry],
    area: &DrawingArea<DB, Shift>,
    left: i32,
    top: i32,
) -> Drawn<DB> {
    let mut y = top + LINE_HEIGHT / 2;
    for entry in legend {
        draw_line(entry.look, entry.series, vec![(left, y), (left + KEY_WIDTH, y)], area)?;
        if matches!(entry.look, Look::Joined | Look::Scattered) {
            draw_marker(area, entry.series, (left + KEY_WIDTH / 2, y))?;
        }
        for line in &entry.lines {
            let style = style(TEXT_SIZE, HPos::Left, VPos::Center);
            area.draw(&Text::new(line.clone(), (left + KEY_WIDTH + 12, y), style))?;
            y += LINE_HEIGHT;
        }
        y += LINE_HEIGHT / 4;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Scale};

    #[test]
    fn dashes_have_the_length_asked_for_and_go_round_corners() {
        let dashes = dashes(&[(0, 0), (10, 0), (10, 100)], 20.0, 10.0);
        assert_eq!(dashes[0], [(0, 0), (10, 0), (10, 10)]);
        assert_eq!(dashes[1], [(10, 20), (10, 40)]);
        assert_eq!(*dashes.last().unwrap(), [(10, 80), (10, 100)]);
        assert_eq!(super::dashes(&[(3, 3)], 1.0, 1.0), [] as [Vec<_>; 0]);
    }

    #[test]
    fn wide_numbers_push_the_plot_to_the_right() {
        let room = |most: f64| {
            widest_number(&Axis::new("", Scale::Linear).fitted([0.0, most].into_iter(), 10))
        };
        assert!(room(250_000.0) > room(10.0) + 5 * TEXT_SIZE / 2);
        assert!(room(f64::MAX) <= WIDTH / 4);
    }

    #[test]
    fn long_numbers_have_fewer_ticks() {
        let axis =
            |most: f64, ticks| Axis::new("", Scale::Linear).fitted([0.0, most].into_iter(), ticks);
        assert!(has_room_across(&axis(256.0, 13)));
        assert!(!has_room_across(&axis(200_000.0, 13)));
        assert!(has_room_across(&axis(200_000.0, 6)));
    }

    #[test]
    fn long_names_are_broken_between_words() {
        assert_eq!(broken("one two three", 7), ["one two", "three"]);
        assert_eq!(broken("incomprehensibilities", 7), ["incomprehensibilities"]);
    }

    #[test]
    fn labels_of_near_marks_stand_above_each_other() {
        let marks = vec![Mark::new(2.0, "left"), Mark::new(2.01, "over it"), Mark::new(9.0, "far")];
        let chart = Chart {
            title: String::new(),
            subtitle: String::new(),
            x: Axis::new("", Scale::Linear),
            y: Axis::new("", Scale::Linear),
            series: Vec::new(),
            marks,
        };
        let x = chart.x.fitted([0.0, 10.0].into_iter(), 10);
        let labels = labelled(&chart, &x, &Layout { left: 120, top: 0, right: 1000 });
        assert_eq!(labels.iter().map(|label| label.row).collect::<Vec<_>>(), [0, 1, 0]);
        assert_eq!(rows(&labels), 2);
    }
}
