//! Every way to change a trail, and the line at which it shows.

use stud_observed::campaign;

use super::*;

fn lines(folder: &TempDir) -> Vec<String> {
    let text = String::from_utf8(bytes(folder)).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// What is found in a trail of five records after a change to its lines.
fn found(change: impl FnOnce(&mut Vec<String>)) -> (u64, Option<u64>, Reason) {
    let folder = trail_of(5);
    let mut changed = lines(&folder);
    change(&mut changed);
    let text = changed.join("\n") + "\n";
    std::fs::write(folder.path().join(FILE), text).unwrap();
    let broken = verified(&folder).unwrap_err();
    assert_eq!(broken.whole, broken.line - 1);
    let diagnostic = broken.diagnostic(Path::new("x"));
    assert_eq!(diagnostic.code.to_string(), "Session/AuditTrailBroken");
    assert_eq!(diagnostic.context["line"], broken.line);
    (broken.line, broken.seq, broken.reason)
}

/// The line with another content and a hash that fits it.
fn forged(line: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut value: Value = serde_json::from_str(line).unwrap();
    change(&mut value);
    let prev_hash = value["prevHash"].as_str().unwrap().to_owned();
    let seq = value["seq"].as_u64().unwrap();
    let record: AuditRecord = serde_json::from_value(value.clone()).unwrap();
    let payload = serde_json_canonicalizer::to_string(&value["payload"]).unwrap();
    let line = line::write(&record, &payload, seq, &prev_hash);
    String::from_utf8(line.bytes).unwrap().trim_end().to_owned()
}

#[test]
fn an_edit_shows_where_it_was_made() {
    for (from, to) in [
        ("\"historyLength\":3", "\"historyLength\":4"),
        ("\"t3\"", "\"t4\""),
        ("turn-1", "turn-2"),
        ("\"actor\":\"core\"", "\"actor\":\"cora\""),
        ("Z\"}", "Z\",\"x\":1}"),
    ] {
        let found = found(|lines| lines[2] = lines[2].replacen(from, to, 1));
        assert_eq!(found, (3, Some(3), Reason::Altered), "{from}");
    }
}

#[test]
fn every_single_byte_counts() {
    let folder = trail_of(2);
    let whole = bytes(&folder);
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        std::fs::write(folder.path().join(FILE), &changed).unwrap();
        let broken = verified(&folder).unwrap_err();
        let line = whole[..at].split(|byte| *byte == b'\n').count() as u64;
        assert_eq!(broken.line, line, "{at}: {broken}");
    }
    campaign::figure("bytes of a trail changed, each found", whole.len() as u64);
}

/// Random edits of several lines at once, with hashes computed anew where the editor can: the chain or the index of heads
/// has to show each.
#[test]
fn whatever_is_edited_the_chain_or_the_index_shows_it() {
    let rounds = campaign::times(300, 10_000, 200_000);
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % bound as u64).unwrap()
    };
    let folder = trail_of(5);
    let path = folder.path().join(FILE);
    let whole = lines(&folder);
    let last = verify(&path).unwrap();
    for round in 0..rounds {
        let mut edited = whole.clone();
        for _ in 0..=below(3) {
            if edited.is_empty() {
                break;
            }
            let at = below(edited.len());
            match below(6) {
                0 => drop(edited.remove(at)),
                1 => edited.truncate(at),
                2 => edited.insert(at, edited[at].clone()),
                3 => {
                    let other = below(edited.len());
                    edited.swap(at, other);
                }
                // As far as an editor without a key can go: everything from here on is written anew.
                4 => {
                    let mut prev = match at {
                        0 => GENESIS.to_owned(),
                        at => hash_of_line(&edited[at - 1]),
                    };
                    for (index, line) in edited.iter_mut().enumerate().skip(at) {
                        *line = forged(line, |value| {
                            value["prevHash"] = prev.as_str().into();
                            value["seq"] = (index + 1).into();
                            value["payload"]["historyLength"] = json!(round + 1000);
                        });
                        prev = hash_of_line(line);
                    }
                }
                _ => edited[at] = edited[at].replacen("\"t", "\"u", 1),
            }
        }
        if edited == whole {
            continue;
        }
        let text: String = edited.iter().flat_map(|line| [line, "\n"]).collect();
        std::fs::write(&path, text).unwrap();
        let is_shown = match verify(&path) {
            Err(_) => true,
            Ok(verified) => verified.last_hash != last.last_hash,
        };
        assert!(is_shown, "round {round}: {edited:#?}");
    }
    campaign::figure("edited trails, each found", rounds);
}

