//! What the manifest and the config say.

use super::*;
use stud_sdk::Class;

#[test]
fn the_manifest_asks_for_everything() {
    let harness = Harness::new(crate::stud_plugin(), FakeHost::new());
    let manifest = harness.manifest();
    assert_eq!(manifest["extId"], "file-logger");
    assert_eq!(manifest["kind"], "Logger");
    assert_eq!(manifest["reloadBehavior"], "in-turn");
    assert_eq!(manifest["stateSlot"], Value::Null);
    let everything =
        json!({"events": true, "audit": true, "diagnostics": true, "minSeverity": "trace"});
    assert_eq!(manifest["accepts"], everything);
}

#[test]
fn the_schema_holds_the_config_to_its_bounds() {
    let harness = Harness::new(crate::stud_plugin(), FakeHost::new());
    let schema = &harness.manifest()["configSchema"];
    assert_eq!(schema["required"], json!([]));
    assert_eq!(schema["additionalProperties"], false);
    let bounds = |member: &str, keywords: [&str; 4]| {
        keywords.map(|keyword| schema["properties"][member][keyword].clone())
    };
    let keywords = ["type", "minLength", "maxLength", "default"];
    assert_eq!(
        bounds("path", keywords),
        [json!("string"), json!(1), json!(4096), Value::Null]
    );
    let keywords = ["type", "minimum", "maximum", "default"];
    assert_eq!(
        bounds("rotateAtBytes", keywords),
        [json!("integer"), json!(1), Value::Null, Value::Null]
    );
    assert_eq!(
        bounds("maxRotatedFiles", keywords),
        [json!("integer"), json!(0), json!(1024), Value::Null]
    );
    let words = json!(["trace", "debug", "info", "warn", "error"]);
    assert_eq!(schema["properties"]["level"]["enum"], words);
    assert_eq!(schema["properties"]["level"]["default"], "info");
    assert_eq!(schema["properties"]["redactSecrets"]["default"], true);
    assert_eq!(schema["properties"]["enabled"]["default"], true);
}

/// The severities that are kept.
fn kept(config: Value, global: Option<&str>) -> Vec<Value> {
    let folder = TempDir::new().unwrap();
    let mut config = config;
    config["path"] = json!(log(&folder));
    let mut host = FakeHost::new().config(config);
    if let Some(level) = global {
        host = host.global("loggingLevel", level);
    }
    let harness = Harness::new(crate::stud_plugin(), host);
    for severity in Severity::ALL {
        let record = Record {
            severity,
            ..numbered(1)
        };
        harness.sink(&record).unwrap();
    }
    lines(&log(&folder))
        .into_iter()
        .map(|line| line["sev"].clone())
        .collect()
}

#[test]
fn what_matters_less_than_the_level_is_not_kept() {
    assert_eq!(kept(json!({}), None), ["info", "warn", "error"]);
    assert_eq!(kept(json!({"level": "error"}), None), ["error"]);
    let all = ["trace", "debug", "info", "warn", "error"];
    assert_eq!(kept(json!({"level": "trace"}), None), all);
}

#[test]
fn a_debugging_session_keeps_more_and_no_other_changes_the_level() {
    let more = ["debug", "info", "warn", "error"];
    assert_eq!(kept(json!({"level": "warn"}), Some("debug")), more);
    assert_eq!(kept(json!({"level": "trace"}), Some("debug")).len(), 5);
    assert_eq!(
        kept(json!({"level": "warn"}), Some("info")),
        ["warn", "error"]
    );
    assert_eq!(kept(json!({}), Some("error")), ["info", "warn", "error"]);
}

#[test]
fn everything_below_info_is_redacted_or_not_kept() {
    let start = |config, global: &str| {
        let host = FakeHost::new()
            .config(config)
            .global("loggingLevel", global);
        Harness::new(crate::stud_plugin(), host).start().map(|_| ())
    };
    for (config, global) in [
        (json!({"level": "debug", "redactSecrets": false}), "info"),
        (json!({"level": "trace", "redactSecrets": false}), "info"),
        (json!({"redactSecrets": false}), "debug"),
    ] {
        let refused = start(config, global).unwrap_err();
        assert!(refused.is(Class::Validation, "ConfigSchemaViolation"));
        assert_eq!(refused.context()["fieldPath"], "/redactSecrets");
    }
    assert_eq!(
        start(json!({"level": "info", "redactSecrets": false}), "info"),
        Ok(())
    );
    assert_eq!(
        start(json!({"level": "debug", "redactSecrets": true}), "info"),
        Ok(())
    );
}

#[test]
fn a_fault_names_its_field() {
    for (config, field) in [
        (json!({"level": "loud"}), "/level"),
        (json!({"path": "~/log"}), "/path"),
    ] {
        let host = FakeHost::new().config(config);
        let harness = Harness::new(crate::stud_plugin(), host);
        let refused = harness.start().map(|_| ()).unwrap_err();
        assert!(refused.is(Class::Validation, "ConfigSchemaViolation"));
        assert_eq!(refused.context()["fieldPath"], field);
    }
}
