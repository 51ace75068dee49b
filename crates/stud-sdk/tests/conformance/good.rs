//! A plugin of each category that does what it has to do.

use stud_sdk::Plugin;

pub(crate) fn all() -> [Plugin; 9] {
    [
        tool::stud_plugin(),
        command::stud_plugin(),
        hook::stud_plugin(),
        ui::stud_plugin(),
        provider::stud_plugin(),
        logger::stud_plugin(),
        state_machine::stud_plugin(),
        session_store::stud_plugin(),
        context_provider::stud_plugin(),
    ]
}

pub(crate) mod tool {
    use stud_sdk::prelude::*;

    /// What the model sends.
    #[derive(Args)]
    struct Input {
        /// The text to repeat.
        #[stud(default)]
        text: String,
        /// Anything else.
        more: Option<Value>,
    }

    /// Repeats a text.
    #[tool(id = "good-tool", name = "repeat")]
    fn repeat(input: Input) -> String {
        match input.more {
            Some(more) => format!("{} {more}", input.text),
            None => input.text,
        }
    }
}

pub(crate) mod command {
    use stud_sdk::command::Rendered;
    use stud_sdk::prelude::*;

    /// Greets.
    #[command(id = "good-command", name = "greet")]
    fn greet() -> Rendered {
        Rendered::from("Hello".to_owned())
    }
}

pub(crate) mod hook {
    use stud_sdk::hook::{Guard, Verdict};
    use stud_sdk::prelude::*;

    /// Allows everything.
    #[hook(id = "good-hook", slot = "TOOL_CALL/pre")]
    #[derive(Default)]
    struct Allow;

    impl Guard for Allow {
        async fn guard(&self, _payload: &Value, _cx: &Cx) -> Result<Verdict> {
            Ok(Verdict::Allow)
        }
    }
}

pub(crate) mod ui {
    use stud_sdk::prelude::*;
    use stud_sdk::ui::{Event, Subscriber};

    /// Hears everything and does nothing.
    #[ui(id = "good-ui")]
    #[derive(Default)]
    struct Deaf;

    impl Subscriber for Deaf {
        fn on_event(&self, _event: &Event<'_>) -> Result<()> {
            Ok(())
        }
    }
}

pub(crate) mod provider {
    use stud_sdk::prelude::*;
    use stud_sdk::provider::{FinishReason, Request, Sink};

    /// Says hi.
    #[provider(id = "good-provider", protocol = "hi")]
    #[derive(Default)]
    struct Hi;

    impl Provider for Hi {
        async fn request(&self, _request: Request, out: Sink, _cx: &Cx) -> Result<FinishReason> {
            out.text("hi").await;
            Ok(FinishReason::Stop)
        }
    }
}

pub(crate) mod logger {
    use stud_sdk::logger::Record;
    use stud_sdk::prelude::*;

    /// Drops everything.
    #[logger(id = "good-logger", accepts(events))]
    #[derive(Default)]
    struct Drain;

    impl Logger for Drain {
        async fn sink(&self, _record: Record, _cx: &Cx) -> Result<()> {
            Ok(())
        }
    }
}

pub(crate) mod state_machine {
    use stud_sdk::prelude::*;
    use stud_sdk::state_machine::{NextResult, StageContext};

    /// How far the machine is.
    #[derive(Schema)]
    struct Progress {
        /// The stage that runs.
        stage: String,
    }

    /// Plans, then builds.
    #[state_machine(id = "good-state-machine", stages_file = "tests/all/stages.json", state_slot(version = "1.0.0", schema = Progress))]
    #[derive(Default)]
    struct Steps;

    impl StateMachine for Steps {
        async fn next(&self, stage: &str, _context: &StageContext, _cx: &Cx) -> Result<NextResult> {
            Ok(if stage == "plan" {
                NextResult::to("build")
            } else {
                NextResult::end()
            })
        }
    }
}

pub(crate) mod session_store {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use stud_sdk::prelude::*;
    use stud_sdk::session_store::Stored;

    /// Keeps sessions in memory.
    #[session_store(id = "good-session-store")]
    #[derive(Default)]
    struct Memory(Mutex<BTreeMap<String, Stored>>);

    impl SessionStore for Memory {
        async fn read(&self, session_id: &str, _cx: &Cx) -> Result<Stored> {
            let stored = self.0.lock().unwrap().get(session_id).cloned();
            stored
                .ok_or_else(|| Error::new(Class::Session, "NoSnapshot", "there is no such session"))
        }

        async fn write(&self, stored: Stored, _cx: &Cx) -> Result<()> {
            let id = stored.manifest.session_id.clone();
            self.0.lock().unwrap().insert(id, stored);
            Ok(())
        }

        async fn list(&self, _cx: &Cx) -> Result<Vec<String>> {
            Ok(self.0.lock().unwrap().keys().cloned().collect())
        }
    }
}

pub(crate) mod context_provider {
    use stud_sdk::context_provider::ContextFragment;
    use stud_sdk::prelude::*;

    /// Says one thing.
    #[context_provider(id = "good-context-provider")]
    #[derive(Default)]
    struct Fact;

    impl ContextProvider for Fact {
        async fn provide(&self, _cx: &Cx) -> Result<Vec<ContextFragment>> {
            let fragment = ContextFragment {
                content: "The sky is blue.".into(),
                token_budget: 20,
                ..ContextFragment::default()
            };
            Ok(vec![fragment])
        }
    }
}
