//! Writes the figures of the papers.

use std::fmt::Write as _;

use super::Figure;
use super::text::escaped;

/// Returns every figure with its claims, collapsed.
pub(super) fn section(figures: &[Figure]) -> String {
    if figures.is_empty() {
        return String::new();
    }
    let mut text = "<section id=\"gallery\" aria-labelledby=\"gallery-title\">\n\
                    <h2 id=\"gallery-title\">The papers, made again</h2>\n\
                    <p>The structures come from papers of 1993 to 2007. Their figures were reproduced on simulated \
                    machines, and some new ones added. Below each are its claims, and whether they hold.</p>\n"
        .to_owned();
    for figure in figures {
        let (id, title) = (escaped(&figure.id), escaped(&figure.title));
        let _ = write!(
            text,
            "<details class=\"figure\">\n<summary><b>{id}</b> {title}</summary>\n\
             <img loading=\"lazy\" width=\"1280\" height=\"800\" alt=\"{id}: {title}\" src=\"{}\">\n<ul>\n",
            picture(&figure.svg),
        );
        for claim in &figure.claims {
            let _ = writeln!(text, "<li>{}</li>", escaped(claim));
        }
        text.push_str("</ul>\n</details>\n");
    }
    text + "</section>"
}

/// Returns a drawing as the address of a picture. As such it can run nothing and load nothing.
fn picture(svg: &str) -> String {
    let mut address = "data:image/svg+xml,".to_owned();
    for c in svg.chars() {
        match c {
            '\n' | '\r' | '\t' => address.push(' '),
            '%' | '#' | '"' | '\'' | '<' | '>' | '&' | '\\' | '^' | '`' | '{' | '|' | '}' => {
                let _ = write!(address, "%{:02X}", c as u32);
            }
            _ => address.push(c),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_cannot_leave_its_address() {
        let svg = "<svg fill=\"#fff\">\n'100%'&amp;</svg>";
        assert_eq!(
            picture(svg),
            "data:image/svg+xml,%3Csvg fill=%22%23fff%22%3E %27100%25%27%26amp;%3C/svg%3E"
        );
    }
}
