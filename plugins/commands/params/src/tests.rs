use stud_sdk::command::Rendered;
use stud_sdk::host::commands::{Deed, ParamChange};
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::{Result, json};

use super::*;

fn run(host: &FakeHost, typed: &str) -> Result<Rendered> {
    Harness::new(stud_plugin(), host.clone()).command("params", typed)
}

#[test]
fn parameters_are_shown_with_who_set_them() {
    let told = json!({"params": [
        {"paramPath": "thinking.type", "sourceLayer": "launch", "value": "adaptive"},
        {"paramPath": "topP", "sourceLayer": "/params", "value": 0.5},
    ]});
    let host = FakeHost::new().performs(Ok(told.clone()));
    let shown = run(&host, "").unwrap();
    assert_eq!(
        shown.rendered,
        "thinking.type = \"adaptive\"  (launch)\ntopP = 0.5  (/params)"
    );
    assert_eq!(shown.payload, Some(told));
    assert_eq!(host.performed(), [Deed::Params { set: vec![] }]);
    let nothing = FakeHost::new().performs(Ok(json!({"params": []})));
    assert_eq!(run(&nothing, "").unwrap().rendered, "No parameter is set.");
}

#[test]
fn all_are_set_at_once() {
    let told = json!({"status": "changed", "diagnostics": [], "params": [
        {"paramPath": "seed", "sourceLayer": "/params", "value": 1},
    ]});
    let host = FakeHost::new().performs(Ok(told));
    let shown = run(&host, "seed=1 effort=high").unwrap();
    assert_eq!(shown.rendered, "seed = 1  (/params)");
    let change = |path: &str, value| ParamChange {
        path: path.to_owned(),
        value,
    };
    let set = vec![change("seed", json!(1)), change("effort", json!("high"))];
    assert_eq!(host.performed(), [Deed::Params { set }]);
}

#[test]
fn a_refusal_says_what_is_wrong_with_each() {
    let told = json!({"status": "rejected", "reason": "ParamValidationFailed", "diagnostics": [
        {"code": "ParamUnknown", "paramPath": "efort", "message": "`it` has no parameter `efort`"},
    ]});
    let host = FakeHost::new().performs(Ok(told));
    let shown = run(&host, "efort=high").unwrap();
    assert_eq!(
        shown.rendered,
        "Nothing was changed.\nParamUnknown: `it` has no parameter `efort`"
    );
    assert_eq!(shown.payload.unwrap()["reason"], "ParamValidationFailed");
}
