//! Forms, through the plugin.

use stud_sdk::interaction::{Action, Answer, Payload, Status, ToolInput, UserResponse};
use stud_sdk::{Value, json};

use crate::tests::rig::{Rig, answer};
use form_values::summary;
use stud_sdk::interaction::CompletedView;

fn asks(schema: Value) -> ToolInput {
    let input = json!({"toolCallId": "c1", "toolName": "fx_form", "inputSchema": schema});
    let Payload::ToolInput(input) = Payload::read("ToolInput", input).unwrap() else {
        panic!("not an input");
    };
    *input
}

/// What is submitted after `typed`, and what the screen shows then.
fn filled_in(input: &ToolInput, typed: &str) -> (Value, String) {
    let rig = Rig::new();
    let payload = Payload::from(input.clone());
    let response = rig.gets(payload.clone(), "(.cancel calls it off)", typed);
    let Some(Answer::ToolInput(given)) = answer(&response, &payload) else {
        panic!("{response:?}");
    };
    assert_eq!(given.action, Action::Submit);
    assert_eq!(rig.catches_up(), Vec::<String>::new());
    (given.input.unwrap().into(), rig.notes.text())
}

#[test]
fn every_type_of_field_is_filled_in() {
    let options = json!([{"value": "f", "label": "Free"}, {"value": "p", "label": "Pro"}]);
    let input = asks(json!({
        "title": "Sign up",
        "description": "Takes a minute.",
        "fields": [
            {"id": "name", "type": "text", "label": "Name", "required": true, "placeholder": "as in a passport"},
            {"id": "bio", "type": "textarea", "label": "About you"},
            {"id": "plan", "type": "select", "label": "Plan", "options": options},
            {"id": "also", "type": "radio", "label": "Second", "options": options},
            {"id": "tags", "type": "multiselect", "label": "Tags", "options": options},
            {"id": "age", "type": "number", "label": "Age", "min": 18},
            {"id": "terms", "type": "checkbox", "label": "I agree", "required": true},
            {"id": "news", "type": "boolean", "label": "Send news"},
            {"id": "day", "type": "date", "label": "Day"},
            {"id": "hour", "type": "time", "label": "Hour"},
            {"id": "at", "type": "datetime", "label": "When"},
        ],
    }));
    let typed = "\nAda\none\n\n two\n.\nPro\n1\n1,2\n7\n36\nn\ny\n\n2026-01-31\n12:00\n\n";
    let (given, shown) = filled_in(&input, typed);
    assert_eq!(
        given,
        json!({
            "name": "Ada", "bio": "one\n\n two", "plan": "p", "also": "f", "tags": ["f", "p"], "age": 36,
            "terms": true, "news": false, "day": "2026-01-31", "hour": "12:00", "at": "",
        })
    );
    for line in [
        "? The tool fx_form asks:\n(.cancel calls it off)\nSign up\n  | Takes a minute.\n  Name (required)\n",
        "  | as in a passport\n  > \nthis has to be filled in\n  > ",
        "  Plan\n  1. Free\n  2. Pro\n  (number or text) > ",
        "the least is 18\n",
        "this has to be a yes\n",
    ] {
        assert!(shown.contains(line), "{line:?} is not in {shown:?}");
    }
}

#[test]
fn what_is_left_blank_is_as_a_blank_control_sends_it() {
    let options = json!([{"value": "f", "label": "Free"}]);
    let input = asks(json!({"fields": [
        {"id": "text", "type": "text", "label": "T"},
        {"id": "number", "type": "number", "label": "N"},
        {"id": "select", "type": "select", "label": "S", "options": options},
        {"id": "several", "type": "multiselect", "label": "M", "options": options},
        {"id": "box", "type": "checkbox", "label": "B"},
    ]}));
    let (given, _) = filled_in(&input, "\n\n\n\n\n");
    let expected = json!({"text": "", "number": null, "several": [], "box": false});
    assert_eq!(given, expected);
}

#[test]
fn a_text_of_several_lines_may_begin_like_a_command() {
    let input = asks(json!({"fields": [{"id": "a", "type": "textarea", "label": "A"}]}));
    let (given, _) = filled_in(&input, ".skip\nthis\n.\n");
    assert_eq!(given, json!({"a": ".skip\nthis"}));
}

