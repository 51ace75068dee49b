use super::*;

fn rules(entries: &Value) -> Vec<Rule> {
    let mut rules = Vec::new();
    Policy::add(&mut rules, entries);
    assert_eq!(rules.len(), entries.as_array().unwrap().len());
    rules
}

fn to(host: &str, port: u16) -> Destination {
    Destination {
        host: host.to_owned(),
        port: Some(port),
        url: format!("http://{host}:{port}/"),
        address: None,
    }
}

fn passes(allow: Value, deny: Value, host: &str, port: u16) -> bool {
    let policy = Policy {
        allow: rules(&allow),
        deny: rules(&deny),
    };
    policy.check(&to(host, port)).is_ok()
}

#[test]
fn without_entries_every_host_may_be_reached() {
    assert!(passes(json!([]), json!([]), "example.com", 443));
}

#[test]
fn names_match_at_the_boundary_of_a_label() {
    for host in [
        "example.com",
        "a.example.com",
        "a.b.EXAMPLE.com",
        "example.com.",
    ] {
        assert!(
            passes(json!(["example.com"]), json!([]), host, 80),
            "{host}"
        );
        assert!(
            !passes(json!([]), json!(["example.com"]), host, 80),
            "{host}"
        );
    }
    for host in [
        "badexample.com",
        "example.com.evil.org",
        "com",
        "example.co",
    ] {
        assert!(
            !passes(json!(["example.com"]), json!([]), host, 80),
            "{host}"
        );
        assert!(
            passes(json!([]), json!(["example.com"]), host, 80),
            "{host}"
        );
    }
}

#[test]
fn a_star_leaves_out_the_name_itself() {
    let below = || json!(["*.example.com"]);
    assert!(passes(below(), json!([]), "a.example.com", 80));
    assert!(passes(below(), json!([]), "a.b.example.com", 80));
    assert!(!passes(below(), json!([]), "example.com", 80));
}

#[test]
fn denied_wins_over_allowed() {
    let (all, part) = (|| json!(["example.com"]), || json!(["a.example.com"]));
    assert!(!passes(all(), part(), "a.example.com", 80));
    assert!(passes(all(), part(), "b.example.com", 80));
    assert!(!passes(part(), all(), "a.example.com", 80));
}

#[test]
fn ports_narrow_an_entry() {
    let entry = || json!([{"host": "example.com", "ports": [443]}]);
    assert!(passes(entry(), json!([]), "example.com", 443));
    assert!(!passes(entry(), json!([]), "example.com", 80));
    assert!(passes(json!([]), entry(), "example.com", 80));
}

#[test]
fn addresses_match_however_they_are_written() {
    for host in ["127.0.0.1", "[::ffff:127.0.0.1]", "::ffff:7f00:1"] {
        assert!(!passes(json!([]), json!(["127.0.0.1"]), host, 80), "{host}");
    }
    assert!(!passes(json!([]), json!(["[::1]"]), "::1", 80));
    assert!(passes(json!([]), json!(["10.0.0.1"]), "127.0.0.1", 80));
}

#[test]
fn what_a_name_stands_for_is_only_held_against_the_denied() {
    let named = Destination {
        address: Some("10.0.0.7".parse().unwrap()),
        ..to("example.com", 80)
    };
    let policy = |allow, deny| Policy {
        allow: rules(&allow),
        deny: rules(&deny),
    };
    let error = policy(json!([]), json!(["10.0.0.7"]))
        .check(&named)
        .unwrap_err();
    assert_eq!(error.context()["host"], "example.com");
    assert!(
        policy(json!(["example.com"]), json!([]))
            .check(&named)
            .is_ok()
    );
}

#[test]
fn a_denial_names_host_port_and_address() {
    let policy = Policy {
        deny: rules(&json!(["example.com"])),
        ..Policy::default()
    };
    let error = policy.check(&to("www.example.com", 8080)).unwrap_err();
    assert_eq!(
        error.to_string().split(':').next(),
        Some("ToolTerminal/NetworkDenied")
    );
    assert_eq!(
        Value::Object(error.context().clone()),
        json!({"host": "www.example.com", "port": 8080, "url": "http://www.example.com:8080/"})
    );
}

#[test]
fn a_wrong_entry_says_what_is_wrong() {
    let cases = [
        (json!(""), "host"),
        (json!("*."), "host"),
        (json!("Example.com"), "host"),
        (json!("https://example.com"), "host"),
        (json!("example.com:80"), "host"),
        (json!("a..b"), "host"),
        (json!("-a.org"), "host"),
        (json!("a_b.org"), "host"),
        (json!("*.*.org"), "host"),
        (json!("1.2.3"), "host"),
        (json!("300.1.1.1"), "host"),
        (json!(7), "host"),
        (json!({"ports": [80]}), "host"),
        (json!({"host": "a.org", "prots": [80]}), "host"),
        (json!({"host": "a.org", "ports": [0]}), "ports"),
        (json!({"host": "a.org", "ports": [65536]}), "ports"),
        (json!({"host": "a.org", "ports": []}), "ports"),
        (json!({"host": "a.org", "ports": 80}), "ports"),
        (json!({"host": "a.org", "scope": "here"}), "scope"),
    ];
    for (entry, reason) in cases {
        assert_eq!(Rule::read(&entry).unwrap_err().reason, reason, "{entry}");
    }
    for entry in [
        json!("a.org"),
        json!("*.a.org"),
        json!("localhost"),
        json!("::1"),
        json!({"host": "10.0.0.1", "ports": [1, 65535], "scope": "global"}),
    ] {
        assert!(Rule::read(&entry).is_ok(), "{entry}");
    }
}

#[test]
fn a_nearer_scope_is_not_repeated() {
    let mut list = Vec::new();
    Policy::add(
        &mut list,
        &json!(["b.org", {"host": "a.org", "ports": [80]}]),
    );
    Policy::add(&mut list, &json!(["b.org", "a.org"]));
    let policy = Policy {
        allow: list,
        ..Policy::default()
    };
    assert_eq!(
        policy.shown(),
        json!({"allow": ["a.org", "b.org", {"host": "a.org", "ports": [80]}], "deny": []})
    );
}
