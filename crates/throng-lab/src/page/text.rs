//! Common parts of the page: escaped text, numbers, the template.

use serde::Serialize;
use throng_papers::numbers::short;

/// Shown where there is no number.
pub(super) const NONE: &str = "–";

/// Escapes a text for HTML, between tags and in attributes.
pub(super) fn escaped(text: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => harmless.push_str("&amp;"),
            '<' => harmless.push_str("&lt;"),
            '>' => harmless.push_str("&gt;"),
            '"' => harmless.push_str("&quot;"),
            '\'' => harmless.push_str("&#39;"),
            _ => harmless.push(c),
        }
    }
    harmless
}

/// Returns JSON that is safe in a script element: it cannot end it, nor begin a comment or another
/// script.
pub(super) fn json_for_script(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).expect("numbers and texts can always be written");
    json.replace('<', "\\u003c")
}

/// Fills the template's placeholders, which look like `{{name}}`. Parts are inserted as they are: a
/// placeholder inside a part is not filled.
pub(super) fn filled(template: &str, parts: &[(&str, String)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("every place of the template has an end");
        let part = parts.iter().find(|(of, _)| *of == name);
        page.push_str(before);
        page.push_str(&part.expect("every place of the template has a part").1);
        rest = after;
    }
    page + rest
}

/// Formats a number exactly as in the JSON.
pub(super) fn exact(number: f64) -> String {
    if number.is_finite() {
        serde_json::to_string(&number).unwrap_or_else(|_| NONE.to_owned())
    } else {
        NONE.to_owned()
    }
}

/// Formats a number with about three digits.
pub(super) fn rough(number: f64) -> String {
    if number.is_finite() { short(number) } else { NONE.to_owned() }
}

/// Formats a factor as in "2.31×".
pub(super) fn times(factor: f64) -> String {
    if factor.is_finite() { format!("{}×", short(factor)) } else { NONE.to_owned() }
}

/// Returns the median of the finite numbers, the smaller middle one of an even count, or `None`
/// where there are none.
pub(super) fn median(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = numbers.into_iter().filter(|number| number.is_finite()).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_does_no_harm() {
        assert_eq!(escaped(r#"<b a="1" b='2'>&"#), "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;");
        let json = json_for_script(&"</script><!-- <script>");
        assert!(!json.contains('<'), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), "</script><!-- <script>");
    }

    #[test]
    fn parts_are_put_in_their_places_and_not_read_again() {
        let parts = [("a", "{{b}}".to_owned()), ("b", "x".to_owned())];
        assert_eq!(filled("1 {{a}} 2 {{b}} 3 {{a}}", &parts), "1 {{b}} 2 x 3 {{b}}");
    }

    #[test]
    fn numbers_that_are_none_are_dashes() {
        assert_eq!([f64::NAN, f64::INFINITY, 0.1].map(exact), [NONE, NONE, "0.1"]);
        assert_eq!([f64::NAN, 1234.5].map(rough), [NONE, "1 235"]);
        assert_eq!([f64::NAN, 2.314, 0.5].map(times), [NONE, "2.31×", "0.50×"]);
        assert_eq!(median([f64::NAN, 3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([f64::NAN]), None);
    }
}
