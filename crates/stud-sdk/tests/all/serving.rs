//! Providers, loggers, state machines, session stores, context providers.

use stud_sdk::host::session::{Page, SecurityMode};
use stud_sdk::json;
use stud_sdk::logger::{Record, RecordKind};
use stud_sdk::provider::{FinishReason, Request, StreamEvent};
use stud_sdk::session_store::{JournalBatch, JournalRecord, SessionManifest, Stored};
use stud_sdk::state_machine::{AssertOutcome, Attempt, GateResult, NextResult, StageContext};
use stud_sdk::testing::{FakeHost, Harness};

mod parrot {
    use stud_sdk::prelude::*;
    use stud_sdk::provider::{FinishReason, Request, Sink};

    /// Says what it was told.
    #[provider(
        protocol = "parrot",
        tool_calling = "absent",
        context_window = 4096,
        models(model("small", tool_calling = "hard")),
        interactions("Auth.Password")
    )]
    struct Parrot;

    impl Provider for Parrot {
        async fn request(&self, request: Request, out: Sink, _cx: &Cx) -> Result<FinishReason> {
            let Some(last) = request.messages.last() else {
                return Err(Error::new(
                    Class::ProviderTransient,
                    "Silent",
                    "nothing was said",
                ));
            };
            for _ in 0..1000 {
                out.text(last.content.text()).await;
            }
            Ok(FinishReason::Stop)
        }
    }
}

#[test]
fn a_provider_streams() {
    let harness = Harness::new(parrot::stud_plugin(), FakeHost::new());
    let request: Request = serde_json::from_value(json!({
        "messages": [{"role": "user", "content": "hi"}], "tools": [], "modelId": "small",
    }))
    .unwrap();
    let events = harness.request(&request).unwrap();
    assert_eq!(events.len(), 1001);
    assert_eq!(events[0], StreamEvent::TextDelta { delta: "hi".into() });
    assert_eq!(
        events[1000],
        StreamEvent::Finish {
            reason: FinishReason::Stop
        }
    );

    let silent: Request =
        serde_json::from_value(json!({"messages": [], "tools": [], "modelId": "x"})).unwrap();
    assert_eq!(harness.request(&silent).unwrap_err().code(), "Silent");
}

#[test]
fn a_provider_makes_all_seven_claims() {
    let harness = Harness::new(parrot::stud_plugin(), FakeHost::new());
    let manifest = harness.manifest();
    assert_eq!(manifest["protocol"], "parrot");
    assert_eq!(
        manifest["capabilities"],
        json!({
            "streaming": "hard", "toolCalling": "absent", "structuredOutput": "probed", "multimodal": "probed",
            "reasoning": "probed", "promptCaching": "probed", "contextWindow": 4096,
        })
    );
    assert_eq!(manifest["models"][0]["modelId"], "small");
    assert_eq!(manifest["models"][0]["capabilities"]["toolCalling"], "hard");
    assert_eq!(
        manifest["models"][0]["capabilities"]["contextWindow"],
        "probed"
    );
}

mod tail {
    use std::sync::Mutex;

    use stud_sdk::logger::Record;
    use stud_sdk::prelude::*;

    pub(super) static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

    /// Keeps the names of records.
    #[logger(accepts(events, audit), min_severity = "warn")]
    struct Tail;

    impl Logger for Tail {
        async fn sink(&self, record: Record, _cx: &Cx) -> Result<()> {
            LINES.lock().unwrap().push(record.name);
            Ok(())
        }
    }
}

#[test]
fn a_logger_keeps_records() {
    let harness = Harness::new(tail::stud_plugin(), FakeHost::new());
    let record = Record {
        name: "GuardDeny".into(),
        kind: RecordKind::Audit,
        ..Record::default()
    };
    harness.sink(&record).unwrap();
    assert_eq!(*tail::LINES.lock().unwrap(), ["GuardDeny"]);
    assert_eq!(
        harness.manifest()["accepts"],
        json!({"events": true, "audit": true, "diagnostics": false, "minSeverity": "warn"})
    );
    let properties = &harness.manifest()["configSchema"]["properties"];
    assert_eq!(properties["level"]["default"], "info");
    assert_eq!(properties["redactSecrets"]["default"], true);
    assert_eq!(harness.manifest()["reloadBehavior"], "in-turn");
}

mod plan {
    use stud_sdk::prelude::*;
    use stud_sdk::state_machine::{AssertOutcome, NextResult, StageContext};

    /// How far the machine is.
    #[derive(Schema)]
    struct Progress {
        /// The stage.
        stage: String,
    }

    /// Plans, then builds.
    #[state_machine(
        entry = "plan",
        stages_file = "tests/all/stages.json",
        state_slot(version = "1.0.0", schema = Progress),
        interactions("Confirm"),
    )]
    struct PlanAndBuild;

    impl StateMachine for PlanAndBuild {
        async fn setup(
            &self,
            _stage: &str,
            mut context: StageContext,
            _cx: &Cx,
        ) -> Result<StageContext> {
            context.set("goal", "ship it");
            Ok(context)
        }

        async fn next(&self, stage: &str, context: &StageContext, _cx: &Cx) -> Result<NextResult> {
            let outcome = context.attempt().and_then(|attempt| attempt.outcome);
            Ok(match (stage, outcome) {
                ("plan", Some(AssertOutcome::Ok)) => NextResult::to("build"),
                _ => NextResult::end(),
            })
        }
    }
}

