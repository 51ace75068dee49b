//! Calls into running plugins. Whatever goes wrong, the error names the plugin and the call.

use serde_json::Value;
use stud_abi::{CallContext, EventHeader, Fault, guard};
use stud_contract_command::{Completion, Draft, Rendered};
use stud_contract_interaction::{Request, Response};
use stud_contract_meta::{Error, Result};
use stud_contract_tool::Envelope;
use stud_diagnostics::codes;
use stud_host_api::ContextFragment;
use tracing::{Instrument as _, Span, debug_span};

use super::{Active, Running};

/// The plugin that a command failed over, which need not be its own.
fn about(fault: &Fault) -> Option<Value> {
    let context: Value = serde_json::from_str(&fault.context).ok()?;
    context.get("extId").cloned()
}

impl Active {
    /// The span of one call into the plugin, for the log.
    pub fn call_span(&self, call: &str) -> Span {
        debug_span!(
            "plugin_call",
            plugin = self.identity().ext_id.as_str(),
            call
        )
    }

    /// Runs one of the plugin's tools.
    pub async fn execute(&self, tool: &str, args: &Value, cx: CallContext) -> Result<Envelope> {
        let Running::Tool(instance) = self.running() else {
            return Err(self.lacks("execute"));
        };
        let reply = instance.execute(tool, args.to_string(), cx);
        let reply = reply.instrument(self.call_span("execute")).await;
        self.read("execute", reply)
    }

    /// Tells a subscriber what happened.
    pub fn hear(&self, header: EventHeader<'_>, payload: &str) -> Result<()> {
        let Running::Ui(instance) = self.running() else {
            return Err(self.lacks("onEvent"));
        };
        let heard = instance.on_event(header, payload);
        heard.map_err(|fault| self.blame("onEvent", fault))
    }

    /// Asks an interactor.
    pub async fn interact(&self, request: &Request, cx: CallContext) -> Result<Response> {
        let Running::Ui(instance) = self.running() else {
            return Err(self.lacks("onInteraction"));
        };
        let payload = serde_json::to_string(request)
            .map_err(|error| self.unreadable("onInteraction", &error))?;
        let reply = instance.on_interaction(request.kind().as_str(), payload, cx);
        let reply = reply.instrument(self.call_span("onInteraction")).await;
        // The answer may be a secret, so what is wrong with it is said without a word of it.
        let reply = self.read("onInteraction", reply)?;
        Response::read(request, reply)
    }

    /// Runs one of the plugin's commands, with its arguments as JSON.
    pub async fn run_command(&self, name: &str, args: String, cx: CallContext) -> Result<Rendered> {
        let Running::Command(instance) = self.running() else {
            return Err(self.lacks("run"));
        };
        let reply = instance.run(name, args, cx);
        let reply = reply.instrument(self.call_span("run")).await;
        let about = reply.as_ref().err().and_then(about);
        let done = self.read("run", reply);
        match about {
            Some(id) => done.map_err(|error| error.with("extId", id)),
            None => done,
        }
    }

    /// Asks one of the plugin's commands how a line could continue. Most have nothing to say.
    pub fn complete_command(&self, name: &str, draft: &Draft) -> Result<Vec<Completion>> {
        let Running::Command(instance) = self.running() else {
            return Err(self.lacks("complete"));
        };
        if !instance.handlers().contains(&"complete") {
            return Ok(Vec::new());
        }
        let payload =
            serde_json::to_string(draft).map_err(|error| self.unreadable("complete", &error))?;
        self.read("complete", instance.complete(name, &payload))
    }

    /// Asks a context provider what to add to the request being put together.
    pub async fn provide(&self, cx: CallContext) -> Result<Vec<ContextFragment>> {
        let Running::ContextProvider(instance) = self.running() else {
            return Err(self.lacks("provide"));
        };
        let reply = instance.provide("", "null".to_owned(), cx);
        let reply = reply.instrument(self.call_span("provide")).await;
        let fragments: Vec<Value> = self.read("provide", reply)?;
        fragments.into_iter().map(ContextFragment::read).collect()
    }

    /// Reads what a call replied; a fault or a reply of another shape names the plugin and the call.
    pub fn read<T: serde::de::DeserializeOwned>(
        &self,
        call: &str,
        reply: std::result::Result<String, Fault>,
    ) -> Result<T> {
        let reply = reply.map_err(|fault| self.blame(call, fault))?;
        serde_json::from_str(&reply).map_err(|error| self.unreadable(call, &error))
    }

    /// A fault of this plugin, with its name on it.
    #[cold]
    pub fn blame(&self, call: &str, fault: Fault) -> Error {
        let id = self.identity().ext_id.as_str();
        let error = if fault.code == guard::PANICKED {
            let code = &codes::CALL_PANICKED;
            Error::new(
                code.class,
                code.name,
                format!("the plugin `{id}` {}", fault.message),
            )
        } else {
            Error::from(fault)
        };
        error.with("extId", id).with("call", call)
    }

    /// The error `NotImplemented`: a plugin of this category has no such call.
    pub fn lacks(&self, call: &str) -> Error {
        let (id, kind) = (self.identity().ext_id.as_str(), self.identity().kind);
        let code = &codes::NOT_IMPLEMENTED;
        Error::new(
            code.class,
            code.name,
            format!("`{id}` is a {kind} and has no `{call}`"),
        )
        .with("extId", id)
        .with("call", call)
    }

    fn unreadable(&self, call: &str, error: &serde_json::Error) -> Error {
        let id = self.identity().ext_id.as_str();
        let code = &codes::TOOL_EXECUTION_FAILED;
        Error::new(
            code.class,
            code.name,
            format!("what `{id}` said to `{call}` is not what it must say: {error}"),
        )
        .with("extId", id)
        .with("call", call)
    }
}
