//! Calls of the categories that serve: providers, loggers, state machines, context providers.

use serde::de::DeserializeOwned;
use stud_contract_context_provider::ContextFragment;
use stud_contract_logger::Record;
use stud_contract_meta::Result;
use stud_contract_provider::{Request, StreamEvent};
use stud_contract_state_machine::{
    AssertOutcome, GateResult, NextResult, PhaseInput, StageContext, StagePhase,
};

use super::{Harness, reply};
use crate::testing::block_on;

impl Harness {
    /// Sends a request to a provider and collects the whole answer.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # use stud_sdk::provider::{FinishReason, Request, Sink, StreamEvent};
    /// # /// Says hi.
    /// # #[provider(protocol = "hi")]
    /// # struct RequestExample;
    /// # impl Provider for RequestExample {
    /// #     async fn request(&self, _request: Request, out: Sink, _cx: &Cx) -> Result<FinishReason> {
    /// #         out.text("hi").await;
    /// #         Ok(FinishReason::Stop)
    /// #     }
    /// # }
    /// # let request: Request = serde_json::from_value(json!({"messages": [], "tools": [], "modelId": "x"})).unwrap();
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// let events = harness.request(&request)?;
    /// assert_eq!(events[0], StreamEvent::TextDelta { delta: "hi".into() });
    /// # Ok::<(), Error>(())
    /// ```
    pub fn request(&self, request: &Request) -> Result<Vec<StreamEvent>> {
        let provider = self.running()?.provider()?;
        let payload = serde_json::to_string(request).unwrap_or_default();
        block_on(async {
            let mut stream = provider.request(payload, self.call()).await?;
            let mut events = Vec::new();
            while let Some(item) = stream.next().await? {
                events.push(StreamEvent::read(item)?);
            }
            Ok(events)
        })
    }

