mod tampering;
mod torn;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use sha2::{Digest as _, Sha256};
use stud_diagnostics::Class;
use tempfile::TempDir;

use super::*;

const SESSION: &str = "0192f0c1-0000-7000-8000-000000000001";

fn open(folder: &TempDir) -> Trail {
    let opened = Trail::open(folder.path(), SESSION, Arc::default()).unwrap();
    assert_eq!(opened.dropped, None);
    opened.trail
}

fn entry(class: &str, kind: &str, payload: Value) -> Entry {
    let Value::Object(payload) = payload else {
        panic!("a payload is an object");
    };
    Entry {
        class: class.to_owned(),
        kind: Some(kind.to_owned()),
        correlation_id: "turn-1".to_owned(),
        actor: CORE.to_owned(),
        payload,
        ..Entry::default()
    }
}

fn turn(number: u64) -> Entry {
    entry(
        "Turn",
        "TurnStarted",
        json!({ "turnId": format!("t{number}"), "historyLength": number }),
    )
}

/// A folder with a trail of so many records.
fn trail_of(records: u64) -> TempDir {
    let folder = TempDir::new().unwrap();
    let trail = open(&folder);
    for number in 1..=records {
        trail.append(turn(number)).unwrap();
    }
    folder
}

fn bytes(folder: &TempDir) -> Vec<u8> {
    std::fs::read(folder.path().join(FILE)).unwrap()
}

fn verified(folder: &TempDir) -> std::result::Result<Verified, Broken> {
    verify(&folder.path().join(FILE))
}

#[test]
fn a_record_is_written_as_a_canonical_line_that_anyone_can_check() {
    let folder = TempDir::new().unwrap();
    let trail = open(&folder);
    let payload = json!({"z": 1.5, "a": [true, null, "\u{1}\u{7f}é\"\n/"], "\u{e000}": 1, "😀": 1e21, "n": -0.0});
    let record = trail
        .append(Entry {
            parent_session_id: Some("parent".to_owned()),
            subagent_id: Some("child".to_owned()),
            depth: Some(2),
            ..entry("Turn", "TurnStarted", payload)
        })
        .unwrap();
    trail.append(turn(2)).unwrap();
    let text = String::from_utf8(bytes(&folder)).unwrap();
    let mut prev_hash = GENESIS.to_owned();
    for (line, seq) in text.lines().zip(1..) {
        let mut value: Value = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json_canonicalizer::to_string(&value).unwrap(), line);
        assert_eq!(
            (&value["seq"], &value["prevHash"]),
            (&json!(seq), &json!(prev_hash))
        );
        let hash = value.as_object_mut().unwrap().remove("hash").unwrap();
        let canonical = serde_json_canonicalizer::to_vec(&value).unwrap();
        prev_hash = Sha256::digest(&canonical)
            .iter()
            .fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        assert_eq!(hash, prev_hash.as_str());
    }
    assert_eq!(prev_hash, trail.last_hash());
    assert!(text.ends_with('\n') && text.lines().count() == 2);
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["sessionId"], SESSION);
    assert_eq!(first["timestamp"], record.timestamp.as_str());
    assert_eq!(
        (&first["depth"], &first["subagentId"]),
        (&json!(2), &json!("child"))
    );
}

#[test]
fn nobody_else_can_read_the_file() {
    let folder = TempDir::new().unwrap();
    let audit = folder.path().join("sessions/s/audit");
    let trail = Trail::open(&audit, SESSION, Arc::default()).unwrap().trail;
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&audit), mode(trail.path())), (0o700, 0o600));
    drop(trail);
    std::fs::set_permissions(audit.join(FILE), Permissions::from_mode(0o644)).unwrap();
    let trail = Trail::open(&audit, SESSION, Arc::default()).unwrap().trail;
    assert_eq!(mode(trail.path()), 0o600);
}

