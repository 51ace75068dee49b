//! One JSON object on one line.

use std::fmt::Write as _;

use crate::Diagnostic;
use crate::printable::is_hostile;

/// One object for a program, without a line break at its end.
///
/// Characters that could steer a terminal are written as JSON escapes: the same value to a
/// parser, harmless to a person who runs the command by hand.
pub fn json(diagnostic: &Diagnostic) -> String {
    let text = serde_json::to_string(diagnostic).unwrap_or_default();
    if !text.chars().any(is_hostile) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_hostile(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a `String` cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::json;
    use crate::{Diagnostic, Stage, codes};

    #[test]
    fn absent_members_are_left_out() {
        let diagnostic = Diagnostic::error(&codes::MANIFEST_EMPTY, "the manifest is empty");
        assert_eq!(
            json(&diagnostic),
            concat!(
                r#"{"class":"Validation","code":"ManifestEmpty","message":"the manifest is empty","#,
                r#""context":{},"help":["stud explain Validation/ManifestEmpty"],"severity":"error"}"#
            )
        );
    }

    #[test]
    fn members_come_in_the_documented_order() {
        let diagnostic = Diagnostic::warning(&codes::UI_ROLE_HANDLER_MISSING, "no handler")
            .at(Stage::Category)
            .of("ask-line")
            .field("/roles/1")
            .with("role", "interactor")
            .with("index", 1)
            .note("a note")
            .help("drop the role")
            .file("ui/x.so");
        assert_eq!(
            json(&diagnostic),
            concat!(
                r#"{"class":"Validation","code":"UIRoleHandlerMissing","stage":"category","#,
                r#""extId":"ask-line","fieldPath":"/roles/1","message":"no handler","#,
                r#""context":{"index":1,"role":"interactor"},"#,
                r#""help":["drop the role","stud explain Validation/UIRoleHandlerMissing"],"#,
                r#""severity":"warning","notes":["a note"],"path":"ui/x.so"}"#
            )
        );
    }

    #[test]
    fn hostile_text_is_escaped_and_reads_back() {
        let hostile = "a\u{1b}\n\u{202e}\u{9b}\u{e0041}b";
        let text = json(&Diagnostic::error(&codes::SHAPE_INVALID, hostile));
        assert!(
            text.contains(r"a\u001b\n\u202e\u009b\udb40\udc41b"),
            "{text}"
        );
        let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(value["message"], hostile);
    }
}
