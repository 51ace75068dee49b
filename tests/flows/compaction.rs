//! Compaction warning: a conversation that fills its window, and is summarized when it must be or on request.

use serde_json::{Value, json};

use crate::backend::{Backend, SUMMARY};
use crate::bench::{Bench, Ui, in_both_forms};
use crate::talk::Talk;

/// About 3,000 tokens that end as told.
fn long(end: &str) -> String {
    format!("{}{end}", "one two three four five ".repeat(600))
}

/// A model with this window, which is told to fill up early, and of which the last turn alone stays.
fn settle(bench: &Bench, backend: &Backend, window: u64) {
    bench.settings(&json!({
        "active": {"provider": "work"},
        "context": {"warnAt": 0.3},
        "commands": {"compact": {"preserveRecentTurns": 1}},
        "providers": {"work": {
            "protocol": "openai-compatible",
            "baseUrl": backend.completions(),
            "models": [{"id": "a", "contextWindow": window}],
        }},
    }));
}

/// Says something long, and waits for the end of the turn.
fn fill(talk: &mut Talk, ear: &Ui, turn: usize) {
    talk.say(&long(&format!("in turn {turn}")));
    ear.sees_turns(turn);
}

/// What the model was told, without what it is told every time.
fn messages(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap().iter();
    let said = messages.filter(|message| message["role"] != "system");
    said.map(|message| message["content"].as_str().unwrap().to_owned())
        .collect()
}

/// The names of the events of compaction, in order.
fn of_compaction(ear: &Ui) -> Vec<String> {
    let events = ear.events().into_iter();
    let names = events.map(|event| event["heard"].as_str().unwrap().to_owned());
    // Every request is told of one that was not needed.
    names
        .filter(|name| name.starts_with("Compaction") && name != "CompactionInvoked")
        .collect()
}

#[test]
fn a_person_has_the_conversation_compacted() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        settle(bench, &backend, 40_000);
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        for turn in 1..=5 {
            fill(&mut talk, &ear, turn);
        }
        assert_eq!(of_compaction(&ear), ["CompactionThresholdHit"]);
        let before = ear.events().len();
        talk.say("/compact");
        talk.is_asked("Compacted from ");
        talk.say("and now?");
        ear.sees_turns(6);
        let (status, _, notes) = talk.end();
        assert_eq!(status, 0);

        let since = ear.events().split_off(before);
        let names: Vec<&str> = since
            .iter()
            .map(|event| event["heard"].as_str().unwrap())
            .take_while(|name| *name != "SessionTurnStart")
            .collect();
        assert_eq!(
            names,
            [
                "CommandDispatched",
                "CompactionInvoked",
                "SpanStart",
                "CompactionStarted",
                "SpanEnd",
                "CompactionCompleted",
                "CompactionPerformed",
                "CommandResulted",
            ]
        );
        let (invoked, completed) = (&since[1]["payload"], &since[5]["payload"]);
        assert_eq!(&since[3]["payload"], invoked);
        assert!(invoked["totalTokens"].as_u64() > invoked["targetTokens"].as_u64());
        assert_eq!(completed["originalTokens"], invoked["totalTokens"]);
        assert!(completed["compactedTokens"].as_u64() <= invoked["targetTokens"].as_u64());
        assert_eq!(completed["segmentsCompacted"], 1);
        assert_eq!(&since[6]["payload"], completed);
        let shown = format!(
            "Compacted from {} to {} tokens, now ",
            completed["originalTokens"], completed["compactedTokens"]
        );
        assert!(notes.contains(&shown), "{notes}");

        on_record(bench, completed);
        let [.., summarize, next] = &backend.bodies()[..] else {
            panic!("a summary and a turn");
        };
        assert_eq!(summarize.get("tools"), None);
        let told = messages(summarize).concat();
        assert!(told.contains("in turn 4") && !told.contains("in turn 5"));
        let told = messages(next);
        assert!(told[0].ends_with(SUMMARY), "{}", told[0]);
        assert_eq!(
            told[1..],
            [long("in turn 5"), "from a".into(), "and now?".into()]
        );
        assert!(!next["tools"].as_array().unwrap().is_empty());
    });
}

