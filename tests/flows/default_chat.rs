//! Default chat: one input, one answer, no tools.

use serde_json::{Value, json};

use crate::bench::{in_both_forms, members};

const WITHOUT_TOOLS: [&str; 5] = [
    "RECEIVE_INPUT",
    "COMPOSE_REQUEST",
    "SEND_REQUEST",
    "STREAM_RESPONSE",
    "RENDER",
];

#[test]
fn a_turn_without_tools_passes_five_stages_in_order() {
    in_both_forms(|bench| {
        let ear = bench.ear();
        assert_eq!(bench.headless(&[], "hello").answer(), "USER hello");
        let pairs = WITHOUT_TOOLS.map(|stage| [format!("pre {stage}"), format!("post {stage}")]);
        assert_eq!(ear.stages(), pairs.concat());

        let send = ear.inside("SEND_REQUEST");
        assert_eq!(send, [["ProviderRequestStarted", "SpanStart"]]);
        let stream = ear.inside("STREAM_RESPONSE");
        assert_eq!(
            stream,
            [[
                "ProviderTokensStreamed",
                "SpanEnd",
                "ProviderRequestCompleted"
            ]]
        );
        let gathered = &ear.heard("ProviderFragmentsResolved")[0];
        assert_eq!(members(gathered), ["fragmentCount", "providerCount"]);
        let span = &ear.heard("SpanEnd")[0];
        assert_eq!(
            (&span["name"], &span["outcome"]),
            (&json!("provider-request"), &json!("ok"))
        );
        let render = ear.inside("RENDER");
        assert_eq!(render, [["TurnRendered"]], "the UI is called exactly once");
        assert_eq!(ear.heard("TurnRendered")[0]["text"], "USER hello");
    });
}

#[test]
fn a_turn_has_one_correlation_id_from_its_first_event_to_its_last() {
    in_both_forms(|bench| {
        let ear = bench.ear();
        bench.headless(&[], "hello");
        let turn = ear.turn();
        assert_eq!(turn.first().unwrap(), "SessionTurnStart");
        assert_eq!(turn.last().unwrap(), "SessionTurnEnd");

        let [start] = &ear.heard("SessionTurnStart")[..] else {
            panic!("one turn was begun");
        };
        assert_eq!(members(start), ["inputSeq", "turnId"]);
        let [end] = &ear.heard("SessionTurnEnd")[..] else {
            panic!("one turn was ended");
        };
        let expected = json!({"turnId": start["turnId"], "capHit": false});
        assert_eq!(*end, expected);

        let events = ear.events();
        let first = events
            .iter()
            .position(|event| event["heard"] == "SessionTurnStart");
        let last = events
            .iter()
            .position(|event| event["heard"] == "SessionPersisted");
        for event in &events[first.unwrap()..=last.unwrap()] {
            assert_eq!(event["correlationId"], start["turnId"], "{event}");
        }
        let seqs: Vec<u64> = events
            .iter()
            .map(|event| event["seq"].as_u64().unwrap())
            .collect();
        assert!(seqs.is_sorted_by(|one, other| one < other));
    });
}

#[test]
fn an_exchange_is_told_with_its_model_and_what_it_came_to() {
    in_both_forms(|bench| {
        let ear = bench.ear();
        bench.headless(&[], "hello");
        let model = json!({"providerId": "echo", "modelId": "echo-1", "iteration": 0});
        assert_eq!(ear.heard("ProviderRequestStarted"), [model]);
        let [delta] = &ear.heard("ProviderTokensStreamed")[..] else {
            panic!("there was one piece");
        };
        assert_eq!(members(delta), ["cumulativeOutputTokens", "delta"]);
        assert_eq!(delta["delta"], "USER hello");
        let [done] = &ear.heard("ProviderRequestCompleted")[..] else {
            panic!("there was one exchange");
        };
        assert_eq!(
            members(done),
            [
                "assistantText",
                "durationMs",
                "finishReason",
                "modelId",
                "outputTokens",
                "providerId"
            ]
        );
        assert_eq!(done["finishReason"], "stop");
        assert_eq!(done["assistantText"], "USER hello");
    });
}

#[test]
fn the_request_has_the_history_and_the_tools_and_nothing_of_the_settings() {
    in_both_forms(|bench| {
        bench.settings(&json!({"env": {"FLOW_TOKEN": "tok-4711-settings"}}));
        bench.install("gated-tools", "tools");
        bench.hook("script-observer", "looker", "SEND_REQUEST/pre", json!({}));
        bench.headless(&[], "hello");
        let [request] = &bench.seen_by("looker")[..] else {
            panic!("one request was sent");
        };
        assert_eq!(
            request["messages"],
            json!([{"role": "user", "content": "hello"}])
        );
        let tools = request["tools"].as_array().unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
        assert!(names.contains(&&json!("gt_run")), "{names:?}");
        assert!(!request.to_string().contains("tok-4711"), "{request}");
    });
}

#[test]
fn what_was_said_is_kept_before_it_is_told_as_kept() {
    in_both_forms(|bench| {
        let ear = bench.ear();
        bench.headless(&[], "hello");
        let session = bench.sessions().pop().unwrap();
        let events = ear.events();
        let place = |name: &str| {
            let place = events.iter().position(|event| event["heard"] == name);
            place.unwrap_or_else(|| panic!("no {name}"))
        };
        assert!(place("SessionTurnEnd") < place("SessionPersisted"));
        assert_eq!(
            ear.heard("SessionPersisted"),
            [json!({"sessionId": session, "storeId": "filesystem-session-store"})]
        );
        let manifest = bench.world.home().join("sessions").join(&session);
        let manifest = std::fs::read_to_string(manifest.join("manifest.json")).unwrap();
        let manifest: Value = serde_json::from_str(&manifest).unwrap();
        let messages = manifest["messages"].as_array().unwrap();
        let roles: Vec<_> = messages.iter().map(|message| &message["role"]).collect();
        assert_eq!(roles, ["user", "assistant"]);
        assert_eq!(messages[0]["content"], "hello");
    });
}

