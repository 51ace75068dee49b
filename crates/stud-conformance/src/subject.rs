//! A plugin as the cases see it.

use std::sync::Arc;

use serde_json::Value;
use stud_contract_meta::{Phase, Result};

/// A plugin, of which any number of instances can be made.
pub trait Plugin: Send + Sync + 'static {
    /// What it says about itself.
    fn manifest(&self) -> Result<Value>;

    /// An instance with this config, in a host of its own.
    fn instance(&self, config: &Value) -> Arc<dyn Subject>;
}

/// One instance of a plugin.
pub trait Subject: Send + Sync {
    /// Runs one phase.
    fn lifecycle(&self, phase: Phase) -> Result<()>;

    /// Calls the plugin. The first call initializes and activates it, if that has not happened.
    fn call(&self, call: &Call) -> Result<Value>;

    /// Cancels the calls that run and those that follow.
    fn cancel(&self);

    /// The interaction kinds that the instance has raised.
    fn raised(&self) -> Vec<String>;

    /// Lets the next answer of an interactor come too late.
    fn answer_too_late(&self);
}

/// A call of one category.
#[derive(Debug, Clone)]
pub enum Call {
    /// Runs a tool.
    Tool {
        /// Its name.
        name: String,
        /// Its arguments.
        args: Value,
    },
    /// Asks a tool for the approval key of arguments.
    ApprovalKey {
        /// The tool.
        name: String,
        /// The arguments.
        args: Value,
    },
    /// Runs a command.
    Command {
        /// Its name.
        name: String,
        /// Its arguments.
        args: Value,
    },
    /// Runs a hook with the payload of its slot.
    Hook(Value),
    /// Gives a UI an event.
    Event(String, Value),
    /// Gives a UI a prompt: its kind and payload.
    Prompt(Value),
    /// Sends a request to a provider; the result is the list of stream events.
    Request(Value),
    /// Gives a logger a record.
    Record(Value),
    /// Asks a context provider for fragments.
    Provide,
    /// Asks a state machine what follows a stage.
    Next(String),
    /// Reads a session from a store.
    ReadSession(String),
    /// Writes a session to a store.
    WriteSession(Value),
    /// Lists the sessions of a store.
    ListSessions,
}
