//! Colours and markers of the series.

use plotters::coord::Shift;
use plotters::prelude::*;

/// The palette of Okabe and Ito, whose colours stay distinct with the usual kinds of colour
/// blindness. Grey replaces its yellow, which is too faint on white.
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

/// Returns the colour of the series of this number.
pub(super) const fn colour(series: usize) -> RGBColor {
    COLOURS[series % COLOURS.len()]
}

/// Shapes that stay distinct in print without colours, and on a line of their own colour. One fewer
/// than colours, so that a series beyond the last colour has another marker than the first of its
/// colour.
const MARKERS: [Marker; 7] = [
    Marker::Disc,
    Marker::OpenSquare,
    Marker::Triangle,
    Marker::Ring,
    Marker::Diamond,
    Marker::Square,
    Marker::OpenTriangle,
];

#[derive(Clone, Copy)]
enum Marker {
    Disc,
    OpenSquare,
    Triangle,
    Ring,
    Diamond,
    Square,
    OpenTriangle,
}

/// Half the width of a marker, in pixels.
const RADIUS: i32 = 7;
/// The width of a line, in pixels.
pub(super) const STROKE: u32 = 3;

/// The result of drawing onto an area.
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
    let square = [(x - r + 1, y - r + 1), (x + r - 1, y + r - 1)];
    let triangle = vec![(x, y - r - 1), (x + r, y + r), (x - r, y + r)];
    match MARKERS[series % MARKERS.len()] {
        Marker::Disc => area.draw(&Circle::new(at, r, colour.filled())),
        Marker::Square => area.draw(&Rectangle::new(square, colour.filled())),
        Marker::OpenSquare => {
            area.draw(&Rectangle::new(square, WHITE.filled()))?;
            area.draw(&Rectangle::new(square, line))
        }
        Marker::Triangle => area.draw(&Polygon::new(triangle, colour.filled())),
        Marker::OpenTriangle => {
            area.draw(&Polygon::new(triangle.clone(), WHITE.filled()))?;
            let around = triangle.iter().chain(&triangle[..2]).copied();
            area.draw(&PathElement::new(around.collect::<Vec<_>>(), line))
        }
        Marker::Diamond => {
            let r = r + 2;
            let corners = vec![(x, y - r), (x + r, y), (x, y + r), (x - r, y)];
            area.draw(&Polygon::new(corners, colour.filled()))
        }
        Marker::Ring => {
            area.draw(&Circle::new(at, r, WHITE.filled()))?;
            area.draw(&Circle::new(at, r, line))
        }
    }
}
