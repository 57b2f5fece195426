//! Text in aligned columns.

/// To which side of its column a text keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Blanks between two columns.
const GAP: usize = 2;

/// Sets `rows` in columns as wide as their widest text; `aligns` has one entry a column.
///
/// ```
/// use throng_papers::table::{Align::{Left, Right}, aligned};
/// let rows = [vec!["one".to_owned(), "1".to_owned()], vec!["twelve".to_owned(), "12".to_owned()]];
/// assert_eq!(aligned(&rows, &[Left, Right]), "one      1\ntwelve  12\n");
/// ```
pub fn aligned(rows: &[Vec<String>], aligns: &[Align]) -> String {
    let widths: Vec<usize> = (0..aligns.len()).map(|column| column_width(rows, column)).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .zip(aligns)
            .map(|((cell, &width), align)| match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            })
            .collect();
        text.push_str(cells.join(&" ".repeat(GAP)).trim_end());
        text.push('\n');
    }
    text
}

fn column_width(rows: &[Vec<String>], column: usize) -> usize {
    rows.iter()
        .filter_map(|row| row.get(column))
        .map(|cell| cell.chars().count())
        .max()
        .unwrap_or(0)
}
