//! Secrets known by their shape alone: keys of well-known services.

use std::sync::LazyLock;

use regex::Regex;

/// What a text must contain to be looked at more closely.
const PREFIXES: [&str; 3] = ["sk-", "ghp_", "AIza"];

/// The shapes with their names, the more special first.
const SHAPES: [(&str, &str); 4] = [
    (
        "anthropic-api-key",
        r"(?-u:\b)sk-ant-[0-9A-Za-z_-]*[0-9A-Za-z_]",
    ),
    ("openai-api-key", r"(?-u:\b)sk-[0-9A-Za-z_-]*[0-9A-Za-z_]"),
    ("github-pat", r"(?-u:\b)ghp_[0-9A-Za-z_]+"),
    ("google-api-key", r"(?-u:\b)AIza[0-9A-Za-z_-]{20}"),
];

static COMPILED: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    SHAPES
        .iter()
        .filter_map(|(name, pattern)| Some((*name, Regex::new(pattern).ok()?)))
        .collect()
});

/// The name of the first shape of a secret in the text, such as `github-pat`.
pub fn shape_of(text: &str) -> Option<&'static str> {
    // Almost every text ends here.
    if !PREFIXES.iter().any(|prefix| text.contains(prefix)) {
        return None;
    }
    COMPILED
        .iter()
        .find(|(_, shape)| shape.is_match(text))
        .map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_compiles() {
        assert_eq!(COMPILED.len(), SHAPES.len());
    }

    #[test]
    fn keys_are_told_by_their_shape() {
        let check = |text: &str, shape: Option<&str>| assert_eq!(shape_of(text), shape, "{text}");
        check("key sk-ant-api03-x_Y-9 end", Some("anthropic-api-key"));
        check("sk-proj-abc123", Some("openai-api-key"));
        check("(ghp_16C7e42F292c6912E7)", Some("github-pat"));
        check("AIzaSyA-1234567890_abcdefgh", Some("google-api-key"));
        check("AIzaSyA-12345678", None);
        check("a task-list and a disk-image", None);
        check("sk- and ghp_ and sk--", None);
        check("xghp_1234", None);
        check("nothing", None);
    }
}
