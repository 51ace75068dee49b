use serde_json::json;

use super::*;

fn knowing(secrets: &[&str]) -> Redactor {
    let redactor = Redactor::new();
    for secret in secrets {
        redactor.learn_text(secret);
    }
    redactor
}

fn redacted(redactor: &Redactor, mut value: Value) -> Value {
    redactor.redact(&mut value);
    value
}

fn for_record(redactor: &Redactor, payload: Value) -> Value {
    let Value::Object(mut payload) = payload else {
        panic!("a payload is an object");
    };
    redactor.for_record(&mut payload);
    Value::Object(payload)
}

#[test]
fn every_occurrence_goes() {
    let redactor = knowing(&["super-secret", "other-one"]);
    let check = |text: &str, kept: &str| assert_eq!(redactor.text(text), kept);
    check(
        "a super-secret, again super-secret",
        "a [REDACTED], again [REDACTED]",
    );
    check("super-secretother-one", "[REDACTED][REDACTED]");
    check("é super-secret 工", "é [REDACTED] 工");
    check("super-secre", "super-secre");
    assert!(matches!(redactor.text("nothing here"), Cow::Borrowed(_)));
}

#[test]
fn no_part_of_an_overlapping_secret_stays() {
    let redactor = knowing(&["abcd1234", "1234zzzz", "d12", "cd1234zz", "abcd"]);
    assert_eq!(redactor.text("<abcd1234zzzz>"), "<[REDACTED]>");
    assert_eq!(
        redactor.text("<abcd-abcd123>"),
        "<[REDACTED]-[REDACTED]123>"
    );
    let redactor = knowing(&["aaaa"]);
    assert_eq!(redactor.text("aaaaaaa"), "[REDACTED]");
}

