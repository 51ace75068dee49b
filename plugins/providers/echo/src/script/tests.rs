use super::*;
use stud_sdk::json;

fn called(name: &str, args: Value) -> Call {
    Call {
        name: name.to_owned(),
        args,
    }
}

#[test]
fn one_call() {
    let one = |args| Script::Calls(vec![called("read", args)]);
    let cases = [
        (r#"!tool read {"path": "a b"}"#, json!({"path": "a b"})),
        ("!tool  read\n{\n}\n", json!({})),
        ("!tool read [1]", json!([1])),
        ("!tool read null", Value::Null),
    ];
    for (text, args) in cases {
        assert_eq!(Script::read(text), one(args), "{text}");
    }
}

#[test]
fn several_calls_keep_their_order() {
    let both = || vec![called("b", json!({"n": 1})), called("a", json!({}))];
    let text = r#"[["b", {"n": 1}], ["a", {}]]"#;
    assert_eq!(Script::read(&format!("!par {text}")), Script::Calls(both()));
    assert_eq!(
        Script::read(&format!("!seq {text}")),
        Script::Sequence(both())
    );
}

#[test]
fn counts_and_texts() {
    let cases = [
        ("!slow 250", Script::Slow(Duration::from_millis(250))),
        ("!slow 0\n", Script::Slow(Duration::ZERO)),
        ("!flood 20000", Script::Flood(20_000)),
        ("!flood 0", Script::Flood(0)),
        ("!think of it ", Script::Think("of it ".to_owned())),
        (
            "!auth example.com login",
            Script::Auth("example.com login".to_owned()),
        ),
    ];
    for (text, script) in cases {
        assert_eq!(Script::read(text), script, "{text}");
    }
}

#[test]
fn a_failure_finds_its_class() {
    use Class::{ProviderCapability, ProviderTransient};
    let with = |class: Class, code: &str| format!("!fail {}/{code}", class.as_str());
    let cases = [
        (
            "!fail RateLimited".to_owned(),
            ProviderTransient,
            "RateLimited",
        ),
        (
            "!fail Provider5xx ".to_owned(),
            ProviderTransient,
            "Provider5xx",
        ),
        (
            "!fail MissingToolCalling".to_owned(),
            ProviderCapability,
            "MissingToolCalling",
        ),
        (with(ProviderCapability, "Odd"), ProviderCapability, "Odd"),
        (
            with(ProviderTransient, "OutputMalformed"),
            ProviderTransient,
            "OutputMalformed",
        ),
    ];
    for (text, class, code) in cases {
        let fail = Script::Fail(class, code.to_owned());
        assert_eq!(Script::read(&text), fail, "{text}");
    }
}

#[test]
fn what_does_not_fit_is_said() {
    for text in [
        "",
        "!",
        "hello",
        "say !tool read {}",
        " !tool read {}",
        "!TOOL read {}",
        "!tools read {}",
        "!tool",
        "!tool ",
        "!tool read",
        "!tool {}",
        "!tool read {",
        "!tool read {} {}",
        "!par []",
        "!par {}",
        "!par [[]]",
        "!par [[\"read\"]]",
        "!par [[\"read\", {}, 1]]",
        "!par [[\"\", {}]]",
        "!par [[1, {}]]",
        "!par [\"read\", {}]",
        "!seq []",
        "!seq [[\"read\", {}], 1]",
        "!seq [",
        "!slow",
        "!slow soon",
        "!slow -1",
        "!slow 1.5",
        "!slow 99999999999999999999999",
        "!flood many",
        "!think",
        "!think  ",
        "!auth \n",
        "!fail",
        "!fail two words",
        "!fail Validation/",
        "!fail /Code",
        "!fail Other/Code",
    ] {
        assert_eq!(Script::read(text), Script::Say, "{text:?}");
    }
    let deep = format!("!tool read {}", "[".repeat(100_000));
    assert_eq!(Script::read(&deep), Script::Say);
}