#[test]
fn a_trail_goes_on_where_it_ended() {
    let folder = trail_of(3);
    let trail = open(&folder);
    let hash = trail.last_hash();
    trail.append(turn(4)).unwrap();
    trail.sync().unwrap();
    assert_ne!(trail.last_hash(), hash);
    let verified = verified(&folder).unwrap();
    assert_eq!(
        (verified.records, verified.last_hash),
        (4, trail.last_hash())
    );
}

#[test]
fn an_empty_trail_is_whole() {
    let folder = trail_of(0);
    let verified = verified(&folder).unwrap();
    assert_eq!(
        (verified.records, verified.last_hash.as_str()),
        (0, GENESIS)
    );
}

#[test]
fn records_from_many_threads_make_one_chain() {
    let folder = TempDir::new().unwrap();
    let trail = open(&folder);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let trail = &trail;
            scope.spawn(move || {
                for number in 0..50 {
                    trail.append(turn(thread * 100 + number)).unwrap();
                    if number % 10 == 0 {
                        trail.query(&AuditQuery::default()).unwrap();
                    }
                }
            });
        }
    });
    let verified = verified(&folder).unwrap();
    assert_eq!(
        (verified.records, verified.last_hash),
        (400, trail.last_hash())
    );
    let times: Vec<String> = trail
        .query(&AuditQuery::default())
        .unwrap()
        .into_iter()
        .map(|record| record.timestamp)
        .collect();
    assert_eq!(times.len(), 400);
    assert!(times.is_sorted());
}

#[test]
fn a_trail_has_one_writer() {
    let folder = TempDir::new().unwrap();
    let first = open(&folder);
    let error = Trail::open(folder.path(), SESSION, Arc::default()).unwrap_err();
    assert!(error.is(Class::Session, "AuditTrailUnavailable"), "{error}");
    drop(first);
    open(&folder);
}

#[test]
fn what_is_no_file_is_not_opened() {
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join(FILE)).unwrap();
    let error = Trail::open(folder.path(), SESSION, Arc::default()).unwrap_err();
    assert!(error.is(Class::Session, "AuditTrailUnavailable"), "{error}");
    let broken = verified(&folder).unwrap_err();
    assert_eq!(broken.reason.word(), "unreadable");
}

#[test]
fn core_writes_only_classes_it_has() {
    let folder = TempDir::new().unwrap();
    let trail = open(&folder);
    for (actor, class) in [(CORE, "Turns"), (CORE, ""), ("indexer", " ")] {
        let error = trail
            .append(Entry {
                actor: actor.to_owned(),
                ..entry(class, "x", json!({}))
            })
            .unwrap_err();
        stud_observed::covers!(UNKNOWN_AUDIT_CLASS, error);
        assert_eq!(error.context()["class"], class);
    }
    let plugin = |class: &str| Entry {
        actor: "indexer".to_owned(),
        ..entry(class, "Built", json!({ "files": 3 }))
    };
    let error = trail.append(plugin("Approval")).unwrap_err();
    assert!(
        error.is(Class::ExtensionHost, "AuditClassReserved"),
        "{error}"
    );
    assert_eq!(trail.append(plugin("Indexing")).unwrap().actor, "indexer");
    assert_eq!(verified(&folder).unwrap().records, 1);
}

#[test]
fn every_record_belongs_to_something() {
    let trail = open(&TempDir::new().unwrap());
    for blank in ["", " ", "\t\n"] {
        let error = trail
            .append(Entry {
                correlation_id: blank.to_owned(),
                ..turn(1)
            })
            .unwrap_err();
        stud_observed::covers!(AUDIT_WITHOUT_CORRELATION, error);
    }
}

