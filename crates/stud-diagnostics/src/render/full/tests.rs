use serde_json::json;

use super::{Color, full};
use crate::{Diagnostic, Source, Stage, codes};

fn check(diagnostic: &Diagnostic, expected: &str) {
    let shown = full(diagnostic, Color::Off);
    assert_eq!(shown, expected.trim_start_matches('\n'), "\n{shown}");
}

#[test]
fn a_manifest_is_shown_at_the_field() {
    let manifest = json!({
        "extId": "ask-line",
        "handlers": ["onEvent"],
        "roles": ["subscriber", "interactor"],
    });
    let places = [
        ("/roles/1", "this role"),
        ("/handlers", "has no `onInteraction` here"),
    ];
    let source = Source::of_json_at("libask_line.so#manifest", &manifest, &places);
    let headline = "role `interactor` has no handler";
    let diagnostic = Diagnostic::error(&codes::UI_ROLE_HANDLER_MISSING, headline)
        .at(Stage::Category)
        .of("ask-line")
        .field("/roles/1")
        .note("none of its code ran")
        .help("implement `Interactor`, or drop the role")
        .excerpt(source);
    check(
        &diagnostic,
        r#"
error[Validation/UIRoleHandlerMissing]: role `interactor` has no handler
 --> libask_line.so#manifest:8:5
  |
1 | {
2 |   "extId": "ask-line",
3 |   "handlers": [
  |   ------------- has no `onInteraction` here
4 |     "onEvent"
5 |   ],
6 |   "roles": [
7 |     "subscriber",
8 |     "interactor"
  |     ^^^^^^^^^^^^ this role
9 |   ]
  |
  = note: plugin `ask-line`, stage `category`, field `/roles/1`
  = note: none of its code ran
  = help: implement `Interactor`, or drop the role
  = help: stud explain Validation/UIRoleHandlerMissing"#,
    );
}

#[test]
fn far_places_are_shown_apart_and_the_primary_one_first() {
    let list = vec![7; 100];
    let places = [("/60", "this one"), ("/30", "like that one")];
    let diagnostic = Diagnostic::warning(&codes::SETTINGS_SHAPE_INVALID, "seven again")
        .excerpt(Source::of_json_at("list.json", json!(list), &places));
    check(
        &diagnostic,
        "
warning[Validation/SettingsShapeInvalid]: seven again
  --> list.json:62:3
   |
60 |   7,
61 |   7,
62 |   7,
   |   ^ this one
63 |   7,
   |
  ::: list.json:32:3
   |
30 |   7,
31 |   7,
32 |   7,
   |   - like that one
33 |   7,
   |
   = help: stud explain Validation/SettingsShapeInvalid",
    );
}

#[test]
fn a_file_alone_is_named() {
    let diagnostic =
        Diagnostic::error(&codes::MANIFEST_MISSING, "no manifest").file("ui/libx\u{1b}.so");
    check(
        &diagnostic,
        r"
error[Validation/ManifestMissing]: no manifest
--> ui/libx\u{1b}.so
 = help: stud explain Validation/ManifestMissing",
    );
}

#[test]
fn hostile_text_is_written_out_and_still_pointed_at() {
    let text = "{\n  \"a\": \"\u{202e}x\"\n}";
    let source = Source::of_json_file("evil\u{1b}[2J.json", text, "/a").saying("a\nb");
    let diagnostic = Diagnostic::error(&codes::SHAPE_INVALID, "one\n= help: two")
        .note("\u{2066}three")
        .help("\u{feff}four")
        .excerpt(source);
    check(
        &diagnostic,
        r#"
error[Validation/ShapeInvalid]: one\n= help: two
 --> evil\u{1b}[2J.json:2:8
  |
1 | {
2 |   "a": "\u{202e}x"
  |        ^^^^^^^^^^^ a\nb
3 | }
  |
  = note: \u{2066}three
  = help: \u{feff}four
  = help: stud explain Validation/ShapeInvalid"#,
    );
}

#[test]
fn long_lines_and_long_values_stay_narrow() {
    let long = "x".repeat(100_000);
    let text = format!("{long}\n{long}\"{long}\"\n{long}");
    let source = Source::new("long", &text, 200_001..300_000).saying("here");
    let diagnostic = Diagnostic::error(&codes::MANIFEST_MALFORMED, long.clone()).excerpt(source);
    for line in full(&diagnostic, Color::Off).lines().skip(1) {
        assert!(line.chars().count() < 160, "{line}");
    }
    let manifest = json!({ "name": long });
    let source = Source::of_json("long", &manifest, "/name").saying("here");
    let diagnostic = Diagnostic::error(&codes::SHAPE_INVALID, "long").excerpt(source);
    let shown = full(&diagnostic, Color::Off);
    assert!(
        shown.lines().all(|line| line.chars().count() < 160),
        "{shown}"
    );
}

#[test]
fn empty_and_ended_texts_are_survived() {
    let cases = [
        ("", 0..0),
        ("{\n", 2..2),
        ("\n\n", 1..2),
        ("é", 1..2),
        ("{\r\n}", 2..3),
    ];
    for (text, range) in cases {
        let source = Source::new("x", text, range).saying("ends here");
        let diagnostic = Diagnostic::error(&codes::MANIFEST_MALFORMED, "cut").excerpt(source);
        let shown = full(&diagnostic, Color::Off);
        assert!(shown.contains("ends here"), "{shown}");
        assert!(!shown.contains("\\r"), "{shown}");
    }
}

#[test]
fn color_is_asked_for() {
    let diagnostic = Diagnostic::error(&codes::SHAPE_INVALID, "plain");
    assert!(!full(&diagnostic, Color::default()).contains('\u{1b}'));
    assert!(full(&diagnostic, Color::On).contains('\u{1b}'));
}
