//! Tools: functions, sets of them, structs.

use stud_sdk::json;
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::tool::Output;

mod line_count {
    use stud_sdk::prelude::*;

    /// What the model sends.
    #[derive(Args)]
    struct Input {
        /// The file to count.
        path: String,
    }

    /// Counts the lines of a file.
    #[tool(id = "line-count")]
    fn line_count(input: Input) -> Result<Output, Error> {
        let text = std::fs::read_to_string(&input.path).map_err(Error::not_found)?;
        Ok(Output::text(format!("{} lines", text.lines().count())))
    }
}

#[test]
fn a_function_is_a_plugin() {
    let harness = Harness::new(line_count::stud_plugin(), FakeHost::new());
    let output = harness.tool(
        "line_count",
        json!({"path": file!().replace("crates/stud-sdk/", "")}),
    );
    assert!(
        output
            .unwrap()
            .value()
            .as_str()
            .unwrap()
            .ends_with(" lines")
    );
}

#[test]
fn what_goes_wrong_has_a_code() {
    let harness = Harness::new(line_count::stud_plugin(), FakeHost::new());
    let code = |name, args| harness.tool(name, args).unwrap_err().code().to_owned();
    assert_eq!(
        code("line_count", json!({"path": "/no/such/file"})),
        "NotFound"
    );
    assert_eq!(code("line_count", json!({})), "InputInvalid");
    assert_eq!(
        code("line_count", json!({"path": "x", "more": 1})),
        "InputInvalid"
    );
    assert_eq!(code("line_cuont", json!({})), "NotFound");
}

#[test]
fn a_tool_that_is_not_there_has_no_key() {
    let harness = Harness::new(line_count::stud_plugin(), FakeHost::new());
    let error = harness.approval_key("line_cuont", &json!({})).unwrap_err();
    stud_observed::covers!(TOOL_NOT_REGISTERED, error);
    assert_eq!(error.context()["toolId"], "line_cuont");
}

#[test]
fn the_default_key_is_the_name_and_the_arguments() {
    let harness = Harness::new(line_count::stud_plugin(), FakeHost::new());
    let key = harness
        .approval_key("line_count", &json!({"path": "a"}))
        .unwrap();
    assert_eq!(key, r#"line_count:{"path":"a"}"#);
}

mod set {
    use stud_sdk::prelude::*;

    #[derive(Args)]
    struct Key {
        /// What to run.
        key: String,
    }

    /// Options.
    #[derive(Config)]
    struct Options {
        /// How often to say it.
        #[stud(default = 2, min = 1)]
        how_often: usize,
    }

    fn key_of(input: &Key) -> String {
        input.key.clone()
    }

    /// Says hi as often as configured.
    #[tool(part)]
    fn hi(cx: &Cx) -> Result<Output> {
        let options: Options = cx.config()?;
        Ok("hi".repeat(options.how_often).into())
    }

    /// Says ho.
    #[tool(part, gated = false, name = "ho-ho", approval_key = key_of, covers = "pathSet")]
    fn ho(input: Key, cx: &Cx) -> &'static str {
        assert!(cx.ids().tool_call_id.is_some());
        let _ = input.key;
        "ho"
    }

    /// Panics.
    #[tool(part)]
    async fn fx_panic() -> String {
        panic!("on purpose")
    }

    tools! {
        id = "hi-ho",
        title = "Hi Ho",
        description = "Says \"hi\".",
        config = Options,
        tools = [hi, ho, fx_panic],
        interactions("Ask", "ToolInput"),
        provides("greeting"),
        depends_on(Tool("line-count"), Provider(capability = "vision")),
    }
}

#[test]
fn several_functions_are_one_plugin() {
    let host = FakeHost::new().config(json!({"enabled": true, "timeoutMs": 5, "howOften": 3}));
    let harness = Harness::new(set::stud_plugin(), host);
    assert_eq!(
        harness.tool("hi", json!({})).unwrap(),
        Output::text("hihihi")
    );
    assert_eq!(
        harness.tool("ho-ho", json!({"key": "x"})).unwrap(),
        Output::text("ho")
    );
    assert_eq!(
        harness.approval_key("ho-ho", &json!({"key": "x"})).unwrap(),
        "x"
    );
}