#[test]
fn a_turn_is_on_record_from_its_start_to_its_end() {
    in_both_forms(|bench| {
        let ear = bench.ear();
        bench.headless(&[], "hello");
        let turn = &ear.heard("SessionTurnStart")[0]["turnId"];
        let records = bench.audited("Turn");
        let [started, ended] = &records[..] else {
            panic!("{records:#?}");
        };
        assert_eq!(
            (&started["kind"], &ended["kind"]),
            (&json!("TurnStarted"), &json!("TurnEnded"))
        );
        assert_eq!(started["correlationId"], *turn);
        let expected = json!({"turnId": turn, "userInput": "hello", "historyLength": 0});
        assert_eq!(started["payload"], expected);
        let payload = &ended["payload"];
        assert_eq!(
            (&payload["turnId"], &payload["finishReason"]),
            (turn, &json!("stop"))
        );
        assert_eq!(
            (&payload["historyLength"], &payload["toolCallCount"]),
            (&json!(2), &json!(0))
        );
        assert!(payload["durationMs"].is_u64());
        let exchange = bench.audited("ProviderExchange");
        let kinds: Vec<_> = exchange.iter().map(|record| &record["kind"]).collect();
        assert_eq!(kinds, ["ProviderRequest", "ProviderResponse"]);
        let response = &exchange[1]["payload"];
        assert_eq!(
            members(response),
            [
                "durationMs",
                "estimatedOutputTokens",
                "finishReason",
                "modelId",
                "outputTokens",
                "providerId",
                "usage"
            ]
        );
        // What was saved at the end of the turn is not saved again at the end of the session.
        let life = bench.audited("SessionLifecycle");
        let life: Vec<_> = life.iter().map(|record| &record["kind"]).collect();
        assert_eq!(life, ["start", "save", "end"]);
    });
}

#[test]
fn a_blank_input_is_refused_and_asks_no_model() {
    in_both_forms(|bench| {
        let blank =
            json!({"call": "session.append", "with": {"kind": "userInput", "text": " \n\t"}});
        let ui = bench.ui("one", &json!({"activate": [blank]}));
        assert_eq!(bench.headless(&[], "hello").answer(), "USER hello");
        let lines = ui.lines();
        let call = lines.iter().find(|line| line["call"] == "session.append");
        let error = &call.unwrap()["error"];
        stud_observed::covers!(USER_INPUT_INVALID, error);
        assert_eq!(ui.heard("ProviderRequestStarted").len(), 1);
        assert_eq!(bench.recorded("user_input").len(), 1);
    });
}

#[test]
fn a_provider_that_fails_ends_its_turn_and_not_the_session() {
    in_both_forms(|bench| {
        let input = json!({"kind": "userInput", "text": "!fail Unauthorized"});
        let first = json!({"call": "session.append", "with": input});
        let ui = bench.ui("one", &json!({"activate": [first]}));
        assert_eq!(bench.headless(&[], "hello").answer(), "USER hello");

        let posts = ui.heard("StagePostFired");
        let failed: Vec<_> = posts
            .iter()
            .filter(|post| post.get("error").is_some())
            .collect();
        let expected = json!({"stage": "SEND_REQUEST", "error": true});
        assert_eq!(failed, [&expected]);
        let [failure] = &ui.heard("ProviderRequestFailed")[..] else {
            panic!("one request failed");
        };
        assert_eq!(
            members(failure),
            [
                "durationMs",
                "errorClass",
                "errorCode",
                "message",
                "modelId",
                "providerId"
            ]
        );
        assert_eq!(
            (&failure["errorClass"], &failure["errorCode"]),
            (&json!("ProviderTransient"), &json!("Unauthorized"))
        );
        let exchange = bench.audited("ProviderExchange");
        let response = &exchange[1]["payload"];
        assert_eq!(response["finishReason"], "error");
        let error = &response["error"];
        assert_eq!(
            (&error["class"], &error["code"]),
            (&failure["errorClass"], &failure["errorCode"])
        );
        assert_eq!(error["message"], failure["message"]);
        assert_eq!(ui.heard("SessionTurnEnd").len(), 2);
        let kinds = bench.audited("Turn").into_iter();
        let kinds: Vec<_> = kinds.map(|mut record| record["kind"].take()).collect();
        assert_eq!(
            kinds,
            ["TurnStarted", "TurnError", "TurnStarted", "TurnEnded"]
        );
    });
}

#[test]
fn a_conversation_over_a_pipe_goes_on_from_turn_to_turn() {
    in_both_forms(|bench| {
        bench.hook("script-observer", "looker", "SEND_REQUEST/pre", json!({}));
        let mut talk = bench.talk(&[]);
        talk.say("one");
        talk.hears("USER one");
        talk.say("two");
        talk.hears("USER two");
        let (status, stdout, stderr) = talk.end();
        assert_eq!(status, 0, "{stderr}");
        assert_eq!(stdout, "USER one\nUSER two\n");
        let requests = bench.seen_by("looker");
        let history: Vec<_> = requests[1]["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| (&message["role"], &message["content"]))
            .collect();
        let [user, assistant] = [json!("user"), json!("assistant")];
        let [one, answer, two] = [json!("one"), json!("USER one"), json!("two")];
        assert_eq!(
            history,
            [(&user, &one), (&assistant, &answer), (&user, &two)]
        );
    });
}
