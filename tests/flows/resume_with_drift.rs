//! Session resume with drift: the session continues though its environment has changed.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::bench::{Bench, in_both_forms};

fn manifest_of(bench: &Bench, session: &str) -> PathBuf {
    let folder = bench.world.home().join("sessions").join(session);
    folder.join("manifest.json")
}

fn read(path: &PathBuf) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn an_extension_that_is_gone_is_simply_not_there() {
    in_both_forms(|bench| {
        bench.install("good-logger", "loggers");
        bench.install("fixture-tools", "tools");
        bench.headless(&[], r#"!tool fx_bytes {"n": 2}"#).result();
        let session = bench.sessions().pop().unwrap();
        let path = manifest_of(bench, &session);
        let before = read(&path);
        for folder in ["home/loggers/good-logger", "home/tools/fixture-tools"] {
            std::fs::remove_dir_all(bench.world.path(folder)).unwrap();
        }
        let run = bench.headless(&["--continue"], "again");
        assert_eq!(run.answer(), "USER again");
        assert_eq!(run.stderr, "");
        let after = read(&path);
        let kept = before["messages"].as_array().unwrap();
        let now = after["messages"].as_array().unwrap();
        assert_eq!(now[..kept.len()], kept[..]);
        assert_eq!(after["createdAt"], before["createdAt"]);
    });
}

#[test]
fn a_session_of_another_store_is_left_alone() {
    in_both_forms(|bench| {
        bench.headless(&[], "one").answer();
        let session = bench.sessions().pop().unwrap();
        let path = manifest_of(bench, &session);
        let mut manifest = read(&path);
        manifest["storeId"] = "another-store".into();
        let foreign = serde_json::to_string_pretty(&manifest).unwrap();
        std::fs::write(&path, &foreign).unwrap();
        let ear = bench.ear();
        let run = bench.headless(&["--resume", &session], "two");
        assert_eq!((run.status, &*run.stdout), (1, ""));
        assert!(
            run.stderr.contains("error[Session/ResumeMismatch]"),
            "{run:#?}"
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), foreign);
        assert!(ear.heard("SessionTurnStart").is_empty());
    });
}

#[test]
fn the_newest_session_is_not_passed_over_because_another_store_wrote_it() {
    in_both_forms(|bench| {
        bench.headless(&[], "old").answer();
        bench.headless(&[], "new").answer();
        let sessions = bench.sessions();
        let disown = |session: &str| {
            let path = manifest_of(bench, session);
            let mut manifest = read(&path);
            manifest["storeId"] = "another-store".into();
            std::fs::write(&path, serde_json::to_string_pretty(&manifest).unwrap()).unwrap();
        };
        disown(&sessions[1]);
        let run = bench.headless(&["--continue"], "more");
        assert_eq!((run.status, &*run.stdout), (1, ""));
        let surface: Value = serde_json::from_str(run.stderr.lines().last().unwrap()).unwrap();
        let error = &surface["error"];
        assert_eq!(error["code"], "ResumeMismatch");
        assert_eq!(error["context"]["manifestStoreId"], "another-store");
        assert_eq!(
            error["context"]["activeStoreId"],
            "filesystem-session-store"
        );
        assert_eq!(error["context"]["sessionId"], sessions[1]);
        // Once there is a newer one, that is the one to continue with.
        bench.headless(&["--resume", &sessions[0]], "more").answer();
        assert_eq!(
            bench.headless(&["--continue"], "again").answer(),
            "USER again"
        );
    });
}

#[test]
fn a_state_machine_that_is_gone_is_named_and_stays_on_record() {
    in_both_forms(|bench| {
        bench.headless(&[], "one").answer();
        let session = bench.sessions().pop().unwrap();
        let path = manifest_of(bench, &session);
        let mut manifest = read(&path);
        let machine = json!({"smExtId": "ralph", "stateSlotRef": "ralph"});
        manifest["smState"] = machine.clone();
        std::fs::write(&path, serde_json::to_string_pretty(&manifest).unwrap()).unwrap();
        let ear = bench.ear();
        assert_eq!(bench.headless(&["--continue"], "two").answer(), "USER two");
        let [resumed] = &ear.heard("SessionResumed")[..] else {
            panic!("it was resumed once");
        };
        assert_eq!(resumed["smRestored"], false);
        assert_eq!(
            resumed["skippedExtensions"],
            json!([{"extId": "ralph", "reason": "it is not loaded"}])
        );
        assert_eq!(read(&path)["smState"], machine);
    });
}

#[test]
fn a_snapshot_that_is_damaged_is_told_and_passed_over() {
    in_both_forms(|bench| {
        bench.headless(&[], "old").answer();
        bench.headless(&[], "new").answer();
        let newest = bench.sessions().pop().unwrap();
        std::fs::write(manifest_of(bench, &newest), "{").unwrap();
        let run = bench.headless(&["--resume", &newest], "more");
        assert_eq!(run.status, 1);
        assert!(
            run.stderr.contains("error[Session/ManifestDrift]"),
            "{run:#?}"
        );
        bench.hook("script-observer", "looker", "SEND_REQUEST/pre", json!({}));
        bench.headless(&["--continue"], "more").answer();
        assert_eq!(bench.seen_by("looker")[0]["messages"][0]["content"], "old");
    });
}

#[test]
fn a_session_that_outgrows_its_snapshot_says_so_and_goes_on() {
    in_both_forms(|bench| {
        bench.install("fixture-tools", "tools");
        // A model that can be told as much.
        bench.settings(&json!({
            "providers": {"echo": {"models": [{"id": "echo-1", "contextWindow": 100_000_000}]}},
        }));
        let ear = bench.ear();
        let call = format!(r#"!tool fx_bytes {{"n": {}}}"#, 9 << 20);
        assert_eq!(bench.headless(&[], &call).status, 0);
        let [exceeded] = &ear.heard("ManifestSizeBudgetExceeded")[..] else {
            panic!("it is told once");
        };
        assert_eq!(
            (&exceeded["site"], &exceeded["thresholdBytes"]),
            (&json!("pre-save"), &json!(8 << 20))
        );
        assert!(exceeded["actualBytes"].as_u64().unwrap() > 8 << 20);
        assert_eq!(exceeded["recommendation"], "/compact");
        let sites = || -> Vec<Value> {
            let records = bench.audited("SessionLifecycle").into_iter();
            records
                .filter(|record| record["kind"] == "ManifestSizeBudgetExceeded")
                .map(|mut record| record["payload"]["site"].take())
                .collect()
        };
        assert_eq!(sites(), ["pre-save"]);
        let run = bench.headless(&["--continue"], "again");
        assert_eq!(run.answer(), "USER again");
        let exceeded = ear.heard("ManifestSizeBudgetExceeded");
        assert_eq!(exceeded[1]["site"], "pre-hydration");
        assert_eq!(sites()[..2], ["pre-save", "pre-hydration"]);
    });
}