#[test]
fn no_secret_reaches_the_file() {
    let folder = TempDir::new().unwrap();
    let redactor = Arc::new(Redactor::new());
    let opened = Trail::open(folder.path(), SESSION, redactor.clone()).unwrap();
    redactor.learn_text("pa\"ss-word");
    let payload = json!({
        "plain": "it is pa\"ss-word",
        "json": r#"{"key":"pa\"ss-word"}"#,
        "pa\"ss-word": "a name",
        "shaped": "use sk-ant-api03-abc",
        "ref": {"kind": "keyring", "name": "main"},
        "long": "y".repeat(70_000),
    });
    let record = opened
        .trail
        .append(Entry {
            actor: "plugin".to_owned(),
            kind: Some("pa\"ss-word".to_owned()),
            ..entry("Leaking", "", payload)
        })
        .unwrap();
    let text = String::from_utf8(bytes(&folder)).unwrap();
    assert!(
        !text.contains("ss-word") && !text.contains("sk-ant"),
        "{text}"
    );
    assert_eq!(record.kind.as_deref(), Some("[REDACTED]"));
    assert_eq!(record.payload["plain"], "it is [REDACTED]");
    assert_eq!(record.payload["ref"], "<ref:main>");
    assert_eq!(record.payload["shaped"], "[REDACTED]");
    assert!(
        record.payload["long"]
            .as_str()
            .unwrap()
            .ends_with("of 70000 bytes]")
    );
    let read = opened.trail.query(&AuditQuery::default()).unwrap();
    assert_eq!(read, [record]);
    redactor.learn_text("TurnStarted");
    let record = opened.trail.append(turn(2)).unwrap();
    assert_eq!(record.kind.as_deref(), Some("TurnStarted"));
}

#[test]
fn a_payload_without_end_leaves_a_record_that_can_be_read() {
    let folder = TempDir::new().unwrap();
    let trail = open(&folder);
    let many: Vec<String> = (0..20).map(|_| "z".repeat(60_000)).collect();
    let record = trail
        .append(entry(
            "ProviderExchange",
            "ProviderRequest",
            json!({"modelId": "echo-1", "messages": many}),
        ))
        .unwrap();
    assert_eq!(record.payload["modelId"], "echo-1");
    let cut = record.payload["messages"].as_str().unwrap();
    assert_eq!(cut, "…[cut 1200061 of 1200061 bytes]");
    let members: Map<String, Value> = (0..20)
        .map(|number| (format!("member-{number}"), "z".repeat(60_000).into()))
        .collect();
    let record = trail
        .append(entry("Turn", "x", Value::Object(members)))
        .unwrap();
    assert_eq!(record.payload.len(), 1);
    assert_eq!(verified(&folder).unwrap().records, 2);
    drop(trail);
    open(&folder);
}

#[test]
fn the_last_record_is_found_however_long_it_is() {
    for length in [10, 8_000, 16_000, 40_000, 300_000] {
        let folder = TempDir::new().unwrap();
        let trail = open(&folder);
        for _ in 0..3 {
            let parts: Vec<String> = (0..20).map(|_| "x".repeat(length / 20)).collect();
            trail
                .append(entry("Turn", "x", json!({ "parts": parts })))
                .unwrap();
        }
        drop(trail);
        open(&folder).append(turn(4)).unwrap();
        assert_eq!(verified(&folder).unwrap().records, 4, "{length}");
    }
}

#[test]
fn times_do_not_go_back() {
    let folder = TempDir::new().unwrap();
    let trail = open(&folder);
    lock(&trail.state).last_time = "2999-01-01T00:00:00.000Z".to_owned();
    let record = trail.append(turn(1)).unwrap();
    assert_eq!(record.timestamp, "2999-01-01T00:00:00.000Z");
    drop(trail);
    assert_eq!(
        open(&folder).append(turn(2)).unwrap().timestamp,
        record.timestamp
    );
}