#[test]
fn a_state_machine_goes_through_its_phases() {
    let harness = Harness::new(plan::stud_plugin(), FakeHost::new());
    let context = harness.setup("plan", StageContext::default()).unwrap();
    assert_eq!(context.get("goal"), Some(&json!("ship it")));
    assert_eq!(
        harness.check_gate("plan", context.clone()).unwrap(),
        GateResult::Proceed
    );
    let mut acted = context;
    acted.attempts.push(Attempt {
        outcome: Some(AssertOutcome::Ok),
        ..Attempt::default()
    });
    assert_eq!(
        harness.assess("plan", acted.clone()).unwrap(),
        AssertOutcome::Ok
    );
    harness.exit("plan", acted.clone()).unwrap();
    assert_eq!(
        harness.next("plan", acted).unwrap(),
        NextResult::to("build")
    );

    let manifest = harness.manifest();
    assert_eq!(manifest["activeCardinality"], "one-attached");
    assert_eq!(manifest["entryStage"], "plan");
    assert_eq!(manifest["stages"][1]["id"], "build");
    assert_eq!(manifest["stages"][0]["turnCap"], 10);
}

mod memory {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use stud_sdk::prelude::*;
    use stud_sdk::session_store::{JournalBatch, JournalPage, JournalRecord, Page, Stored};

    /// Keeps sessions as long as the process lives.
    #[session_store(store_id = "memory", journaling, snapshot_bytes_limit = 1_000_000)]
    #[derive(Default)]
    struct Memory {
        sessions: Mutex<BTreeMap<String, Stored>>,
        journal: Mutex<Vec<JournalRecord>>,
    }

    impl SessionStore for Memory {
        async fn read(&self, session_id: &str, _cx: &Cx) -> Result<Stored> {
            let found = self.sessions.lock().unwrap().get(session_id).cloned();
            found.ok_or_else(|| Error::new(Class::Session, "ResumeMismatch", "no such session"))
        }

        async fn write(&self, stored: Stored, _cx: &Cx) -> Result<()> {
            let id = stored.manifest.session_id.clone();
            self.sessions.lock().unwrap().insert(id, stored);
            Ok(())
        }

        async fn list(&self, _cx: &Cx) -> Result<Vec<String>> {
            Ok(self.sessions.lock().unwrap().keys().cloned().collect())
        }

        async fn append(&self, _session_id: &str, batch: JournalBatch, _cx: &Cx) -> Result<()> {
            self.journal.lock().unwrap().extend(batch.records);
            Ok(())
        }

        async fn read_journal(
            &self,
            _session_id: &str,
            _page: Page,
            _cx: &Cx,
        ) -> Result<JournalPage> {
            Ok(JournalPage {
                records: self.journal.lock().unwrap().clone(),
                next_after_seq: None,
            })
        }
    }
}

#[test]
fn a_store_keeps_sessions() {
    let harness = Harness::new(memory::stud_plugin(), FakeHost::new());
    let stored = Stored {
        manifest: SessionManifest {
            session_id: "s1".into(),
            project_root: "/p/.stud".into(),
            mode: SecurityMode::Ask,
            messages: vec![],
            sm_state: None,
            store_id: "memory".into(),
            created_at: String::new(),
            updated_at: String::new(),
        },
        slots: vec![],
        damage: vec![],
    };
    assert_eq!(
        harness.read_session("s1").unwrap_err().code(),
        "ResumeMismatch"
    );
    harness.write_session(&stored).unwrap();
    assert_eq!(harness.read_session("s1").unwrap(), stored);
    assert_eq!(harness.list_sessions().unwrap(), ["s1"]);
    let records = vec![JournalRecord {
        seq: 1,
        record: json!({"kind": "note"}),
    }];
    let batch = JournalBatch {
        records: records.clone(),
        ..JournalBatch::default()
    };
    harness.append_journal("s1", &batch).unwrap();
    assert_eq!(
        harness.read_journal("s1", Page::default()).unwrap().records,
        records
    );

    let manifest = harness.manifest();
    assert_eq!(manifest["handlers"].as_array().unwrap().len(), 5);
    assert_eq!(manifest["reloadBehavior"], "never");
    assert_eq!(
        manifest["capabilities"],
        json!({
            "journaling": true, "snapshotBytesLimit": 1_000_000, "largeSlotStreaming": false,
            "concurrentReaders": false,
        })
    );
}

mod rules {
    use stud_sdk::context_provider::{ContextFragment, FragmentKind};
    use stud_sdk::prelude::*;

    /// Rules of the house.
    #[context_provider]
    struct Rules;

    impl ContextProvider for Rules {
        async fn provide(&self, cx: &Cx) -> Result<Vec<ContextFragment>> {
            let fragment = ContextFragment {
                kind: FragmentKind::SystemMessage,
                content: "Be brief.".into(),
                token_budget: 10,
                ..ContextFragment::default()
            };
            cx.host().context().contribute(fragment.clone()).await?;
            Ok(vec![fragment])
        }
    }
}

#[test]
fn a_context_provider_provides() {
    let harness = Harness::new(rules::stud_plugin(), FakeHost::new());
    assert_eq!(harness.provide().unwrap(), harness.host().contributed());
    assert_eq!(harness.manifest()["kind"], "ContextProvider");
    assert_eq!(
        harness.manifest()["discoveryRules"]["folder"],
        "context-providers"
    );
}