/// What was done is in the trail without a word of what was said, and in the transcript with the turns that it replaced.
fn on_record(bench: &Bench, completed: &Value) {
    let [audited] = &bench.audited("Compaction")[..] else {
        panic!("one compaction");
    };
    for (key, value) in completed.as_object().unwrap() {
        assert_eq!(&audited["payload"][key], value, "{key}");
    }
    assert_eq!(audited["payload"]["droppedMessages"], 8);
    let exchange = bench.audited("ProviderExchange").into_iter();
    let summary = exchange.filter(|record| record["payload"]["purpose"] == "summary");
    let summary: Vec<Value> = summary.collect();
    let kinds: Vec<_> = summary.iter().map(|record| &record["kind"]).collect();
    assert_eq!(kinds, ["ProviderRequest", "ProviderResponse"]);
    assert_eq!(summary[1]["payload"]["finishReason"], "stop");
    let audited = audited.to_string();
    assert!(!audited.contains(SUMMARY) && !audited.contains("three"));
    let [compaction] = &bench.recorded("compaction")[..] else {
        panic!("one compaction");
    };
    let begun = bench.recorded("turn_start").into_iter().take(4);
    let begun: Value = begun.map(|turn| turn["turnId"].clone()).collect();
    assert_eq!(compaction["segments"][0]["turnIds"], begun);
    assert_eq!(compaction["summary"], SUMMARY);
}

#[test]
fn a_conversation_that_outgrows_its_window_is_summarized_on_the_way() {
    in_both_forms(|bench| {
        let backend = Backend::start();
        settle(bench, &backend, 20_000);
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        let full = (1..=8).find(|turn| {
            fill(&mut talk, &ear, *turn);
            !ear.heard("CompactionStarted").is_empty()
        });
        assert!(full > Some(3), "{full:?}");
        assert_eq!(talk.end().0, 0);

        let names = [
            "CompactionThresholdHit",
            "CompactionStarted",
            "CompactionCompleted",
            "CompactionPerformed",
        ];
        assert_eq!(of_compaction(&ear), names);
        let assembly = ear.inside("COMPOSE_REQUEST").pop().unwrap();
        assert_eq!(
            assembly,
            [
                "AssemblyStarted",
                "ProviderFragmentsResolved",
                "FragmentsResolved",
                "BudgetEnforced",
                "CompactionInvoked",
                "CompactionInvoked",
                "SpanStart",
                "CompactionStarted",
                "SpanEnd",
                "CompactionCompleted",
                "CompactionPerformed",
                "AssemblyCompleted",
            ]
        );
        let fits = ear.heard("AssemblyCompleted").pop().unwrap();
        assert_eq!(fits["compacted"], true);
        assert!(fits["totalTokens"].as_u64() <= Some(20_000), "{fits}");
        let told = messages(backend.bodies().last().unwrap());
        assert!(told[0].ends_with(SUMMARY), "{}", told[0]);
        let last = long(&format!("in turn {}", full.unwrap()));
        assert_eq!(told.last(), Some(&last));
    });
}

#[test]
fn without_a_summary_the_conversation_stays_as_it_was() {
    in_both_forms(|bench| {
        let backend = Backend::that_cannot_summarize();
        settle(bench, &backend, 40_000);
        let ear = bench.ear();
        let mut talk = bench.talk(&[]);
        for turn in 1..=3 {
            fill(&mut talk, &ear, turn);
        }
        talk.say("/compact 20");
        talk.is_asked("ProviderTransient/SummarizeFailed");
        talk.say("and now?");
        ear.sees_turns(4);
        assert_eq!(talk.end().0, 0);
        let [failed] = &ear.heard("CompactionFailed")[..] else {
            panic!("one failure");
        };
        assert_eq!(failed["errorCode"], "SummarizeFailed");
        assert!(ear.heard("CompactionCompleted").is_empty());
        assert!(bench.audited("Compaction").is_empty());
        let told = messages(backend.bodies().last().unwrap());
        assert_eq!(told[0], long("in turn 1"));
        assert_eq!(told.len(), 7);
    });
}
