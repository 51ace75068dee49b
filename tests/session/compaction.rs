//! A conversation that outgrows the window of its model.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};
use stud_core::launch::{Launch, Resume};
use stud_core::session::{Ending, SecurityMode};
use stud_tests::{Elf, Live, World, code_of, eventually, fixture};

use crate::context::{Bench, MODEL};
use crate::stage::{Ear, install, probe, tools, ui, write_script};

/// About a hundred tokens that end as told.
fn long(end: &str) -> String {
    format!("{}{end}", "one two three four five ".repeat(20))
}

/// A session in which the next thing that is said does not fit any more.
fn full() -> Bench {
    let bench = Bench::new(json!({"window": 1000}));
    for turn in 1..=7 {
        bench.say(&long(&format!("in turn {turn}")));
    }
    assert!(bench.ear.all_named("CompactionStarted").is_empty());
    bench
}

fn texts(messages: &Value) -> Vec<String> {
    let messages = messages.as_array().unwrap().iter();
    let content = |message: &Value| message["content"].as_str().unwrap().to_owned();
    messages.map(content).collect()
}

#[test]
fn the_oldest_part_gives_way_to_a_summary() {
    let bench = full();
    bench.answers(&json!({"summary": "They counted to five."}));
    bench.say(&long("in the last turn"));
    bench.ear.event("the end of the last turn", |event| {
        event["heard"] == "SessionTurnEnd" && event["seq"].as_u64() > Some(70)
    });
    let told = bench.told();
    let last = told
        .iter()
        .rposition(|name| name == "AssemblyStarted")
        .unwrap();
    assert_eq!(
        told[last..],
        [
            "AssemblyStarted",
            "FragmentsResolved",
            "BudgetEnforced",
            "CompactionInvoked",
            "CompactionInvoked",
            "CompactionStarted",
            "CompactionCompleted",
            "CompactionPerformed",
            "AssemblyCompleted",
            "ProviderRequestStarted",
            "ProviderRequestCompleted",
        ]
    );
    let last_of = |name: &str| bench.ear.all_named(name).pop().unwrap()["payload"].clone();
    let mut invoked = bench.ear.all_named("CompactionInvoked");
    let compactor = invoked.pop().unwrap()["payload"].clone();
    let assembly = invoked.pop().unwrap()["payload"].clone();
    assert_eq!(assembly["reason"], "window-exceeded");
    assert_eq!(assembly["modelWindowTokens"], 1000);
    let (total, target) = (&compactor["totalTokens"], &compactor["targetTokens"]);
    assert!(total.as_u64() > target.as_u64(), "{compactor}");
    assert!(target.as_u64() < Some(500), "{compactor}");
    assert_eq!(last_of("CompactionStarted"), compactor);
    let completed = last_of("CompactionCompleted");
    assert_eq!(completed["segmentsCompacted"], 1);
    assert_eq!(completed["originalTokens"], *total);
    assert!(
        completed["compactedTokens"].as_u64() <= target.as_u64(),
        "{completed}"
    );
    assert_eq!(last_of("CompactionPerformed"), completed);
    let fits = last_of("AssemblyCompleted");
    assert_eq!(fits["compacted"], true);
    assert!(fits["totalTokens"].as_u64() <= Some(500), "{fits}");
    let tokenizer = &bench.ear.all_named("AssemblyStarted").pop().unwrap()["payload"];
    assert_eq!(tokenizer["tokenizerId"], "o200k_base");

    // The window was told to fill up once, before it was full.
    let hits = bench.ear.all_named("CompactionThresholdHit");
    assert_eq!(hits.len(), 1);
    let percent = hits[0]["payload"]["percent"].as_f64().unwrap();
    assert!((80.0..95.0).contains(&percent), "{percent}");

    let asked = bench.asked();
    let [.., summarize, request] = &asked[..] else {
        panic!("{asked:#?}");
    };
    assert_eq!(summarize["tools"], json!([]));
    let told = texts(&summarize["messages"]);
    assert_eq!(told.len(), 2);
    assert!(told[0].contains("in turn 1") && !told[0].contains("in the last turn"));
    let said = texts(&request["messages"]);
    assert!(said[0].ends_with("They counted to five."), "{said:?}");
    assert_eq!(*said.last().unwrap(), long("in the last turn"));
    assert!(said.contains(&long("in turn 7")) && !said.contains(&long("in turn 1")));
    assert!(
        request["tools"][0]["name"].is_string(),
        "the rest is untouched"
    );

    let audited = bench.audited("Compaction");
    assert_eq!(audited.len(), 1);
    let record = &audited[0]["payload"];
    assert_eq!(record["segmentsCompacted"], 1);
    assert_eq!(record["beforeTokens"], completed["originalTokens"]);
    assert_eq!(record["afterTokens"], completed["compactedTokens"]);
    assert!(record["droppedMessages"].as_u64() > Some(4), "{record}");
    assert!(!audited[0].to_string().contains("counted"));
}

