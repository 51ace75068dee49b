//! Calls of the categories that act: tools, commands, hooks, UIs.

use serde_json::Value;
use stud_abi::EventHeader;
use stud_contract_command::{Completion, Draft, RawArgs, Rendered};
use stud_contract_hook::Verdict;
use stud_contract_interaction::{Payload, Request, Response};
use stud_contract_meta::Result;
use stud_contract_tool::{Envelope, Output};
use stud_contract_ui::{Canvas, Line};

use super::super::script::TURN;
use super::{Harness, reply};
use crate::testing::block_on;

impl Harness {
    /// Calls a tool.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # /// Says hi.
    /// # #[tool]
    /// # fn tool_example() -> &'static str { "hi" }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert_eq!(harness.tool("tool_example", json!({}))?, Output::text("hi"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn tool(&self, name: &str, args: Value) -> Result<Output> {
        let tool = self.running()?.tool()?;
        let text = block_on(tool.execute(name, args.to_string(), self.call()))?;
        reply::<Envelope>(&text)?.into_result()
    }

    /// Derives the approval key of a tool call.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # /// Says hi.
    /// # #[tool]
    /// # fn key_example() -> &'static str { "hi" }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert_eq!(harness.approval_key("key_example", &json!({}))?, "key_example:{}");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn approval_key(&self, name: &str, args: &Value) -> Result<String> {
        reply(
            &self
                .running()?
                .tool()?
                .approval_key(name, &args.to_string())?,
        )
    }

    /// Runs a command with what would be typed after its name.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # #[derive(Args)]
    /// # struct Input {
    /// #     /// What to echo.
    /// #     word: String,
    /// # }
    /// # /// Says it again.
    /// # #[command(id = "command-example", name = "echo")]
    /// # fn echo(input: Input) -> String { input.word }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert_eq!(harness.command("echo", "hi")?.rendered, "hi");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn command(&self, name: &str, typed: &str) -> Result<Rendered> {
        let commands = self.manifest()["commands"].as_array();
        let declared =
            commands.and_then(|commands| commands.iter().find(|command| command["name"] == name));
        let schema = declared.map_or(&Value::Null, |command| &command["argsSchema"]);
        self.command_with(name, &RawArgs::parse(typed).fit(schema))
    }

    /// Runs a command with arguments in the shape of its schema.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # #[derive(Args)]
    /// # struct Input {
    /// #     /// What to echo.
    /// #     word: String,
    /// # }
    /// # /// Says it again.
    /// # #[command(id = "command-with-example", name = "echo")]
    /// # fn echo(input: Input) -> String { input.word }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert_eq!(harness.command_with("echo", &json!({"word": "hi"}))?.rendered, "hi");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn command_with(&self, name: &str, args: &Value) -> Result<Rendered> {
        let command = self.running()?.command()?;
        reply(&block_on(command.run(name, args.to_string(), self.call()))?)
    }

    /// Completes a line that begins with this command; the cursor is at its end.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # #[derive(Args)]
    /// # struct Input {
    /// #     /// What to echo.
    /// #     word: String,
    /// # }
    /// # /// Says it again.
    /// # #[command(id = "complete-example", name = "echo")]
    /// # fn echo(input: Input) -> String { input.word }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert!(harness.complete("echo", "/echo h")?.is_empty());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn complete(&self, name: &str, draft: &str) -> Result<Vec<Completion>> {
        let draft = Draft {
            cursor: draft.len(),
            draft: draft.to_owned(),
        };
        let payload = serde_json::to_string(&draft).unwrap_or_default();
        reply(&self.running()?.command()?.complete(name, &payload)?)
    }

    /// Asks a guard.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # /// A hook.
    /// # #[hook(slot = "TOOL_CALL/pre")]
    /// # struct GuardExample;
    /// # impl Guard for GuardExample {
    /// #     async fn guard(&self, _payload: &Value, _cx: &Cx) -> Result<Verdict> { Ok(Verdict::Allow) }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert_eq!(harness.guard(&json!({}))?, Verdict::Allow);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn guard(&self, payload: &Value) -> Result<Verdict> {
        self.hook(payload)
    }

    /// Sends a payload through a transform.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # /// A hook.
    /// # #[hook(slot = "RENDER/pre")]
    /// # struct TransformExample;
    /// # impl Transform for TransformExample {
    /// #     async fn transform(&self, payload: Value, _cx: &Cx) -> Result<Value> { Ok(payload) }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert_eq!(harness.transform(&json!({"a": 1}))?, json!({"a": 1}));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn transform(&self, payload: &Value) -> Result<Value> {
        self.hook(payload)
    }

    /// Shows an observer a payload.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # /// A hook.
    /// # #[hook(slot = "RENDER/post")]
    /// # struct ObserveExample;
    /// # impl Observer for ObserveExample {
    /// #     async fn observe(&self, _payload: &Value, _cx: &Cx) -> Result<()> { Ok(()) }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// harness.observe(&json!({}))?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn observe(&self, payload: &Value) -> Result<()> {
        self.hook(payload)
    }

    pub(in crate::testing) fn hook<T: serde::de::DeserializeOwned>(
        &self,
        payload: &Value,
    ) -> Result<T> {
        let hook = self.running()?.hook()?;
        let slot = self.manifest()["registration"]["slot"]
            .as_str()
            .unwrap_or_default();
        reply(&block_on(hook.handle(
            slot,
            payload.to_string(),
            self.call(),
        ))?)
    }

    /// Tells a subscriber what happened.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # use stud_sdk::ui::Event;
    /// # /// A UI.
    /// # #[ui]
    /// # struct EventExample;
    /// # impl Subscriber for EventExample {
    /// #     fn on_event(&self, _event: &Event<'_>) -> Result<()> { Ok(()) }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// harness.event("SessionTurnStart", &json!({}))?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn event(&self, name: &str, payload: &Value) -> Result<()> {
        let header = EventHeader {
            seq: self.next_seq(),
            name,
            correlation_id: TURN,
        };
        Ok(self
            .running()?
            .ui()?
            .on_event(header, &payload.to_string())?)
    }

    /// Puts a question to an interactor. Its response is checked against the question.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # use stud_sdk::ui::{Request, Response};
    /// # /// A UI.
    /// # #[ui]
    /// # struct InteractExample;
    /// # impl Interactor for InteractExample {
    /// #     async fn on_interaction(&self, request: Request, _cx: &Cx) -> Result<Response> { Ok(Response::dismissed(&request)) }
    /// # }
    /// use stud_sdk::interaction::{Ask, Status};
    ///
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// let response = harness.interact(Ask { prompt: "Name?".into(), ..Ask::default() })?;
    /// assert_eq!(response.status, Status::Dismissed);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn interact(&self, payload: impl Into<Payload>) -> Result<Response> {
        let ui = self.running()?.ui()?;
        let id = format!("interaction-{}", self.next_seq());
        let request = Request::new(id, TURN, self.host().now(), payload);
        self.host().services().record().shown.push(request.clone());
        let text = serde_json::to_string(&request).unwrap_or_default();
        let text = block_on(ui.on_interaction(request.kind().as_str(), text, self.call()))?;
        Response::read(&request, reply(&text)?)
    }

    /// Has a region drawn.
    ///
    /// ```
    /// # use stud_sdk::{prelude::*, testing::{FakeHost, Harness}};
    /// # use stud_sdk::ui::{Canvas, Line};
    /// # /// A UI.
    /// # #[ui(regions(region(id = "clock", region = "statusLine", target = "default-tui")))]
    /// # struct RenderExample;
    /// # impl Region for RenderExample {
    /// #     fn render(&self, _id: &str, _canvas: &Canvas) -> Result<Vec<Line>> { Ok(vec![Line::from("12:00")]) }
    /// # }
    /// let harness = Harness::new(stud_plugin(), FakeHost::new());
    /// assert_eq!(harness.render("clock", &Canvas::default())?, [Line::from("12:00")]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn render(&self, contribution: &str, canvas: &Canvas) -> Result<Vec<Line>> {
        let canvas = serde_json::to_string(canvas).unwrap_or_default();
        reply(&self.running()?.ui()?.render_region(contribution, &canvas)?)
    }
}
