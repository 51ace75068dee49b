//! `/network-policy`: which hosts tools may reach.
#![forbid(unsafe_code)]

use stud_sdk::command::{RawArgs, Rendered, command};
use stud_sdk::host::commands::Deed;
use stud_sdk::{Class, Config, Cx, CxExt as _, Error, ErrorExt as _, Result, Value};

/// When to ask.
#[derive(Config)]
struct Options {
    /// Whether the policy is only changed after a question.
    #[stud(default = true)]
    require_confirm_for_change: bool,
}

/// Shows which hosts tools may reach, or adds one to a list.
#[command(
    id = "network-policy",
    name = "network-policy",
    category = "tools",
    argument_hint = "[show | allow HOST | deny HOST]",
    turn_safe,
    config = Options,
    interactions("Confirm")
)]
async fn network_policy(input: RawArgs, cx: &Cx) -> Result<Rendered> {
    let words: Vec<&str> = input.positional.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["show"] => show(cx).await,
        ["allow", host] => change(cx, List::Allow, host).await,
        ["deny", host] => change(cx, List::Deny, host).await,
        ["show", _, ..] => Err(violation("`/network-policy show` takes nothing more")),
        [list @ ("allow" | "deny"), ..] => {
            let why = format!("`/network-policy {list}` takes one host");
            Err(violation(&why).with("subcommand", *list))
        }
        [other, ..] => {
            let why = format!(
                "`/network-policy {other}` is not known; there are `show`, `allow` and `deny`"
            );
            Err(violation(&why).with("subcommand", *other))
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Allow,
    Deny,
}

async fn show(cx: &Cx) -> Result<Rendered> {
    let policy = policy(cx).await?;
    let (allow, deny) = (hosts(&policy["allow"]), hosts(&policy["deny"]));
    let mut lines = Vec::new();
    lines.push(match allow.as_slice() {
        [] => "Every host may be reached that is not denied.".to_owned(),
        hosts => format!("Only these may be reached: {}", hosts.join(", ")),
    });
    if !deny.is_empty() {
        lines.push(format!("Denied: {}", deny.join(", ")));
    }
    Ok(Rendered::from(lines.join("\n")).with_payload(policy))
}

async fn change(cx: &Cx, list: List, host: &str) -> Result<Rendered> {
    let host = host.to_ascii_lowercase();
    if !could_be_host(&host) {
        let why =
            format!("`{host}` is not a host: write `example.com`, `*.example.com` or an address");
        return Err(Error::invalid_input(why).with("host", host));
    }
    let options: Options = cx.config()?;
    if options.require_confirm_for_change {
        let question = match list {
            List::Deny => format!("Deny tools to reach {host}?"),
            List::Allow if hosts(&policy(cx).await?["allow"]).is_empty() => format!(
                "Allow tools to reach {host}? It is the first host on the list: no other can be reached then."
            ),
            List::Allow => format!("Allow tools to reach {host}?"),
        };
        if !cx.confirm(&question).await? {
            let why = "the network policy stays as it is";
            let no = Error::new(Class::Cancellation, "TurnCancelled", why);
            return Err(no.with("host", host));
        }
    }
    let shown = match list {
        List::Allow => format!("{host} is allowed from now on."),
        List::Deny => format!("{host} is denied from now on."),
    };
    let deed = match list {
        List::Allow => Deed::AllowHost { host },
        List::Deny => Deed::DenyHost { host },
    };
    let added = cx.host().commands().perform(deed).await?;
    Ok(Rendered::from(shown).with_payload(added))
}

async fn policy(cx: &Cx) -> Result<Value> {
    let deed = Deed::ShowNetworkPolicy {};
    cx.host().commands().perform(deed).await
}

/// The entries of a list, as a person writes them.
fn hosts(list: &Value) -> Vec<String> {
    let shown = |entry: &Value| {
        if let Some(host) = entry.as_str() {
            return host.to_owned();
        }
        let host = entry["host"].as_str().unwrap_or_default();
        let ports = entry["ports"].as_array().into_iter().flatten();
        let ports: Vec<String> = ports.map(Value::to_string).collect();
        format!("{host} (ports {})", ports.join(", "))
    };
    list.as_array().into_iter().flatten().map(shown).collect()
}

/// Whether this can name a host at all, to avoid a prompt about an invalid one. Core looks more closely.
fn could_be_host(text: &str) -> bool {
    if text
        .trim_matches(['[', ']'])
        .parse::<std::net::IpAddr>()
        .is_ok()
    {
        return true;
    }
    let name = text.strip_prefix("*.").unwrap_or(text);
    let is_label = |label: &str| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        !label.is_empty()
            && label.bytes().all(is_part)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last_is_number = name
        .rsplit('.')
        .next()
        .is_some_and(|label| label.bytes().all(|byte| byte.is_ascii_digit()));
    name.split('.').all(is_label) && !last_is_number
}

fn violation(why: &str) -> Error {
    Error::new(Class::Validation, "ConfigSchemaViolation", why)
}

#[cfg(test)]
mod tests {
    use stud_sdk::interaction::{ConfirmAnswer, Payload};
    use stud_sdk::json;
    use stud_sdk::testing::{FakeHost, Harness};

    use super::*;

    fn run(host: &FakeHost, typed: &str) -> Result<Rendered> {
        Harness::new(stud_plugin(), host.clone()).command("network-policy", typed)
    }

    #[test]
    fn the_policy_is_shown() {
        let policy = json!({"allow": [], "deny": []});
        let host = FakeHost::new().performs(Ok(policy.clone()));
        let shown = run(&host, "").unwrap();
        assert_eq!(
            shown.rendered,
            "Every host may be reached that is not denied."
        );
        assert_eq!(shown.payload, Some(policy));
        let policy =
            json!({"allow": ["a.org", {"host": "b.org", "ports": [443]}], "deny": ["c.org"]});
        let host = FakeHost::new().performs(Ok(policy));
        assert_eq!(
            run(&host, "show").unwrap().rendered,
            "Only these may be reached: a.org, b.org (ports 443)\nDenied: c.org"
        );
    }

    #[test]
    fn a_host_is_denied_after_a_question() {
        let added = json!({"added": true, "host": "a.org"});
        let host = FakeHost::new()
            .answers(ConfirmAnswer { confirmed: true })
            .performs(Ok(added.clone()));
        let shown = run(&host, "deny A.org").unwrap();
        assert_eq!(shown.payload, Some(added));
        let host_name = "a.org".to_owned();
        assert_eq!(host.performed(), [Deed::DenyHost { host: host_name }]);
    }

    #[test]
    fn the_first_allowed_host_is_asked_about_with_its_consequence() {
        let host = FakeHost::new()
            .answers(ConfirmAnswer { confirmed: true })
            .performs(Ok(json!({"allow": [], "deny": []})))
            .performs(Ok(json!({"added": true, "host": "a.org"})));
        run(&host, "allow a.org").unwrap();
        let Payload::Confirm(asked) = &host.asked()[0] else {
            panic!("another question");
        };
        assert!(
            asked.prompt.contains("no other can be reached"),
            "{}",
            asked.prompt
        );
    }

    #[test]
    fn a_no_calls_the_command_off() {
        let host = FakeHost::new().answers(ConfirmAnswer { confirmed: false });
        let error = run(&host, "deny a.org").unwrap_err();
        assert!(error.is(Class::Cancellation, "TurnCancelled"), "{error}");
        assert!(host.performed().is_empty());
    }

    #[test]
    fn nobody_is_asked_who_does_not_want_to_be() {
        let host = FakeHost::new()
            .config(json!({"requireConfirmForChange": false}))
            .performs(Ok(json!({"added": true, "host": "::1"})));
        run(&host, "allow ::1").unwrap();
        assert!(host.asked().is_empty());
    }

    #[test]
    fn a_bad_host_is_refused_before_anybody_is_asked() {
        for typed in [
            "deny https://a.org",
            "allow a_b",
            "deny *.",
            "deny 1.2.3",
            "deny a..b",
        ] {
            let host = FakeHost::new();
            let error = run(&host, typed).unwrap_err();
            assert!(
                error.is(Class::ToolTerminal, "InputInvalid"),
                "{typed}: {error}"
            );
            assert!(host.asked().is_empty() && host.performed().is_empty());
        }
    }

    #[test]
    fn another_word_is_refused() {
        for typed in [
            "forbid a.org",
            "allow",
            "deny",
            "deny a.org b.org",
            "show all",
        ] {
            let error = run(&FakeHost::new(), typed).unwrap_err();
            assert!(
                error.is(Class::Validation, "ConfigSchemaViolation"),
                "{typed}: {error}"
            );
        }
    }
}