/// The records of one kind in the journal of a session.
fn journal(world: &World, id: &str, kind: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(world.path(format!("home/sessions/{id}/journal.log")));
    let text = text.unwrap();
    let records = text.lines().filter_map(|line| {
        let start = line.find('{')?;
        serde_json::from_str::<Value>(&line[start..]).ok()
    });
    let record = |line: Value| match line.get("record") {
        Some(record) => record.clone(),
        None => line,
    };
    records
        .map(record)
        .filter(|record| record["kind"] == kind)
        .collect()
}

#[test]
fn a_session_goes_on_with_the_summary_after_a_restart() {
    let bench = full();
    bench.say(&long("in the last turn"));
    let id = bench.live.session().id().to_owned();
    let before = bench.live.session().conversation();
    assert_eq!(before[0]["content"], json!({"summary": "In short."}));
    let records = journal(&bench.world, &id, "compaction");
    assert_eq!(records.len(), 1);
    let turns = records[0]["payload"]["segments"][0]["turnIds"].clone();
    let begun = journal(&bench.world, &id, "turn_start");
    let begun: Vec<&Value> = begun
        .iter()
        .map(|turn| &turn["payload"]["turnId"])
        .collect();
    let turns = turns.as_array().unwrap();
    assert!(turns.len() > 2 && turns.len() < begun.len());
    assert_eq!(turns.iter().collect::<Vec<_>>(), begun[..turns.len()]);
    bench.live.session().close().unwrap();

    let how = Launch {
        resume: Some(Resume::Session(id)),
        ..Launch::default()
    };
    let again = bench
        .world
        .live_as(vec![filesystem_session_store::stud_plugin()], how);
    assert_eq!(again.session().conversation(), before);
    again.say_to("script-provider", MODEL, "go on").answered();
    let said = texts(&bench.last_asked()["messages"]);
    assert!(said[0].ends_with("In short."), "{said:?}");
    assert_eq!(said.last().unwrap(), "go on");
    again.session().close().unwrap();
}

