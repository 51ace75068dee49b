//! What is declared of models.

use serde_json::json;

use crate::context::Bench;

#[test]
fn a_model_that_is_declared_twice_counts_as_it_was_declared_first() {
    let entry = |models| json!({"protocol": "script-provider", "models": models});
    let bench = Bench::new(json!({"providers": {
        "twice": entry(json!([
            {"id": "m", "contextWindow": 1000},
            {"id": "m", "contextWindow": 2000},
            {"id": "m", "contextWindow": 2000},
        ])),
        "same": entry(json!([{"id": "m", "contextWindow": 1000}, {"id": "m", "contextWindow": 1000}])),
        "once": entry(json!(["m", "n"])),
    }}));
    let suppressed = bench.audited("SuppressedError");
    let [record] = &suppressed[..] else {
        panic!("{suppressed:#?}");
    };
    let cause = record["payload"]["cause"].as_str().unwrap();
    stud_observed::covers!(DUPLICATE_MODEL_DECLARATION, cause);
    assert!(
        cause.contains("`twice` declares the model `m` twice"),
        "{cause}"
    );
    bench.live.say_to("twice", "m", "hello").answered();
    let assembled = bench.ear.named("AssemblyCompleted");
    assert_eq!(assembled["payload"]["modelWindowTokens"], 1000);
}
