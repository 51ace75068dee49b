use super::*;

fn says(role: Role, text: &str) -> Message {
    Message {
        role,
        content: text.into(),
    }
}

fn returns(contents: &[&str]) -> Message {
    let parts = contents.iter().map(|content| Part::ToolResult {
        tool_call_id: "c".to_owned(),
        tool_name: "t".to_owned(),
        content: (*content).to_owned(),
    });
    Message {
        role: Role::Tool,
        content: parts.collect::<Vec<_>>().into(),
    }
}

fn check(system: Option<&str>, messages: Vec<Message>, text: &str, results: &[&str]) {
    let request = Request {
        system: system.map(str::to_owned),
        messages,
        ..Request::default()
    };
    let expected = Cue {
        text: text.to_owned(),
        results: results.to_vec(),
    };
    assert_eq!(Cue::find(&request), expected);
}

#[test]
fn the_last_user_message_counts() {
    let messages = vec![
        says(Role::User, "one"),
        returns(&["old"]),
        says(Role::Assistant, "RESULT old"),
        says(Role::User, "two"),
    ];
    check(Some("!tool x {}"), messages, "two", &[]);
}

#[test]
fn results_since_then_are_counted() {
    let messages = vec![
        says(Role::User, "go"),
        says(Role::Assistant, ""),
        returns(&["a", "b"]),
        says(Role::Assistant, ""),
        says(Role::Tool, "c"),
    ];
    check(None, messages, "go", &["a", "b", "c"]);
}

#[test]
fn without_a_user_the_session_speaks() {
    let body = "# Stage\n\nDo it.\n!seq [[\"a\",{}]]\n\n";
    let line = "!seq [[\"a\",{}]]";
    check(Some(body), vec![returns(&["a"])], line, &["a"]);
    let messages = vec![
        says(Role::System, "!tool old {}"),
        returns(&["old"]),
        says(Role::System, body),
        returns(&["new"]),
    ];
    check(Some("!tool x {}"), messages, line, &["new"]);
}

#[test]
fn an_empty_request_says_nothing() {
    check(None, Vec::new(), "", &[]);
}

#[test]
fn compact_json_keeps_order_and_texts() {
    let cases = [
        (
            "{ \"ok\" : false ,\n \"error\" : \"a \\\" b\\\\\" , \"b\": 1.0 }",
            "{\"ok\":false,\"error\":\"a \\\" b\\\\\",\"b\":1.0}",
        ),
        ("{\"ok\":true}", "{\"ok\":true}"),
        ("not  json", "not  json"),
        ("", ""),
    ];
    for (text, compacted) in cases {
        assert_eq!(compact(text), compacted);
    }
}

#[test]
fn every_message_has_its_price() {
    let request = Request {
        system: Some("be brief".to_owned()),
        messages: vec![says(Role::User, "one two"), returns(&["three"])],
        ..Request::default()
    };
    assert_eq!(size(&request), 5);
}