#[test]
fn a_session_that_was_killed_has_the_summary_from_its_journal() {
    let world = World::new();
    let said = |text: String| json!({"call": "session.append", "with": {"kind": "userInput", "text": text}});
    let mut inputs: Vec<Value> = (1..=12)
        .map(|turn| said(long(&long(&turn.to_string()))))
        .collect();
    inputs.push(said(r#"!tool ask_user {"question": "Go on?"}"#.to_owned()));
    let one = ui(&world, "one", &json!({"activate": inputs}));
    tools(&world);
    let echo = Elf::read(&fixture("echo")).with_manifest(|manifest| {
        manifest["models"][0]["capabilities"]["contextWindow"] = 4000.into();
    });
    world.write("home/providers/echo/libecho.so", echo.bytes);
    let mut stud = world
        .command()
        .arg("--headless")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    stud.stdin.take().unwrap().write_all(b"last\n").unwrap();
    one.saw("ToolInput");
    stud.kill().unwrap();
    stud.wait().unwrap();
    let completed = one.heard("CompactionCompleted");
    assert_eq!(completed["payload"]["segmentsCompacted"], 1);

    // Without its last snapshot the session has only what its journal says.
    write_script(&world, "one", &json!({}));
    let sessions = std::fs::read_dir(world.path("home/sessions")).unwrap();
    let folder = sessions.flatten().next().unwrap().path();
    let id = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let bundled = || vec![echo::stud_plugin(), filesystem_session_store::stud_plugin()];
    let resume = || Launch {
        resume: Some(Resume::Session(id.clone())),
        ..Launch::default()
    };
    let live = world.live_as(bundled(), resume());
    // What was left open is closed anew each time, under another number.
    let said = |live: &Live| {
        let mut said = live.session().conversation();
        for message in &mut said {
            message.remove("monotonicTs");
        }
        said
    };
    let from_both = said(&live);
    live.session().close().unwrap();
    std::fs::remove_file(folder.join("manifest.json")).unwrap();
    let live = world.live_as(bundled(), resume());
    let from_journal = said(&live);
    assert!(from_journal == from_both, "{from_journal:#?}");
    let summaries = from_journal
        .iter()
        .filter(|message| message["content"]["summary"].is_string());
    assert_eq!(summaries.count(), 1);
    assert!(from_journal[0]["content"]["summary"].is_string());
    assert!(from_journal.len() < 25, "{}", from_journal.len());
    live.session().close().unwrap();
}

#[test]
fn without_a_summary_nothing_is_sent_and_nothing_is_lost() {
    let bench = full();
    let before = bench.live.session().conversation().len();
    bench.answers(&json!({"failSummary": "RateLimited"}));
    let error = bench.failed(&long(&long(&long("in the last turn"))));
    stud_observed::covers!(SUMMARIZE_FAILED, error);
    let cause = error.context()["cause"].as_str().unwrap();
    assert!(cause.ends_with("RateLimited"), "{cause}");
    let failed = bench.ear.named("CompactionFailed");
    assert_eq!(failed["payload"]["errorCode"], "SummarizeFailed");
    assert_eq!(bench.live.session().conversation().len(), before + 1);
    assert!(bench.audited("Compaction").is_empty());
    assert_eq!(bench.asked().len(), 8, "seven turns and one try");

    bench.answers(&json!({"summary": " "}));
    assert_eq!(bench.refused("x").0, "ProviderTransient/SummarizeFailed");
    bench.answers(&json!({"summary": long("").repeat(10)}));
    assert_eq!(bench.refused("x").0, "Validation/ContextOverflow");
    bench.answers(&json!({}));
    assert_eq!(bench.say("go on").text, "ok");
}

#[test]
fn a_conversation_that_still_fits_goes_on_without_a_summary() {
    let bench = Bench::new(json!({"window": 1000, "context": {"compactAt": 0.5}}));
    bench.answers(&json!({"failSummary": "RateLimited"}));
    for turn in 1..=5 {
        assert_eq!(bench.say(&long(&turn.to_string())).text, "ok");
    }
    bench.ear.named("CompactionFailed");
}

#[test]
fn what_cannot_be_made_to_fit_is_refused_at_once() {
    let bench = Bench::new(json!({"window": 300}));
    let error = bench.failed(&long(&long(&long("too much"))));
    stud_observed::covers!(CONTEXT_OVERFLOW, error);
    let total = error.context()["totalTokens"].as_u64();
    assert!(total > Some(300), "{total:?}");
    assert!(bench.asked().is_empty());
    let bench = Bench::new(json!({"window": 10}));
    let (code, facts) = bench.refused("the tools alone are too much");
    assert_eq!(code, "Validation/ContextOverflow");
    assert_eq!(facts["modelWindowTokens"], 10);
}

#[test]
fn a_turn_that_is_called_off_does_not_wait_for_the_summary() {
    let bench = full();
    bench.answers(&json!({"hangSummary": true}));
    let text = long("in the last turn");
    let talking = bench.live.say_to("script-provider", MODEL, &text);
    bench.ear.named("CompactionStarted");
    eventually("the summarizer", || {
        (bench.asked().len() == 8).then_some(())
    });
    bench.live.session().cancel_turn();
    let answered = talking.answered();
    assert!(matches!(answered.ending, Ending::Cancelled), "{answered:?}");
    bench.answers(&json!({}));
    assert_eq!(bench.say("go on").text, "ok");
}

#[test]
fn a_model_can_ask_for_it() {
    let world = World::new();
    let how = Launch {
        mode: Some(SecurityMode::Yolo),
        ..Launch::default()
    };
    let bundled = vec![
        echo::stud_plugin(),
        filesystem_session_store::stud_plugin(),
        context_compaction::stud_plugin(),
    ];
    let echo = Elf::read(&fixture("echo")).with_manifest(|manifest| {
        manifest["models"][0]["capabilities"]["contextWindow"] = 4000.into();
    });
    world.write("home/providers/echo/libecho.so", echo.bytes);
    let live = world.live_as(bundled, how);
    let ear = Ear::of(&live);
    let compact = |args: Value| {
        let text = live
            .say(&format!("!tool context-compaction {args}"))
            .answered();
        let result = text.text.strip_prefix("RESULT ").unwrap().to_owned();
        serde_json::from_str::<Value>(&result).unwrap()
    };
    let nothing = compact(json!({}));
    assert_eq!(nothing["result"]["compactedSegments"], 0);
    assert_eq!(nothing["result"]["summary"], "");
    for turn in 1..=4 {
        live.say(&long(&turn.to_string())).answered();
    }
    let before = live.session().conversation().len();
    let done = compact(json!({"targetUtilizationPercent": 25, "preserveRecentTurns": 1}));
    let result = &done["result"];
    assert_eq!(result["compactedSegments"], 1, "{done}");
    assert!(result["compactedTokens"].as_u64() < result["originalTokens"].as_u64());
    assert!(
        result["newUtilizationPercent"].as_f64() <= Some(25.0),
        "{done}"
    );
    assert!(!result["summary"].as_str().unwrap().is_empty());
    let after = live.session().conversation();
    assert!(after.len() < before);
    assert!(after[0]["content"]["summary"].is_string());
    assert!(
        after[1]["content"].as_str().unwrap().starts_with("!tool"),
        "{after:#?}"
    );
    assert_eq!(ear.all_named("CompactionCompleted").len(), 2);

    let failed = compact(json!({"targetUtilizationPercent": 0}));
    assert_eq!(failed["error"]["code"], "OutputMalformed", "{failed}");
    let refused = compact(json!({"targetUtilizationPercent": 101}));
    assert_eq!(refused["error"]["code"], "InputInvalid", "{refused}");
    live.session().close().unwrap();
}

#[test]
fn a_command_can_ask_for_it_between_turns() {
    let world = World::new();
    let command = probe(&world, "probe-command", "commands");
    let hook = probe(&world, "probe-hook", "hooks");
    install(&world, "probe-tool", "tools");
    let bench = Bench::in_world(world, json!({"window": 2000}));
    let ask = json!({"targetUtilizationPercent": 30, "preserveRecentTurns": 1});
    let early = command.call("context.compact", &ask).unwrap_err();
    assert_eq!(code_of(&early), "ExtensionHost/NotReady");
    for turn in 1..=6 {
        bench.say(&long(&turn.to_string()));
    }
    let forbidden = hook.call("context.compact", &ask).unwrap_err();
    assert_eq!(
        code_of(&forbidden),
        "ExtensionHost/ContextContributionForbidden"
    );
    let done = command.call("context.compact", &ask).unwrap();
    assert_eq!(done["compactedSegments"], 1, "{done}");
    assert_eq!(done["summary"], "In short.");
    assert_eq!(bench.live.session().conversation().len(), 3);
    let used = bench.live.session().metrics().snapshot().context.percent;
    assert_eq!(used, done["newUtilizationPercent"].as_f64());
    bench.say("go on");
    let said = texts(&bench.last_asked()["messages"]);
    assert_eq!(said.len(), 4, "{said:?}");
    let again = command.call("context.compact", &ask).unwrap();
    assert_eq!(again["compactedSegments"], 0);
}

#[test]
fn what_is_more_than_the_model_takes_is_summarized_piece_by_piece() {
    let bench = Bench::new(json!({"window": 20_000}));
    for turn in 1..=12 {
        let text = long(&long(&long(&long(&format!("in turn {turn}")))));
        bench.say(&text);
    }
    bench.live.session().close().unwrap();
    let id = bench.live.session().id().to_owned();
    // The next model takes much less.
    let settings = std::fs::read_to_string(bench.world.path("home/settings.json")).unwrap();
    let settings = settings.replace("20000", "2000");
    bench.world.write("home/settings.json", settings);
    let how = Launch {
        resume: Some(Resume::Session(id.clone())),
        ..Launch::default()
    };
    let again = bench
        .world
        .live_as(vec![filesystem_session_store::stud_plugin()], how);
    let answered = again.say_to("script-provider", MODEL, "go on").answered();
    assert_eq!(answered.text, "ok");
    let record = journal(&bench.world, &id, "compaction").pop().unwrap();
    let segments = record["payload"]["segments"].as_array().unwrap();
    assert!(segments.len() > 3, "{record:#}");
    let asked = bench.asked();
    let summaries: Vec<&Value> = asked
        .iter()
        .filter(|request| request["maxTokens"].is_u64())
        .collect();
    assert_eq!(summaries.len(), segments.len());
    let later = texts(&summaries[1]["messages"]);
    assert!(
        later[0].contains("In short."),
        "each goes on from the one before"
    );
    again.session().close().unwrap();
}
