//! What looks like a secret.

/// How a known kind of secret begins, and how many characters follow at least.
struct Shape {
    prefix: &'static str,
    least: usize,
}

const SHAPES: [Shape; 3] = [
    // `sk-ant-…` is one of these.
    Shape {
        prefix: "sk-",
        least: 1,
    },
    Shape {
        prefix: "ghp_",
        least: 1,
    },
    Shape {
        prefix: "AIza",
        least: 20,
    },
];

/// Whether a text contains what looks like a secret.
pub(crate) fn is_in(text: &str) -> bool {
    SHAPES.iter().any(|shape| shape.is_in(text))
}

impl Shape {
    fn is_in(&self, text: &str) -> bool {
        text.match_indices(self.prefix).any(|(at, prefix)| {
            let (before, rest) = text.split_at(at);
            begins_word(before.as_bytes()) && self.fits(&rest[prefix.len()..])
        })
    }

    /// Whether enough follows the prefix, and not dashes alone.
    fn fits(&self, rest: &str) -> bool {
        let run = rest.bytes().take_while(|byte| is_of_token(*byte));
        let (length, letters) = run.fold((0, 0), |(length, letters), byte| {
            (length + 1, letters + usize::from(byte != b'-'))
        });
        length >= self.least && letters > 0
    }
}

/// Whether a word can begin after this: `risk-1` holds no secret, `"sk-1` does.
///
/// JSON inside a text has its line breaks escaped, and there the letter of `\n` belongs to no word.
fn begins_word(before: &[u8]) -> bool {
    match before {
        [.., b'\\', b'b' | b'f' | b'n' | b'r' | b't'] | [] => true,
        [.., last] => !last.is_ascii_alphanumeric(),
    }
}

fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_shape_is_seen() {
        for text in [
            "sk-ant-api03-abc",
            "sk-proj_1",
            "sk-x",
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
            "ghp_a",
            "AIzaSyA-1234567890_abcde",
        ] {
            assert!(is_in(text), "{text}");
        }
    }

    #[test]
    fn it_may_stand_anywhere() {
        for text in [
            "key=sk-ant-1",
            "Bearer sk-abc, and more",
            r#"{"key":"ghp_abc"}"#,
            "é sk-1",
            "ésk-1",
            "first line\nsk-1",
            r"first line\nsk-1",
            "MY_sk-1",
            "task-1, then sk-1",
        ] {
            assert!(is_in(text), "{text}");
        }
    }

    #[test]
    fn words_that_only_contain_a_prefix_are_let_be() {
        for text in [
            "",
            "task-1",
            "disk-usage and risk-based",
            "sk-",
            "sk---",
            "sk-…",
            "sk_1",
            "SK-1",
            "xghp_abc",
            "ghp_",
            "AIza",
            "AIza1234567890123456789",
            "AIza1234567890 1234567890",
            r"C:\task-1",
        ] {
            assert!(!is_in(text), "{text}");
        }
    }

    #[test]
    fn twenty_characters_make_the_long_shape() {
        assert!(!is_in(&format!("AIza{}", "x".repeat(19))));
        assert!(is_in(&format!("AIza{}", "x".repeat(20))));
    }
}
