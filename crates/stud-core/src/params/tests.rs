use serde_json::{Map, Value, json};
use stud_contract_provider::{Capabilities, Level, ParamRules};

use super::*;

fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn settings(words: &[&str]) -> Vec<Setting> {
    let words = words.iter();
    words.map(|word| Setting::parse(word).unwrap()).collect()
}

fn layers(params: &Params) -> Vec<(String, &'static str)> {
    let bag = params.bag();
    let leaves = bag.leaves();
    leaves
        .map(|(path, leaf)| (path.join("."), leaf.layer.as_str()))
        .collect()
}

#[test]
fn a_value_is_json_or_text() {
    let value = |word: &str| Setting::parse(word).unwrap().value;
    assert_eq!(value("effort=high"), "high");
    assert_eq!(value("topP=0.9"), 0.9);
    assert_eq!(value(r#"stopSequences=["a"]"#), json!(["a"]));
    assert_eq!(value("user=a=b"), "a=b");
    let nested = Setting::parse("thinking.type=adaptive").unwrap();
    assert_eq!(nested.path, ["thinking", "type"]);
    for wrong in ["temperature", "=1", "a..b=1", ".a=1", "a.=1"] {
        let error = Setting::parse(wrong).unwrap_err();
        assert_eq!(error.code(), "InvalidParam", "{wrong}");
    }
}

#[test]
fn layers_are_laid_over_one_another_leaf_by_leaf() {
    let params = Params::launched(settings(&["thinking.type=adaptive", "topP=0.5"]))
        .over(map(
            json!({"thinking": {"type": "enabled", "budgetTokens": 9}, "seed": 1}),
        ))
        .with(settings(&["topP=0.7"]));
    let expected = json!({
        "seed": 1, "topP": 0.7, "thinking": {"type": "adaptive", "budgetTokens": 9},
    });
    assert_eq!(Value::Object(params.bag().to_object()), expected);
    let expected = [
        ("seed".to_owned(), "defaultParams"),
        ("thinking.budgetTokens".to_owned(), "defaultParams"),
        ("thinking.type".to_owned(), "launch"),
        ("topP".to_owned(), "/params"),
    ];
    assert_eq!(layers(&params), expected);
}

#[test]
fn writing_a_node_replaces_all_of_it() {
    let defaults = map(json!({"thinking": {"type": "enabled", "budgetTokens": 9}}));
    let params = Params::default()
        .over(defaults)
        .with(settings(&[r#"thinking={"type":"disabled"}"#]));
    assert_eq!(
        params.bag().to_object()["thinking"],
        json!({"type": "disabled"})
    );
    let deeper = params.with(settings(&["thinking=1", "thinking.type=adaptive"]));
    assert_eq!(
        deeper.bag().to_object()["thinking"],
        json!({"type": "adaptive"})
    );
    // What the session set stands over other defaults too.
    let elsewhere = params.over(map(json!({"thinking": {"budgetTokens": 1}, "seed": 2})));
    let expected = json!({"thinking": {"type": "disabled"}, "seed": 2});
    assert_eq!(Value::Object(elsewhere.bag().to_object()), expected);
}

#[test]
fn what_looks_like_a_secret_is_shown_to_nobody() {
    assert_eq!(redacted(&Value::Null), "<redacted:null>");
    for secret in [
        "Bearer abc",
        "eyJhbGciOi",
        "sk-0123456789abcdef",
        "xoxb-1",
        "pk-0123456789abcdefg",
    ] {
        assert_eq!(redacted(&secret.into()), "<redacted:string>", "{secret}");
    }
    for plain in [json!("task"), json!("high"), json!(1), json!(["a", true])] {
        assert_eq!(redacted(&plain), plain);
    }
    assert_eq!(
        redacted(&json!({"a": [null]})),
        json!({"a": ["<redacted:null>"]})
    );
}

fn schemas() -> Map<String, Value> {
    map(json!({
        "effort": {"enum": ["low", "high"]},
        "thinking": {"type": "object", "properties": {
            "type": {"enum": ["adaptive", "enabled"]}, "budgetTokens": {"type": "integer", "minimum": 1},
        }},
        "metadata": {"type": "object"},
    }))
}

fn rules() -> ParamRules {
    serde_json::from_value(json!({
        "reserved": ["cacheControl"],
        "unheeded": ["seed"],
        "needs": {"thinking": "reasoning"},
        "below": [["thinking.budgetTokens", "maxOutputTokens"]],
    }))
    .unwrap()
}

/// The code and the path of everything that is wrong with these parameters.
fn faults(params: Value, claims: Capabilities) -> Vec<(&'static str, String)> {
    let (schemas, rules) = (schemas(), rules());
    let bag = Params::default().over(map(params)).bag();
    let problems = Vocabulary::new(Some(&schemas), &rules).check(&bag, &claims);
    problems
        .into_iter()
        .map(|problem| (problem.code.name, problem.path))
        .collect()
}

fn fault(params: Value) -> (&'static str, String) {
    let mut faults = faults(params, Capabilities::default());
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults.remove(0)
}

#[test]
fn each_fault_has_its_code() {
    for (params, code, path) in [
        (json!({"apiKey": 1}), "ParamForbiddenKey", "apiKey"),
        (
            json!({"metadata": {"X-Foo-Token": 1}}),
            "ParamForbiddenKey",
            "metadata.X-Foo-Token",
        ),
        (
            json!({"metadata": [{"bearer": 1}]}),
            "ParamForbiddenKey",
            "metadata",
        ),
        (
            json!({"effort": "sk-0123456789abcdef"}),
            "ParamSecretValue",
            "effort",
        ),
        (
            json!({"stopSequences": ["a", "eyJhb"]}),
            "ParamSecretValue",
            "stopSequences",
        ),
        (json!({"top_p": 1}), "ParamWireShape", "top_p"),
        (
            json!({"thinking": {"budget_tokens": 1}}),
            "ParamWireShape",
            "thinking.budget_tokens",
        ),
        (json!({"effrot": "low"}), "ParamUnknown", "effrot"),
        (
            json!({"thinking": {"mode": 1}}),
            "ParamUnknown",
            "thinking.mode",
        ),
        (
            json!({"cacheControl": true}),
            "ParamReserved",
            "cacheControl",
        ),
        (json!({"effort": "loud"}), "ConfigSchemaViolation", "effort"),
        (
            json!({"temperature": 2.5}),
            "ConfigSchemaViolation",
            "temperature",
        ),
        (json!({"topK": -1}), "ConfigSchemaViolation", "topK"),
        (json!({"thinking": 3}), "ConfigSchemaViolation", "thinking"),
        (json!({"seed": 3}), "ParamUnsupportedOnActive", "seed"),
    ] {
        assert_eq!(fault(params.clone()), (code, path.to_owned()), "{params}");
    }
}

#[test]
fn the_first_rule_that_speaks_is_the_one_that_counts() {
    // Forbidden before unknown, a secret before the spelling, the spelling before unknown.
    assert_eq!(fault(json!({"foo": {"api_key": 1}})).0, "ParamForbiddenKey");
    assert_eq!(fault(json!({"my_key": "eyJ0"})).0, "ParamSecretValue");
    assert_eq!(fault(json!({"nobody_knows": 1})).0, "ParamWireShape");
    // And every path is looked at.
    let all = faults(
        json!({"foo": 1, "bar": 2, "effort": "low"}),
        Capabilities::default(),
    );
    let paths: Vec<&str> = all.iter().map(|(_, path)| &**path).collect();
    assert_eq!(paths, ["bar", "foo"]);
}

#[test]
fn two_may_contradict_each_other() {
    let contradiction = json!({"thinking": {"budgetTokens": 100}, "maxOutputTokens": 100});
    assert_eq!(
        fault(contradiction),
        ("ParamCrossFieldInvalid", "thinking.budgetTokens".to_owned())
    );
    let fine = json!({"thinking": {"budgetTokens": 99}, "maxOutputTokens": 100});
    assert_eq!(faults(fine, Capabilities::default()), []);
}

#[test]
fn a_model_that_lacks_what_a_parameter_needs_does_not_heed_it() {
    let claims = Capabilities {
        reasoning: Level::Absent,
        ..Capabilities::default()
    };
    let thinking = json!({"thinking": {"type": "adaptive"}});
    let [(code, _)] = faults(thinking, claims)[..] else {
        panic!("one warning");
    };
    assert_eq!(code, "ParamUnsupportedOnActive");
}

#[test]
fn free_names_and_nothing_at_all_are_fine() {
    assert_eq!(
        faults(
            json!({"metadata": {"user_id": "u"}}),
            Capabilities::default()
        ),
        []
    );
    assert_eq!(faults(json!({"effort": null}), Capabilities::default()), []);
    assert_eq!(faults(json!({}), Capabilities::default()), []);
}

#[test]
fn a_provider_that_names_no_parameter_is_guarded_against_secrets_alone() {
    let rules = ParamRules::default();
    let check = |params: Value| {
        let bag = Params::default().over(map(params)).bag();
        let vocabulary = Vocabulary::new(None, &rules);
        let problems = vocabulary.check(&bag, &Capabilities::default());
        problems.first().map(|problem| problem.code.name)
    };
    assert_eq!(
        check(json!({"any_thing": {"at": "all"}, "temperature": 99})),
        None
    );
    assert_eq!(
        check(json!({"authorization": "x"})),
        Some("ParamForbiddenKey")
    );
    assert_eq!(check(json!({"x": "bearer t"})), Some("ParamSecretValue"));
}

#[test]
fn a_refusal_names_the_first_fault_and_lists_all() {
    let (schemas, rules) = (schemas(), rules());
    let params = Params::launched(settings(&["seed=1", "foo=2"]));
    let vocabulary = Vocabulary::new(Some(&schemas), &rules);
    let problems = vocabulary.check(&params.bag(), &Capabilities::default());
    let error = Problem::refusal(&problems).unwrap();
    assert_eq!(
        (error.class(), error.code()),
        ("Validation", "ParamUnknown")
    );
    assert_eq!(error.context()["sourceLayer"], "launch");
    assert_eq!(error.context()["diagnostics"].as_array().unwrap().len(), 2);
    assert!(
        Problem::refusal(&problems[1..]).is_none(),
        "a warning refuses nothing"
    );
}