    /// Gives a logger a record.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # use stud_sdk::logger::Record;
    /// # /// Drops everything.
    /// # #[logger(accepts(events))]
    /// # struct SinkExample;
    /// # impl Logger for SinkExample {
    /// #     async fn sink(&self, _record: Record, _cx: &Cx) -> Result<()> { Ok(()) }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// harness.sink(&Record { name: "SessionTurnStart".into(), ..Record::default() })?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn sink(&self, record: &Record) -> Result<()> {
        let logger = self.running()?.logger()?;
        let payload = serde_json::to_string(record).unwrap_or_default();
        reply(&block_on(logger.sink(
            record.kind.as_str(),
            payload,
            self.call(),
        ))?)
    }

    /// Runs the phase `setup` of a stage.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # use stud_sdk::state_machine::{NextResult, StageContext};
    /// # /// How far the machine is.
    /// # #[derive(Schema)]
    /// # struct Progress {
    /// #     /// The stage that runs.
    /// #     stage: String,
    /// # }
    /// # /// Plans, then builds.
    /// # #[state_machine(stages_file = "tests/all/stages.json", state_slot(version = "1.0.0", schema = Progress))]
    /// # struct SetupExample;
    /// # impl StateMachine for SetupExample {
    /// #     async fn next(&self, _stage: &str, _context: &StageContext, _cx: &Cx) -> Result<NextResult> {
    /// #         Ok(NextResult::end())
    /// #     }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert_eq!(harness.setup("plan", StageContext::default())?, StageContext::default());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn setup(&self, stage: &str, context: StageContext) -> Result<StageContext> {
        self.phase(StagePhase::Setup, stage, context)
    }

    /// Runs the phase `checkGate` of a stage.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # use stud_sdk::state_machine::{GateResult, NextResult, StageContext};
    /// # /// How far the machine is.
    /// # #[derive(Schema)]
    /// # struct Progress {
    /// #     /// The stage that runs.
    /// #     stage: String,
    /// # }
    /// # /// Plans, then builds.
    /// # #[state_machine(stages_file = "tests/all/stages.json", state_slot(version = "1.0.0", schema = Progress))]
    /// # struct GateExample;
    /// # impl StateMachine for GateExample {
    /// #     async fn next(&self, _stage: &str, _context: &StageContext, _cx: &Cx) -> Result<NextResult> {
    /// #         Ok(NextResult::end())
    /// #     }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert_eq!(harness.check_gate("plan", StageContext::default())?, GateResult::Proceed);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn check_gate(&self, stage: &str, context: StageContext) -> Result<GateResult> {
        self.phase(StagePhase::CheckGate, stage, context)
    }

    /// Runs the phase `assert` of a stage.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # use stud_sdk::state_machine::{AssertOutcome, NextResult, StageContext};
    /// # /// How far the machine is.
    /// # #[derive(Schema)]
    /// # struct Progress {
    /// #     /// The stage that runs.
    /// #     stage: String,
    /// # }
    /// # /// Plans, then builds.
    /// # #[state_machine(stages_file = "tests/all/stages.json", state_slot(version = "1.0.0", schema = Progress))]
    /// # struct AssessExample;
    /// # impl StateMachine for AssessExample {
    /// #     async fn next(&self, _stage: &str, _context: &StageContext, _cx: &Cx) -> Result<NextResult> {
    /// #         Ok(NextResult::end())
    /// #     }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert_eq!(harness.assess("plan", StageContext::default())?, AssertOutcome::Ok);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn assess(&self, stage: &str, context: StageContext) -> Result<AssertOutcome> {
        self.phase(StagePhase::Assert, stage, context)
    }

    /// Runs the phase `exit` of a stage.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # use stud_sdk::state_machine::{NextResult, StageContext};
    /// # /// How far the machine is.
    /// # #[derive(Schema)]
    /// # struct Progress {
    /// #     /// The stage that runs.
    /// #     stage: String,
    /// # }
    /// # /// Plans, then builds.
    /// # #[state_machine(stages_file = "tests/all/stages.json", state_slot(version = "1.0.0", schema = Progress))]
    /// # struct ExitExample;
    /// # impl StateMachine for ExitExample {
    /// #     async fn next(&self, _stage: &str, _context: &StageContext, _cx: &Cx) -> Result<NextResult> {
    /// #         Ok(NextResult::end())
    /// #     }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// harness.exit("plan", StageContext::default())?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn exit(&self, stage: &str, context: StageContext) -> Result<()> {
        self.phase(StagePhase::Exit, stage, context)
    }

    /// Runs the phase `next` of a stage.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # use stud_sdk::state_machine::{NextResult, StageContext};
    /// # /// How far the machine is.
    /// # #[derive(Schema)]
    /// # struct Progress {
    /// #     /// The stage that runs.
    /// #     stage: String,
    /// # }
    /// # /// Plans, then builds.
    /// # #[state_machine(stages_file = "tests/all/stages.json", state_slot(version = "1.0.0", schema = Progress))]
    /// # struct NextExample;
    /// # impl StateMachine for NextExample {
    /// #     async fn next(&self, _stage: &str, _context: &StageContext, _cx: &Cx) -> Result<NextResult> {
    /// #         Ok(NextResult::end())
    /// #     }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert_eq!(harness.next("plan", StageContext::default())?, NextResult::end());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn next(&self, stage: &str, context: StageContext) -> Result<NextResult> {
        self.phase(StagePhase::Next, stage, context)
    }

    fn phase<T: DeserializeOwned>(
        &self,
        phase: StagePhase,
        stage: &str,
        context: StageContext,
    ) -> Result<T> {
        let machine = self.running()?.state_machine()?;
        let input = PhaseInput {
            stage: stage.to_owned(),
            context,
        };
        let payload = serde_json::to_string(&input).unwrap_or_default();
        reply(&block_on(machine.phase(
            phase.as_str(),
            payload,
            self.call(),
        ))?)
    }

    /// Asks a context provider for its fragments.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # use stud_sdk::context_provider::ContextFragment;
    /// # /// Has nothing to add.
    /// # #[context_provider]
    /// # struct ProvideExample;
    /// # impl ContextProvider for ProvideExample {
    /// #     async fn provide(&self, _cx: &Cx) -> Result<Vec<ContextFragment>> { Ok(vec![]) }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert!(harness.provide()?.is_empty());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn provide(&self) -> Result<Vec<ContextFragment>> {
        let provider = self.running()?.context_provider()?;
        reply(&block_on(provider.provide(
            "",
            "null".to_owned(),
            self.call(),
        ))?)
    }
}
