//! Colours and markers of the series.

use plotters::coord::Shift;
use plotters::prelude::*;

/// The palette of Okabe and Ito, which readers with any of the usual kinds of colour blindness can
/// tell apart; grey in the place of its yellow, which is too faint on white.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xB2), // blue
    RGBColor(0xD5, 0x5E, 0x00), // vermilion
    RGBColor(0x00, 0x9E, 0x73), // bluish green
    RGBColor(0xCC, 0x79, 0xA7), // reddish purple
    RGBColor(0xE6, 0x9F, 0x00), // orange
    RGBColor(0x56, 0xB4, 0xE9), // sky blue
    RGBColor(0x00, 0x00, 0x00), // black
    RGBColor(0x80, 0x80, 0x80), // grey
];

/// The colour of the series of this number.
pub(super) const fn colour(series: usize) -> RGBColor {
    COLOURS[series % COLOURS.len()]
}

/// Shapes that stay apart in print without colours. One fewer than colours: a series beyond the
/// last colour has another marker than the first of its colour.
const MARKERS: [Marker; 7] = [
    Marker::Disc,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Cross,
    Marker::Ring,
    Marker::Plus,
];

#[derive(Clone, Copy)]
enum Marker {
    Disc,
    Square,
    Triangle,
    Diamond,
    Cross,
    Ring,
    Plus,
}

/// Half the width of a marker, in pixels.
const RADIUS: i32 = 6;
/// The width of a line, in pixels.
pub(super) const STROKE: u32 = 3;

/// What drawing onto an area can give.
pub(super) type Drawn<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

/// Draws the marker of the series of this number.
pub(super) fn draw_marker<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    series: usize,
    at: (i32, i32),
) -> Drawn<DB> {
    let colour = colour(series);
    let (x, y) = at;
    let r = RADIUS;
    let line = colour.stroke_width(STROKE);
    match MARKERS[series % MARKERS.len()] {
        Marker::Disc => area.draw(&Circle::new(at, r, colour.filled())),
        Marker::Square => {
            let r = r - 1;
            area.draw(&Rectangle::new([(x - r, y - r), (x + r, y + r)], colour.filled()))
        }
        Marker::Triangle => area.draw(&Polygon::new(
            vec![(x, y - r - 1), (x + r, y + r), (x - r, y + r)],
            colour.filled(),
        )),
        Marker::Diamond => {
            let r = r + 1;
            let corners = vec![(x, y - r), (x + r, y), (x, y + r), (x - r, y)];
            area.draw(&Polygon::new(corners, colour.filled()))
        }
        Marker::Cross => {
            area.draw(&PathElement::new(vec![(x - r, y - r), (x + r, y + r)], line))?;
            area.draw(&PathElement::new(vec![(x - r, y + r), (x + r, y - r)], line))
        }
        Marker::Ring => {
            area.draw(&Circle::new(at, r, WHITE.filled()))?;
            area.draw(&Circle::new(at, r, line))
        }
        Marker::Plus => {
            area.draw(&PathElement::new(vec![(x - r, y), (x + r, y)], line))?;
            area.draw(&PathElement::new(vec![(x, y - r), (x, y + r)], line))
        }
    }
}
