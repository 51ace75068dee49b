//! What the config does before a request is made.

use super::*;

fn start(config: Value) -> Result<(), stud_sdk::Error> {
    let host = FakeHost::new().config(config);
    Harness::new(crate::stud_plugin(), host).start().map(drop)
}

#[test]
fn a_plugin_that_nobody_has_set_up_is_no_fault_until_it_is_asked() {
    assert_eq!(start(json!({})), Ok(()));
    let harness = Harness::new(crate::stud_plugin(), FakeHost::new());
    let error = harness.request(&trial().request).unwrap_err();
    assert_eq!(error.code(), "ConfigSchemaViolation");
    assert_eq!(error.context()["fieldPath"], "/baseURL");
}

#[test]
fn one_that_was_set_up_needs_an_address() {
    for config in [
        json!({"models": ["small"]}),
        json!({"model": "small"}),
        json!({"apiKeyRef": {"kind": "env", "name": "KEY"}}),
    ] {
        let error = start(config).unwrap_err();
        assert_eq!(error.context()["fieldPath"], "/baseURL", "{error}");
    }
}

#[test]
fn a_key_cannot_stand_in_the_config() {
    for config in [
        json!({"apiKeyRef": "sk-canary"}),
        json!({"apiKeyRef": {"kind": "inline", "name": "sk-canary"}}),
        json!({"apiKey": "sk-canary", "apiKeyRef": {"kind": "env", "name": "KEY", "value": "sk-canary"}}),
    ] {
        let mut config = config;
        config["baseURL"] = json!("http://127.0.0.1:9/v1");
        let error = start(config).unwrap_err();
        assert_eq!(error.code(), "ConfigSchemaViolation", "{error}");
    }
}

#[test]
fn both_spellings_of_the_address_work() {
    let server = Server::always(stream(ANSWER)).unwrap();
    for name in ["baseURL", "baseUrl"] {
        let config = json!({name: format!("{}/v1/", server.url()), "model": "small"});
        let harness = Harness::new(crate::stud_plugin(), FakeHost::new().config(config));
        harness.request(&trial().request).unwrap();
        assert_eq!(
            server.received().pop().unwrap().target,
            "/v1/chat/completions"
        );
    }
}
