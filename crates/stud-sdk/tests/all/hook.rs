//! Hooks: the sub-kind follows from the trait.

use stud_sdk::hook::Verdict;
use stud_sdk::json;
use stud_sdk::testing::{FakeHost, Harness};

mod inside {
    use stud_sdk::prelude::*;

    /// Nothing outside the project.
    #[hook(slot = "TOOL_CALL/pre", firing_mode = "per-call")]
    struct InsideOnly;

    impl Guard for InsideOnly {
        async fn guard(&self, payload: &Value, _cx: &Cx) -> Result<Verdict> {
            let path = payload.pointer("/args/path").and_then(Value::as_str);
            Ok(match path {
                Some(path) if path.starts_with('/') => Verdict::deny("outside"),
                _ => Verdict::Allow,
            })
        }
    }
}

mod shout {
    use stud_sdk::prelude::*;

    /// Answers are louder.
    #[hook(slot = "RENDER/pre")]
    struct Shout;

    impl Transform for Shout {
        async fn transform(&self, mut payload: Value, _cx: &Cx) -> Result<Value> {
            if let Some(Value::String(text)) = payload.get_mut("text") {
                *text = text.to_uppercase();
            }
            Ok(payload)
        }
    }
}

mod watch {
    use stud_sdk::prelude::*;

    /// Watches the end of a turn.
    #[hook(slot = "RENDER/post")]
    struct Watch;

    impl Observer for Watch {
        async fn observe(&self, payload: &Value, _cx: &Cx) -> Result<()> {
            match payload.as_str() {
                Some(text) => Err(Error::failed(text)),
                None => Ok(()),
            }
        }
    }
}

#[test]
fn a_guard_decides() {
    let harness = Harness::new(inside::stud_plugin(), FakeHost::new());
    assert_eq!(
        harness.guard(&json!({"args": {"path": "a"}})).unwrap(),
        Verdict::Allow
    );
    assert_eq!(
        harness.guard(&json!({"args": {"path": "/a"}})).unwrap(),
        Verdict::deny("outside")
    );
    assert_eq!(
        harness.manifest()["registration"],
        json!({"slot": "TOOL_CALL/pre", "subKind": "guard", "firingMode": "per-call"})
    );
    assert_eq!(
        harness.manifest()["discoveryRules"]["orderingSubsystem"],
        "hooks"
    );
}

#[test]
fn a_transform_replaces() {
    let harness = Harness::new(shout::stud_plugin(), FakeHost::new());
    assert_eq!(
        harness.transform(&json!({"text": "hi", "n": 1})).unwrap(),
        json!({"text": "HI", "n": 1})
    );
    assert_eq!(harness.manifest()["registration"]["subKind"], "transform");
}

#[test]
fn an_observer_looks() {
    let harness = Harness::new(watch::stud_plugin(), FakeHost::new());
    harness.observe(&json!({})).unwrap();
    assert_eq!(harness.observe(&json!("bad")).unwrap_err().message(), "bad");
    assert_eq!(
        harness.manifest()["registration"],
        json!({"slot": "RENDER/post", "subKind": "observer", "firingMode": "per-stage"})
    );
}