#[test]
fn a_secret_is_found_as_json_text_writes_it() {
    let secret = "pa\"ss\\wo\nrd";
    let redactor = knowing(&[secret]);
    let once = json!({ "token": secret }).to_string();
    let twice = json!({ "body": once }).to_string();
    let thrice = json!({ "body": twice }).to_string();
    for text in [&once, &twice, &thrice] {
        let kept = redactor.text(text);
        assert!(kept.contains(REDACTED) && !kept.contains("ss"), "{kept}");
        assert_eq!(redactor.json(text), kept);
    }
    let nested = redacted(&redactor, json!({ "arguments": once }));
    assert_eq!(nested, json!({ "arguments": r#"{"token":"[REDACTED]"}"# }));
}

#[test]
fn values_nobody_can_keep_secret_are_not_learned() {
    let redactor = knowing(&["", "1", "yes", "true", "false", "null"]);
    let text = "1 yes true false null";
    assert_eq!(redactor.text(text), text);
    assert_eq!(format!("{redactor:?}"), "Redactor { learned: 0, .. }");
    redactor.learn_text("1234");
    redactor.learn(&SecretString::from("1234"));
    assert_eq!(redactor.text("pin 1234"), "pin [REDACTED]");
    assert_eq!(format!("{redactor:?}"), "Redactor { learned: 1, .. }");
}

#[test]
fn a_value_is_redacted_everywhere_and_only_in_text() {
    let redactor = knowing(&["super-secret", "4200"]);
    let value = json!({
        "list": ["clean", "super-secret", {"deep": "x super-secret"}],
        "super-secret": 1,
        "a super-secret": 2,
        "number": 4200,
        "flag": true,
        "nothing": null,
        "ref": {"kind": "env", "name": "MY_KEY"},
    });
    assert_eq!(
        redacted(&redactor, value),
        json!({
            "list": ["clean", "[REDACTED]", {"deep": "x [REDACTED]"}],
            "[REDACTED]": 1,
            "a [REDACTED]": 2,
            "number": 4200,
            "flag": true,
            "nothing": null,
            "ref": {"kind": "env", "name": "MY_KEY"},
        })
    );
}

#[test]
fn members_that_get_the_same_name_are_all_kept() {
    let redactor = knowing(&["first-secret", "other-secret"]);
    let value = json!({"first-secret": 1, "other-secret": 2, "[REDACTED]": 0});
    let members = redacted(&redactor, value);
    assert_eq!(
        members,
        json!({"[REDACTED]": 0, "[REDACTED]#2": 1, "[REDACTED]#3": 2})
    );
}

#[test]
fn json_text_stays_json() {
    let redactor = knowing(&["4200", "secret"]);
    let text = r#"{"n":4200,"s":"a 4200","secret":[]}"#;
    let kept: Value = serde_json::from_str(&redactor.json(text)).unwrap();
    assert_eq!(
        kept,
        json!({"n": 4200, "s": "a [REDACTED]", "[REDACTED]": []})
    );
    assert!(matches!(redactor.json("{}"), Cow::Borrowed(_)));
    assert_eq!(redactor.json("no json, a secret"), "no json, a [REDACTED]");
}

#[test]
fn depth_does_not_matter() {
    let mut value = json!("super-secret");
    for _ in 0..3000 {
        value = Value::Array(vec![value]);
    }
    let mut value = redacted(&knowing(&["super-secret"]), value);
    for _ in 0..3000 {
        value = value[0].take();
    }
    assert_eq!(value, "[REDACTED]");
}

#[test]
fn a_record_loses_whole_texts_that_look_like_keys() {
    let payload = json!({
        "a": "the key is sk-ant-api03-abc, keep it",
        "b": ["sk-proj-1", "ghp_abcdef", "AIzaSyA-1234567890_abcdefgh", "a task-list"],
        "ghp_abcdef": "name",
    });
    assert_eq!(
        for_record(&Redactor::new(), payload),
        json!({
            "a": "[REDACTED]",
            "b": ["[REDACTED]", "[REDACTED]", "[REDACTED]", "a task-list"],
            "[REDACTED]": "name",
        })
    );
    // The transcript keeps what a person typed.
    assert_eq!(Redactor::new().text("sk-proj-1"), "sk-proj-1");
}

#[test]
fn a_record_names_references() {
    let redactor = knowing(&["super-secret"]);
    let payload = json!({
        "key": {"kind": "keyring", "name": "sk-main:apiKey:17"},
        "list": [{"kind": "env", "name": "API_KEY"}, {"kind": "file", "name": "/run/key"}],
        "posing": {"kind": "env", "name": "super-secret"},
        "other": {"kind": "file", "name": "main.rs", "size": 3},
        "unknown": {"kind": "vault", "name": "x"},
    });
    assert_eq!(
        for_record(&redactor, payload),
        json!({
            "key": "<ref:sk-main:apiKey:17>",
            "list": ["<ref:API_KEY>", "<ref:/run/key>"],
            "posing": "<ref:[REDACTED]>",
            "other": {"kind": "file", "name": "main.rs", "size": 3},
            "unknown": {"kind": "vault", "name": "x"},
        })
    );
}

#[test]
fn a_long_text_is_cut_on_a_character_and_says_so() {
    let redactor = Redactor::new();
    let fits = "x".repeat(LONGEST_TEXT);
    assert_eq!(redactor.text_for_record(&fits), fits);
    for total in [LONGEST_TEXT + 2, 70_000, 300_000] {
        let long = "é".repeat(total / 2);
        let cut = redactor.text_for_record(&long).into_owned();
        let (kept, remark) = cut.split_once('…').unwrap();
        assert!(cut.len() <= LONGEST_TEXT && long.starts_with(kept));
        assert_eq!(
            remark,
            format!("[cut {} of {total} bytes]", total - kept.len())
        );
        assert_eq!(redactor.text_for_record(&cut), cut);
    }
}

#[test]
fn a_secret_at_the_cut_does_not_stay_in_part() {
    let redactor = knowing(&["super-secret"]);
    for before in LONGEST_TEXT - 60..LONGEST_TEXT {
        let long = format!("{}super-secret{}", "x".repeat(before), "y".repeat(1000));
        assert!(
            !redactor.text_for_record(&long).contains("super"),
            "{before}"
        );
    }
}

#[test]
fn a_record_can_be_read_back_whatever_is_in_it() {
    let mut deep = json!("bottom");
    for _ in 0..3000 {
        deep = Value::Object(Map::from_iter([("a".to_owned(), deep)]));
    }
    let members = [("deep".to_owned(), deep), ("n".to_owned(), u64::MAX.into())];
    let kept = for_record(&Redactor::new(), Value::Object(Map::from_iter(members)));
    let text = json!({ "payload": kept }).to_string();
    let read: Value = serde_json::from_str(&text).unwrap();
    assert!(text.contains("[nested deeper than 100 levels]"), "{text}");
    assert_eq!(read["payload"]["n"], u64::MAX.to_string());
}

#[test]
fn numbers_other_readers_would_round_become_text() {
    let exact = (1_u64 << 53) - 1;
    let payload = json!({"a": exact, "b": exact + 1, "c": -i64::MAX, "d": 0.1, "e": -5});
    assert_eq!(
        for_record(&Redactor::new(), payload),
        json!({"a": exact, "b": "9007199254740992", "c": "-9223372036854775807", "d": 0.1, "e": -5})
    );
}

#[test]
fn a_leak_is_told_by_its_place_alone() {
    let redactor = knowing(&["super-secret"]);
    let document = json!({
        "a": "super-secret",
        "b": {"c": ["clean", "x super-secret y super-secret"]},
        "x/super-secret": {"d": "super-secret"},
        "e~": "clean",
    });
    let error = redactor.refuse_secrets(&document).unwrap_err();
    stud_observed::covers!(SECRET_LEAK, error);
    let paths: Vec<&str> = error.context()["violations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|violation| violation["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        ["/a", "/b/c/1", "/x~1[REDACTED]", "/x~1[REDACTED]/d"]
    );
    assert_eq!(error.context()["paths"], json!(paths));
    assert!(!format!("{error:?}").contains("super-secret"));
    let error = redactor.refuse_secrets(&json!("super-secret")).unwrap_err();
    assert_eq!(error.context()["violations"][0]["path"], "/");
}

#[test]
fn a_malformed_reference_is_told_before_a_leak() {
    let redactor = knowing(&["super-secret"]);
    for (reference, at) in [
        (json!({"kind": "env"}), "/slot/0"),
        (json!({"kind": "keyring", "name": ""}), "/slot/0"),
        (json!({"kind": "file", "name": 3}), "/slot/0"),
        (
            json!({"x": {"kind": "env", "value": "super-secret"}}),
            "/slot/0/x",
        ),
    ] {
        let document = json!({"leak": "super-secret", "slot": [reference, {"kind": "env"}]});
        let error = redactor.refuse_secrets(&document).unwrap_err();
        stud_observed::covers!(MALFORMED_SECRET_REFERENCE, error);
        assert_eq!(error.context()["path"], at);
    }
    let fine = json!({"ref": {"kind": "file", "name": "/run/key"}, "kind": "other", "n": 3});
    redactor.refuse_secrets(&fine).unwrap();
    Redactor::new()
        .refuse_secrets(&json!("super-secret"))
        .unwrap();
}

#[test]
fn what_is_learned_at_once_by_many_is_all_learned() {
    let redactor = Redactor::new();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let redactor = &redactor;
            scope.spawn(move || {
                for number in 0..20 {
                    let secret = format!("secret-{thread}-{number}.");
                    redactor.learn_text(&secret);
                    assert_eq!(redactor.text(&secret), REDACTED);
                }
            });
        }
    });
    assert_eq!(format!("{redactor:?}"), "Redactor { learned: 160, .. }");
}