fn hash_of_line(line: &str) -> String {
    let value: Value = serde_json::from_str(line).unwrap();
    value["hash"].as_str().unwrap().to_owned()
}

#[test]
fn an_edit_with_a_new_hash_shows_at_the_next_record() {
    let change = |value: &mut Value| value["payload"]["historyLength"] = json!(9);
    let found = found(|lines| lines[2] = forged(&lines[2], change));
    assert_eq!(found, (4, Some(4), Reason::Unchained));
}

#[test]
fn a_removed_record_shows_where_it_was() {
    for removed in 0..4 {
        let found = found(|lines| {
            lines.remove(removed);
        });
        let expected = removed as u64 + 1;
        assert_eq!(
            found,
            (
                expected,
                Some(expected + 1),
                Reason::OutOfSequence { expected }
            )
        );
    }
}

#[test]
fn another_order_shows_where_it_begins() {
    assert_eq!(
        found(|lines| lines.swap(1, 2)),
        (2, Some(3), Reason::OutOfSequence { expected: 2 })
    );
}

#[test]
fn an_inserted_record_shows_where_it_is() {
    let again = found(|lines| lines.insert(2, lines[1].clone()));
    assert_eq!(again, (3, Some(2), Reason::OutOfSequence { expected: 3 }));
    let made_up = |value: &mut Value| {
        value["seq"] = json!(3);
        value["payload"]["turnId"] = json!("made up");
    };
    let found = found(|lines| lines.insert(2, forged(&lines[1], made_up)));
    assert_eq!(found, (3, Some(3), Reason::Unchained));
}

#[test]
fn what_is_no_record_shows() {
    for line in [
        "",
        "{}",
        "null",
        "[1]",
        "not json",
        "{\"seq\":3}",
        "\u{feff}{}",
    ] {
        let (at, _, reason) = found(|lines| lines[2] = line.to_owned());
        assert_eq!((at, reason.word()), (3, "notARecord"), "{line}");
    }
}

#[test]
fn the_same_values_written_otherwise_show() {
    for (from, to) in [
        ("{\"actor\"", "{ \"actor\""),
        (
            "\"actor\":\"core\",\"class\":\"Turn\"",
            "\"class\":\"Turn\",\"actor\":\"core\"",
        ),
        ("\"core\"", "\"cor\\u0065\""),
        ("\"seq\":3", "\"seq\":3,\"seq\":3"),
        ("\"historyLength\":3", "\"historyLength\":3.0"),
    ] {
        let found = found(|lines| lines[2] = lines[2].replacen(from, to, 1));
        assert_eq!(found, (3, Some(3), Reason::NotCanonical), "{from}");
    }
}

#[test]
fn a_hash_inside_the_payload_is_no_hash_of_the_record() {
    let folder = TempDir::new().unwrap();
    let trail = open(&folder);
    let quoted = format!("\",\"hash\":\"{GENESIS}\"");
    trail
        .append(entry(
            "Turn",
            &quoted,
            json!({"hash": GENESIS, "a": {"hash": quoted}}),
        ))
        .unwrap();
    trail.append(turn(2)).unwrap();
    assert_eq!(verified(&folder).unwrap().records, 2);
}

