//! The body of a stage: text with places for the context.

use serde_json::Value;

use crate::context::StageContext;

/// The names a body refers to as `{{ctx.name}}`, each once, in the order they first appear.
///
/// A name is made of ASCII letters, digits and `_`; spaces inside the braces do not matter.
/// Braces around anything else are text.
///
/// ```
/// use stud_contract_state_machine::ctx_references;
///
/// assert_eq!(ctx_references("{{ctx.goal}} by {{ ctx.due }}, {{ctx.goal}}; {{env.HOME}}"), ["goal", "due"]);
/// ```
pub fn ctx_references(body: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for piece in pieces(body) {
        if let Piece::Reference(name) = piece
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_owned());
        }
    }
    names
}

/// The body with the context's values in their places.
///
/// A text goes in as it is, a number or truth value as its word, anything else as JSON.
/// A name without a value, or with `null`, leaves nothing.
/// What is put in is not looked at again, so a value cannot refer to another.
pub fn render(body: &str, context: &StageContext) -> String {
    let mut rendered = String::with_capacity(body.len());
    for piece in pieces(body) {
        match piece {
            Piece::Text(text) => rendered.push_str(text),
            Piece::Reference(name) => match context.get(name) {
                None | Some(Value::Null) => {}
                Some(Value::String(text)) => rendered.push_str(text),
                Some(value) => rendered.push_str(&value.to_string()),
            },
        }
    }
    rendered
}

enum Piece<'a> {
    Text(&'a str),
    Reference(&'a str),
}

/// Takes a body apart, so that finding references and filling them in cannot disagree.
fn pieces(mut rest: &str) -> impl Iterator<Item = Piece<'_>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((name, after)) = reference(rest) {
            rest = after;
            return Some(Piece::Reference(name));
        }
        // What opens here is no reference, so the next one can only open further on.
        let skip = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[skip..].find("{{").map_or(rest.len(), |at| skip + at);
        let (text, after) = rest.split_at(end);
        rest = after;
        Some(Piece::Text(text))
    })
}

/// The name of the reference a text begins with, and what comes after it.
fn reference(text: &str) -> Option<(&str, &str)> {
    let (inside, after) = text.strip_prefix("{{")?.split_once("}}")?;
    let name = inside.trim_matches(' ').strip_prefix("ctx.")?;
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_distinct_and_in_order() {
        for (body, names) in [
            ("", vec![]),
            ("no braces", vec![]),
            ("{{ctx.b}}{{ctx.a}}{{ctx.b}}", vec!["b", "a"]),
            ("{{ ctx.a_1 }}", vec!["a_1"]),
            ("{{{ctx.a}}}", vec!["a"]),
            ("é{{ctx.a}}é", vec!["a"]),
            ("{{ {{ctx.a}}", vec!["a"]),
        ] {
            assert_eq!(ctx_references(body), names, "{body}");
        }
    }

    #[test]
    fn other_braces_are_text() {
        for body in [
            "{{env.HOME}}",
            "{{ctx.}}",
            "{{ctx.a.b}}",
            "{{ctx.a-b}}",
            "{{ctx.é}}",
            "{{ctx. a}}",
            "{{ctx.a}",
            "{ctx.a}",
            "${ctx.a}",
            "{{",
            "}}",
        ] {
            assert_eq!(ctx_references(body), Vec::<String>::new(), "{body}");
            assert_eq!(render(body, &StageContext::default()), body);
        }
    }

    #[test]
    fn values_take_the_place_of_their_names() {
        let mut context = StageContext::default();
        context.set("text", "a {{ctx.n}}");
        context.set("n", 3);
        context.set("yes", true);
        context.set("null", Value::Null);
        context.set("list", json!([1, "b"]));
        for (body, expected) in [
            ("<{{ctx.text}}>", "<a {{ctx.n}}>"),
            ("{{ctx.n}}/{{ ctx.yes }}", "3/true"),
            ("{{ctx.null}}{{ctx.missing}}.", "."),
            ("{{ctx.list}}", "[1,\"b\"]"),
            ("{{{ctx.n}}}", "{3}"),
        ] {
            assert_eq!(render(body, &context), expected, "{body}");
        }
    }
}