#[test]
fn a_query_gives_what_fits_in_order() {
    let folder = TempDir::new().unwrap();
    let trail = open(&folder);
    let records: Vec<AuditRecord> = [
        turn(1),
        entry("Approval", "Decided", json!({})),
        Entry {
            correlation_id: "turn-2".to_owned(),
            ..turn(2)
        },
    ]
    .into_iter()
    .map(|entry| trail.append(entry).unwrap())
    .collect();
    let query = |query: Value| {
        trail
            .query(&serde_json::from_value(query).unwrap())
            .unwrap()
    };
    assert_eq!(query(json!({})), records);
    assert_eq!(
        query(json!({"class": "Turn"})),
        [records[0].clone(), records[2].clone()]
    );
    assert_eq!(
        query(json!({"class": "Turn", "correlationId": "turn-2"})),
        records[2..]
    );
    assert_eq!(query(json!({"since": "1970-01-02"})), records);
    assert_eq!(query(json!({"since": "2999-01-01T00:00:00+23:00"})), []);
    assert_eq!(query(json!({"subagentId": "nobody"})), []);
}

#[test]
fn children_are_active_until_their_end_is_on_record() {
    let folder = TempDir::new().unwrap();
    let trail = open(&folder);
    let spawned = |id: &str| Entry {
        parent_session_id: Some(SESSION.to_owned()),
        subagent_id: Some(id.to_owned()),
        depth: Some(1),
        ..entry(
            "SubagentExecution",
            "SubagentSpawned",
            json!({"providerId": "echo", "modelId": "echo-1", "approvedEnvelope": ["read", "grep"], "label": "x"}),
        )
    };
    let ended =
        |id: &str, kind: &str| entry("SubagentExecution", kind, json!({ "subagentId": id }));
    let ids = |trail: &Trail| -> Vec<String> {
        let active = trail.active_subagents().unwrap();
        active.into_iter().map(|child| child.subagent_id).collect()
    };
    assert_eq!(ids(&trail), [""; 0]);
    let record = trail.append(spawned("a")).unwrap();
    for id in ["b", "c", "d"] {
        trail.append(spawned(id)).unwrap();
    }
    assert_eq!(
        trail.active_subagents().unwrap()[0],
        ActiveSubagent {
            subagent_id: "a".to_owned(),
            parent_session_id: SESSION.to_owned(),
            depth: 1,
            provider_id: "echo".to_owned(),
            model_id: "echo-1".to_owned(),
            approved_envelope: vec!["read".to_owned(), "grep".to_owned()],
            spawned_at: record.timestamp,
        }
    );
    trail.append(ended("b", "SubagentHalted")).unwrap();
    trail.append(ended("a", "SubagentEscalated")).unwrap();
    assert_eq!(ids(&trail), ["a", "c", "d"]);
    trail.append(ended("c", "SubagentCompleted")).unwrap();
    trail.append(ended("d", "SubagentAborted")).unwrap();
    trail.append(spawned("e")).unwrap();
    assert_eq!(ids(&trail), ["a", "e"]);
    drop(trail);
    assert_eq!(ids(&open(&folder)), ["a", "e"]);
}

#[test]
fn a_trail_that_cannot_be_synced_takes_nothing_more() {
    let folder = TempDir::new().unwrap();
    let trail = open(&folder);
    lock(&trail.state).unusable = Some("the disk is gone".to_owned());
    for error in [
        trail.append(turn(1)).unwrap_err(),
        trail.sync().unwrap_err(),
    ] {
        assert!(error.is(Class::Session, "AuditTrailUnavailable"), "{error}");
        assert!(error.message().contains("the disk is gone"));
    }
    assert_eq!(bytes(&folder), b"");
}

#[test]
fn a_trail_of_nothing_but_a_beginning_and_an_end_is_not_eventful() {
    let folder = tempfile::tempdir().unwrap();
    let trail = open(&folder);
    for kind in ["start", "end"] {
        trail.append(entry(LIFECYCLE, kind, json!({}))).unwrap();
    }
    assert!(!trail.is_eventful());
    trail.append(entry("TrustDecision", "", json!({}))).unwrap();
    assert!(trail.is_eventful());
    trail.close().unwrap();
    drop(trail);
    assert!(open(&folder).is_eventful());
}
