//! Numbers as comma separated values (RFC 4180), for spreadsheets and plotting programs.

/// Formats a header and its rows as CSV text, one line each.
///
/// A field with a comma, a quote or a line end in it is quoted; all others stand as they are.
///
/// ```
/// use throng_papers::csv::csv;
/// let rows = vec![vec!["8".to_owned(), "tree, deep".to_owned()]];
/// assert_eq!(csv(&["processors", "method"], &rows), "processors,method\n8,\"tree, deep\"\n");
/// ```
pub fn csv(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = line(header.iter().copied());
    for row in rows {
        text.push_str(&line(row.iter().map(String::as_str)));
    }
    text
}

fn line<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    let fields: Vec<String> = fields.map(field).collect();
    format!("{}\n", fields.join(","))
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_quotes_is_quoted() {
        assert_eq!(field("plain text 1.5"), "plain text 1.5");
        assert_eq!(field("a,b"), "\"a,b\"");
        assert_eq!(field("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(field("two\nlines"), "\"two\nlines\"");
    }

    #[test]
    fn a_header_alone_is_a_file_without_rows() {
        assert_eq!(csv(&["a", "b"], &[]), "a,b\n");
    }
}
