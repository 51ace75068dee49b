//! `guard-example`: some shell commands are never run, even when approved.
//!
//! An example of a guard. It looks only at the text of a command, so it stops accidents and not an attacker who
//! means it: `rm -fr` does what `rm -rf` does.
#![forbid(unsafe_code)]

use stud_sdk::prelude::*;

/// The tool whose calls are looked at.
const TOOL: &str = "bash";

/// What is guarded against.
#[derive(Config)]
struct Rules {
    /// Whether it is enabled; off by default.
    #[stud(default = false)]
    #[expect(dead_code, reason = "core reads it")]
    enabled: bool,
    /// What a command must not begin with.
    #[stud(default = vec!["rm -rf".to_owned()], min_items = 1)]
    blocked_prefixes: Vec<String>,
}

/// Denies shell commands that begin with what is blocked.
#[hook(
    id = "guard-example",
    slot = "TOOL_CALL/pre",
    firing_mode = "per-call",
    config = Rules,
    init = GuardExample::new
)]
struct GuardExample {
    rules: Rules,
}

impl GuardExample {
    #[expect(clippy::unnecessary_wraps, reason = "the attribute takes it as it is")]
    fn new(_host: Host, rules: Rules) -> Result<Self> {
        Ok(Self { rules })
    }

    fn blocked(&self, command: &str) -> Option<&str> {
        let prefixes = self.rules.blocked_prefixes.iter().map(String::as_str);
        let mut prefixes = prefixes.filter(|prefix| !prefix.is_empty());
        prefixes.find(|prefix| command.starts_with(prefix))
    }
}

impl Guard for GuardExample {
    async fn guard(&self, payload: &Value, _cx: &Cx) -> Result<Verdict> {
        if payload["toolName"] != TOOL {
            return Ok(Verdict::Allow);
        }
        let command = payload["args"]["command"].as_str().unwrap_or_default();
        Ok(match self.blocked(command) {
            // A no with a code and facts of its own is an error of this class.
            Some(prefix) => return Err(forbidden(command, prefix)),
            None => Verdict::Allow,
        })
    }
}

fn forbidden(command: &str, prefix: &str) -> Error {
    let message = format!("`{TOOL}` is not to run `{command}`: it begins with `{prefix}`");
    Error::new(Class::Validation, "Forbidden", message)
        .with("toolId", TOOL)
        .with("blockedPrefix", prefix)
        .with("command", command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stud_sdk::testing::{FakeHost, Harness};

    fn harness(config: Value) -> Harness {
        Harness::new(stud_plugin(), FakeHost::new().config(config))
    }

    fn call(tool: &str, command: &str) -> Value {
        json!({"toolCallId": "call-1", "toolName": tool, "args": {"command": command}})
    }

    #[test]
    fn a_blocked_command_is_denied_with_its_reason() {
        let no = harness(json!({}))
            .guard(&call("bash", "rm -rf /tmp/x"))
            .unwrap_err();
        assert_eq!((no.class(), no.code()), ("Validation", "Forbidden"));
        let reason = "`bash` is not to run `rm -rf /tmp/x`: it begins with `rm -rf`";
        assert_eq!(no.message(), reason);
        for (member, value) in [
            ("toolId", "bash"),
            ("blockedPrefix", "rm -rf"),
            ("command", "rm -rf /tmp/x"),
        ] {
            assert_eq!(no.context()[member], value);
        }
    }

    #[test]
    fn everything_else_may_pass() {
        let harness = harness(json!({}));
        for payload in [
            call("bash", "rm x"),
            call("bash", "  rm -rf x"),
            call("bash", "echo rm -rf /"),
            call("bash", ""),
            call("shell", "rm -rf /"),
            json!({"toolCallId": "call-1", "toolName": "bash", "args": {}}),
            json!({}),
        ] {
            assert_eq!(
                harness.guard(&payload).unwrap(),
                Verdict::Allow,
                "{payload}"
            );
        }
    }

    #[test]
    fn what_is_blocked_is_configured() {
        let harness = harness(json!({"blockedPrefixes": ["git push", "", "dd "]}));
        assert!(harness.guard(&call("bash", "git push --force")).is_err());
        assert!(harness.guard(&call("bash", "dd if=a")).is_err());
        assert!(harness.guard(&call("bash", "rm -rf x")).unwrap().is_allow());
    }

    #[test]
    fn a_denial_does_not_stick() {
        let harness = harness(json!({}));
        assert!(harness.guard(&call("bash", "rm -rf x")).is_err());
        assert!(harness.guard(&call("bash", "ls")).unwrap().is_allow());
    }

    #[test]
    fn the_manifest_says_where_it_sits() {
        let harness = harness(json!({}));
        let manifest = harness.manifest();
        assert_eq!(
            manifest["registration"],
            json!({"slot": "TOOL_CALL/pre", "subKind": "guard", "firingMode": "per-call"})
        );
        let prefixes = &manifest["configSchema"]["properties"]["blockedPrefixes"];
        assert_eq!(prefixes["minItems"], 1);
    }
}