#[test]
fn a_second_try_starts_from_the_first() {
    let mut input = asks(json!({
        "fields": [
            {"id": "email", "type": "text", "label": "E-mail", "defaultValue": "nobody@example.org", "pattern": "@"},
            {"id": "name", "type": "text", "label": "Name", "defaultValue": "Ada"},
            {"id": "nick", "type": "text", "label": "Nick", "defaultValue": "al"},
            {"id": "count", "type": "number", "label": "Count", "defaultValue": "not a number"},
        ],
        "initialValues": {"email": "ada"},
    }));
    input.error = Some("Invalid email format".into());
    input.field_errors = [("email".to_owned(), "no @ in it".to_owned())].into();
    let (given, shown) = filled_in(&input, "\nada@example.org\n\n.clear\n\n");
    let expected = json!({"email": "ada@example.org", "name": "Ada", "nick": "", "count": null});
    assert_eq!(given, expected);
    let again =
        "! Invalid email format\n  E-mail\n  ! no @ in it\n  [ada] \nthis has to match @\n  [ada] ";
    assert!(shown.contains(again), "{shown}");
}

#[test]
fn a_section_may_be_left_out_as_a_whole() {
    let section = |id: &str, optional: bool| {
        let field = |name: &str| json!({"id": format!("{id}-{name}"), "type": "text", "label": name, "required": true});
        json!({"id": id, "title": id, "optional": optional, "fields": [field("a"), field("b")]})
    };
    let input = asks(
        json!({"sections": [section("what", false), section("more", true), section("last", true)]}),
    );
    let (given, shown) = filled_in(&input, ".skip\n2\n3\n\n.skip\n4\n5\n");
    let expected = json!({"what-a": ".skip", "what-b": "2", "last-a": "4", "last-b": "5"});
    assert_eq!(given, expected);
    let offer = "more\n(This part may be left out: type .skip.)\n  a (required)\n";
    assert!(shown.contains(offer), "{shown}");
}

#[test]
fn a_form_can_be_called_off_at_any_field() {
    let input = asks(json!({"fields": [
        {"id": "a", "type": "text", "label": "A"},
        {"id": "b", "type": "textarea", "label": "B"},
    ]}));
    for typed in [".cancel\n", "x\n .cancel \n", "x\ny\n.cancel\n"] {
        let rig = Rig::new();
        let payload = Payload::from(input.clone());
        let response = rig.gets(payload.clone(), "  A\n", typed);
        assert_eq!(response.status, Status::Accepted);
        let cancelled = Answer::ToolInput(UserResponse::new(Action::Cancel));
        assert_eq!(answer(&response, &payload), Some(cancelled), "{typed:?}");
    }
}

#[test]
fn a_form_that_the_input_leaves_unfinished_is_left_to_others() {
    let input = asks(json!({"fields": [
        {"id": "a", "type": "text", "label": "A"},
        {"id": "b", "type": "text", "label": "B"},
    ]}));
    let mut rig = Rig::new();
    let asked = rig.asks(input);
    rig.notes.wait_for("  A\n");
    rig.types("x\n");
    rig.notes.wait_for("  B\n");
    rig.hangs_up();
    let response = asked.response();
    assert_eq!(response.status, Status::Dismissed);
}

#[test]
fn a_summary_is_shown_as_the_tool_wants_it() {
    let view = |template: &str| CompletedView {
        summary_template: Some(template.to_owned()),
        ..CompletedView::default()
    };
    let values = vec![("plan".to_owned(), json!("Pro"))];
    let filled = |template: &str| summary(Some(&view(template)), "submit", &values);
    assert_eq!(
        filled("{{action}}: {{ plan }}{{other}}.").as_deref(),
        Some("submit: Pro.")
    );
    assert_eq!(filled("{{plan").as_deref(), Some("{{plan"));
    assert_eq!(summary(None, "submit", &values), None);

    let mut input = asks(json!({"fields": [
        {"id": "plan", "type": "radio", "label": "Plan", "options": [{"value": "p", "label": "Pro"}]},
    ]}));
    input.completed_view = Some(view("Chose {{plan}}\u{1b}"));
    let (_, shown) = filled_in(&input, "1\n");
    assert!(shown.contains("\nChose Pro\\u{1b}\n"), "{shown}");
}