#[test]
fn a_default_of_the_config_holds() {
    let harness = Harness::new(set::stud_plugin(), FakeHost::new());
    assert_eq!(harness.tool("hi", json!({})).unwrap(), Output::text("hihi"));
}

#[test]
fn a_panic_is_an_error() {
    let harness = Harness::new(set::stud_plugin(), FakeHost::new());
    let error = harness.tool("fx_panic", json!({})).unwrap_err();
    assert_eq!(error.code(), "CallPanicked");
    assert!(error.message().contains("on purpose"), "{error}");
    assert_eq!(harness.tool("hi", json!({})).unwrap(), Output::text("hihi"));
}

#[test]
fn the_manifest_of_a_set() {
    let harness = Harness::new(set::stud_plugin(), FakeHost::new());
    let manifest = harness.manifest();
    assert_eq!(manifest["name"], "Hi Ho");
    assert_eq!(manifest["interactionKinds"], json!(["Ask", "ToolInput"]));
    assert_eq!(manifest["interactionProtocol"], "1.3.0");
    assert_eq!(
        manifest["dependsOn"],
        json!([{"kind": "Tool", "name": "line-count"}, {"kind": "Provider", "capability": "vision"}])
    );
    let names: Vec<_> = manifest["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["hi", "ho-ho", "fx_panic"]);
    assert_eq!(manifest["tools"][1]["gated"], false);
}

#[test]
fn how_far_an_approval_reaches_is_said_only_if_it_reaches_further_than_its_key() {
    let harness = Harness::new(set::stud_plugin(), FakeHost::new());
    let tools = &harness.manifest()["tools"];
    assert_eq!(tools[0].get("approvalCoverage"), None);
    assert_eq!(tools[1]["approvalCoverage"], "pathSet");
    let struct_tool = Harness::new(
        counter::stud_plugin(),
        FakeHost::new().config(json!({"at": 0})),
    );
    assert_eq!(
        struct_tool.manifest()["tools"][0]["approvalCoverage"],
        "path"
    );
}

mod counter {
    use std::sync::atomic::{AtomicU32, Ordering};

    use stud_sdk::prelude::*;

    #[derive(Args)]
    pub(super) struct Step {
        /// How much to add.
        #[stud(default = 1)]
        by: u32,
    }

    /// Counts up.
    #[tool(config = Start, init = Counter::new, output = u32, covers = "path")]
    struct Counter(AtomicU32);

    /// Where to start.
    #[derive(Config)]
    struct Start {
        /// The first number.
        at: u32,
    }

    impl Counter {
        fn new(host: Host, start: Start) -> Result<Self> {
            let session = host.workspace().session_id()?;
            assert_eq!(session, "session-1");
            Ok(Self(AtomicU32::new(start.at)))
        }
    }

    impl Tool for Counter {
        type Args = Step;

        async fn execute(&self, step: Step, _cx: &Cx) -> Result<Output> {
            Output::json(self.0.fetch_add(step.by, Ordering::Relaxed) + step.by)
        }

        fn approval_key(&self, _step: &Step) -> Result<String> {
            Ok("count".to_owned())
        }
    }
}

#[test]
fn a_struct_keeps_state() {
    let harness = Harness::new(
        counter::stud_plugin(),
        FakeHost::new().config(json!({"at": 40})),
    );
    assert_eq!(
        harness.tool("counter", json!({})).unwrap(),
        Output::from(json!(41))
    );
    assert_eq!(
        harness.tool("counter", json!({"by": 2})).unwrap(),
        Output::from(json!(43))
    );
    assert_eq!(
        harness.approval_key("counter", &json!({})).unwrap(),
        "count"
    );
    assert_eq!(
        harness.manifest()["tools"][0]["outputSchema"]["type"],
        "integer"
    );
}