#[test]
fn a_record_of_another_session_shows() {
    let folder = trail_of(2);
    let path = folder.path().join(FILE);
    let chain = Chain::open(&path).unwrap().of_session("another");
    let broken = verify_each(chain, |_, _| {}).unwrap_err();
    let reason = Reason::OtherSession {
        found: SESSION.to_owned(),
    };
    assert_eq!((broken.line, broken.reason), (1, reason));
    let error = Trail::open(folder.path(), "another", Arc::default()).unwrap_err();
    assert!(error.is(Class::Session, "AuditTrailBroken"), "{error}");
}

#[test]
fn nothing_is_added_to_a_trail_whose_end_was_changed() {
    let check = |change: fn(&mut Vec<String>), reason: &str| {
        let folder = trail_of(3);
        let mut changed = lines(&folder);
        change(&mut changed);
        let text = changed.join("\n") + "\n";
        std::fs::write(folder.path().join(FILE), &text).unwrap();
        let error = Trail::open(folder.path(), SESSION, Arc::default()).unwrap_err();
        assert!(error.is(Class::Session, "AuditTrailBroken"), "{error}");
        assert_eq!(error.context()["reason"], reason, "{error}");
        assert_eq!(bytes(&folder), text.as_bytes());
    };
    check(|lines| lines[2] = lines[2].replace("t3", "t4"), "altered");
    check(|lines| lines[1] = lines[1].replace("t2", "t4"), "altered");
    check(|lines| lines.push("gibberish".to_owned()), "notARecord");
    check(|lines| lines.push(String::new()), "notARecord");
    check(|lines| drop(lines.remove(1)), "outOfSequence");
    check(|lines| drop(lines.drain(..2)), "outOfSequence");
    check(
        |lines| lines[1] = forged(&lines[1], |value| value["payload"]["turnId"] = json!("x")),
        "unchained",
    );
}

#[test]
fn records_cut_off_the_end_are_missed_only_by_who_knows_the_hash() {
    let folder = trail_of(5);
    let before = verified(&folder).unwrap();
    let kept = lines(&folder)[..3].join("\n") + "\n";
    std::fs::write(folder.path().join(FILE), kept).unwrap();
    let mut is_there = false;
    let chain = Chain::open(&folder.path().join(FILE)).unwrap();
    let after = verify_each(chain, |_, hash| is_there |= hash == before.last_hash).unwrap();
    assert_eq!(after.records, 3);
    assert!(!is_there);
}

#[test]
fn a_chain_is_shown_beyond_where_it_breaks() {
    let folder = trail_of(4);
    let mut changed = lines(&folder);
    changed[1] = "gibberish".to_owned();
    changed.remove(2);
    let text = changed.join("\n") + "\n";
    std::fs::write(folder.path().join(FILE), text).unwrap();
    let steps: Vec<Step> = Chain::open(&folder.path().join(FILE)).unwrap().collect();
    let shown: Vec<_> = steps
        .iter()
        .map(|step| (step.seq, step.record.is_some(), step.reason.is_some()))
        .collect();
    assert_eq!(
        shown,
        [
            (Some(1), true, false),
            (None, false, true),
            (Some(4), true, false)
        ]
    );
}

#[test]
fn numbers_with_fractions_survive_the_way_through_the_file() {
    let folder = TempDir::new().unwrap();
    let trail = open(&folder);
    let mut bits: u64 = 0x3ff0_0000_0000_0001;
    for _ in 0..200 {
        // Doubles from all over, in a fixed order.
        bits = bits
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let number = f64::from_bits(bits);
        if number.is_finite() {
            trail
                .append(entry("Turn", "x", json!({ "n": number })))
                .unwrap();
        }
    }
    for number in [
        5e-324,
        1.797_693_134_862_315_7e308,
        0.1,
        1e20,
        1e21,
        123_456_789.123_456_79,
    ] {
        trail
            .append(entry("Turn", "x", json!({ "n": number })))
            .unwrap();
    }
    verified(&folder).unwrap();
    drop(trail);
    open(&folder);
}
