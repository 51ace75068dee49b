//! What was acknowledged exists after the process was killed, exactly once, whatever it was doing.
#![forbid(unsafe_code)]
#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use stud_core::launch::{Launch, Resume};
use stud_host_api::session::{Page, TranscriptRecord};
use stud_observed::campaign;
use stud_tests::{World, fixture};

/// How often the program is killed.
fn kills() -> u32 {
    u32::try_from(campaign::times(200, 1_000, 3_600)).unwrap()
}

/// A number that looks random and is the same in every run.
fn scatter(seed: u32) -> u32 {
    let mut number = seed.wrapping_mul(2_654_435_761) ^ 0x9E37_79B9;
    number ^= number >> 15;
    number = number.wrapping_mul(2_246_822_519);
    number ^ (number >> 13)
}

fn world() -> World {
    let world = World::new();
    let library = std::fs::read(fixture("keen-ui")).unwrap();
    world.write("home/ui/keen-ui/libkeen_ui.so", library);
    world
}

/// The program with its input held open, saying things that begin with `lead`.
fn spawn(world: &World, lead: &str, session: Option<&str>) -> Child {
    let config = json!({"log": world.path("acknowledged"), "lead": lead});
    world.write("home/ui/keen-ui/config.json", config.to_string());
    let mut command = world.command();
    if let Some(session) = session {
        command.args(["--resume", session]);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What the plugin was told is safe: the place in the session and the text.
fn acknowledged(world: &World) -> Vec<(u64, String)> {
    let log = std::fs::read_to_string(world.path("acknowledged")).unwrap_or_default();
    let whole = log.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole
        .lines()
        .map(|line| {
            let (seq, text) = line.split_once(' ').unwrap();
            (seq.parse().unwrap(), text.to_owned())
        })
        .collect()
}

fn only_session(world: &World) -> Option<String> {
    let mut sessions = std::fs::read_dir(world.home().join("sessions")).ok()?;
    let session = sessions.next()?.ok()?;
    Some(session.file_name().into_string().unwrap())
}

/// Waits for more to be acknowledged, and then not for long: the kill should come in the middle of something.
fn kill_in_the_middle(world: &World, child: &mut Child, before: usize, seed: u32) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while acknowledged(world).len() <= before {
        assert!(Instant::now() < deadline, "nothing was acknowledged");
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_micros(u64::from(scatter(seed) % 30_000)));
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Every record of the session, read by a process that was not killed.
fn transcript(world: &World, session: &str) -> Vec<TranscriptRecord> {
    std::fs::remove_dir_all(world.home().join("ui")).unwrap();
    let how = Launch {
        resume: Some(Resume::Session(session.to_owned())),
        headless: true,
        ..Launch::default()
    };
    let bundled = vec![echo::stud_plugin(), filesystem_session_store::stud_plugin()];
    let live = world.live_as(bundled, how);
    let mut records = Vec::new();
    let mut after_seq = None;
    loop {
        let page = Page {
            after_seq,
            limit: Some(1000),
        };
        let view = live.session().view("test", page).unwrap();
        records.extend(view.records);
        after_seq = view.next_after_seq;
        if after_seq.is_none() {
            live.session().close().unwrap();
            return records;
        }
    }
}

#[test]
fn nothing_acknowledged_is_lost_or_doubled_by_two_hundred_kills() {
    let world = world();
    let mut session = None;
    for run in 0..kills() {
        let before = acknowledged(&world).len();
        let mut child = spawn(&world, &format!("r{run}"), session.as_deref());
        kill_in_the_middle(&world, &mut child, before, run);
        session = session.or_else(|| only_session(&world));
    }
    let session = session.unwrap();
    let acknowledged = acknowledged(&world);
    assert!(acknowledged.len() >= kills() as usize);
    let records = transcript(&world, &session);

    let seqs: Vec<u64> = records.iter().map(|record| record.seq).collect();
    assert!(seqs.is_sorted_by(|one, other| one < other));
    let of_kind = |kind: &'static str| records.iter().filter(move |record| record.kind == kind);

    let inputs: BTreeMap<u64, &str> = of_kind("user_input")
        .map(|input| (input.seq, input.payload["text"].as_str().unwrap()))
        .collect();
    for (seq, text) in &acknowledged {
        assert_eq!(
            inputs.get(seq),
            Some(&text.as_str()),
            "acknowledged as {seq}"
        );
    }
    let texts: BTreeSet<&str> = inputs.values().copied().collect();
    assert_eq!(texts.len(), inputs.len(), "an input is there twice");

    // Each input is taken up once at most, and in order.
    let taken: Vec<u64> = of_kind("turn_start")
        .map(|turn| turn.payload["inputSeq"].as_u64().unwrap())
        .collect();
    assert!(taken.is_sorted_by(|one, other| one < other));
    assert!(taken.iter().all(|seq| inputs.contains_key(seq)));

    // Each prompt has one outcome, also those that were open when the process was killed.
    let asked: Vec<&str> = of_kind("interaction_request")
        .map(|record| record.payload["interactionId"].as_str().unwrap())
        .collect();
    let mut settled: Vec<&str> = of_kind("interaction_response")
        .map(|record| record.payload["interactionId"].as_str().unwrap())
        .collect();
    settled.sort_unstable();
    assert!(!asked.is_empty());
    assert!(
        settled.is_sorted_by(|one, other| one < other),
        "settled twice"
    );
    assert_eq!(settled.len(), asked.len());

    // What was begun is ended, in the transcript and in the audit trail, and once in each.
    let turns: BTreeSet<&str> = of_kind("turn_start")
        .map(|turn| turn.payload["turnId"].as_str().unwrap())
        .collect();
    let ends: Vec<&str> = of_kind("turn_end")
        .map(|turn| turn.payload["turnId"].as_str().unwrap())
        .collect();
    assert_eq!(ends.len(), turns.len());
    assert_eq!(ends.into_iter().collect::<BTreeSet<_>>(), turns);
    let mut open = BTreeSet::new();
    for (begins, name) in audited(&world, &session) {
        if begins {
            assert!(open.insert(name.clone()), "{name} begins twice");
        } else {
            assert!(open.remove(&name), "{name} ends twice");
        }
    }
    assert_eq!(open, BTreeSet::new(), "begun and not ended");
    campaign::figure("kills", kills().into());
    let count = acknowledged.len() as u64;
    campaign::figure("acknowledged inputs, each there once", count);
}

/// What the audit trail says was begun and ended, in order.
fn audited(world: &World, session: &str) -> Vec<(bool, String)> {
    let trail = world.home().join("sessions").join(session);
    let trail = std::fs::read_to_string(trail.join("audit/trail.jsonl")).unwrap();
    let records = trail.lines().map(|line| -> serde_json::Value {
        // A line that is no record would be a torn one, which resuming moves aside.
        serde_json::from_str(line).unwrap()
    });
    let told = records.filter_map(|record| {
        let name = match record["class"].as_str()? {
            "Turn" => format!("turn {}", record["payload"]["turnId"]),
            "ToolInvocation" => format!("call {}", record["payload"]["toolCallId"]),
            "ProviderExchange" => format!("exchange of {}", record["correlationId"]),
            _ => return None,
        };
        let kind = record["kind"].as_str()?;
        let begins = ["TurnStarted", "ToolCallStarted", "ProviderRequest"].contains(&kind);
        Some((begins, name))
    });
    told.collect()
}

#[test]
fn a_session_that_was_killed_before_its_first_snapshot_comes_back() {
    let world = world();
    let mut child = spawn(&world, "r0", None);
    kill_in_the_middle(&world, &mut child, 0, 1);
    let session = only_session(&world).unwrap();
    let folder = world.home().join("sessions").join(&session);
    let _ = std::fs::remove_file(folder.join("manifest.json"));
    let _ = std::fs::remove_dir_all(folder.join("state"));
    let records = transcript(&world, &session);
    let texts: Vec<&str> = records
        .iter()
        .filter(|record| record.kind == "user_input")
        .map(|record| record.payload["text"].as_str().unwrap())
        .collect();
    for (_, text) in acknowledged(&world) {
        assert!(texts.contains(&text.as_str()), "{text}");
    }
}
