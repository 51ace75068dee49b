//! The Command table over an author's functions.

use std::sync::Arc;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use stud_abi::CallContext;
use stud_abi::section::{Json, Piece};
use stud_abi::tables::command::CommandExport;
use stud_contract_command::{Command, Completion, Draft, Rendered};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::{BoxFuture, Cx};

use super::fault::{Reply, coded};
use super::glue::{Glue, answer};
use super::json::{parse, write};
use super::plugin::Plugin;
use super::returned::failed;
use super::runtime;
use crate::schema::{Args, Members, Schema};

/// A plugin with commands.
pub trait CommandPlugin: Plugin {
    /// Its commands.
    const COMMANDS: &'static [CommandEntry<Self>];
}

/// One command of a plugin `P`.
#[derive(Debug)]
pub struct CommandEntry<P> {
    /// Its name, without slash.
    pub name: &'static str,
    /// Runs it.
    pub run: fn(Arc<P>, &str, Cx) -> BoxFuture<'static, Result<Rendered>>,
    /// Suggests completions.
    pub complete: fn(&P, &Draft) -> Vec<Completion>,
}

/// A command that is a function.
pub trait CommandPart {
    /// Its name, without slash.
    const NAME: &'static str;
    /// Its entry in the manifest.
    const DECLARATION: Json;
    /// Runs it.
    fn run(args: &str, cx: Cx) -> BoxFuture<'static, Result<Rendered>>;
    /// Suggests completions.
    fn complete(draft: &Draft) -> Vec<Completion>;
}

/// A function as a command of the plugin `P`.
pub const fn part<P, T: CommandPart>() -> CommandEntry<P> {
    CommandEntry {
        name: T::NAME,
        run: |_, args, cx| T::run(args, cx),
        complete: |_, draft| T::complete(draft),
    }
}

/// A plugin that is a command itself.
pub const fn object<P: Command<Args: Args>>(name: &'static str) -> CommandEntry<P> {
    CommandEntry {
        name,
        run: |this, text, cx| match args::<P::Args>(text) {
            Ok(args) => Box::pin(async move { this.run(args, &cx).await }),
            Err(error) => failed(error),
        },
        complete: |this, draft| this.complete(&draft.draft, draft.cursor),
    }
}

impl<P: CommandPlugin> CommandExport for Glue<P> {
    fn run(
        self: Arc<Self>,
        subject: String,
        payload: String,
        cx: CallContext,
    ) -> impl Future<Output = Reply<String>> + Send + 'static {
        answer(self.log(), async move {
            let instance = self.instance("run")?;
            let command = find(P::COMMANDS, &subject)?;
            let rendered = (command.run)(instance, &payload, self.cx(cx)).await?;
            write("run", &rendered)
        })
    }

    fn complete(&self, subject: &str, payload: &str) -> Reply<String> {
        runtime::within(&self.log(), || {
            let instance = self.instance("complete")?;
            let draft: Draft = parse("complete", payload)?;
            let found = (find(P::COMMANDS, subject)?.complete)(&instance, &draft);
            Ok(write("complete", &found)?)
        })
    }
}

fn find<'a, P>(commands: &'a [CommandEntry<P>], name: &str) -> Result<&'a CommandEntry<P>> {
    commands
        .iter()
        .find(|command| command.name == name)
        .ok_or_else(|| {
            let message = format!("this plugin has no command `{name}`");
            coded(&codes::NOT_IMPLEMENTED, message).with("command", name)
        })
}

/// Reads the arguments of a command.
pub fn args<T: Args>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(invalid)
}

fn invalid(error: serde_json::Error) -> Error {
    coded(
        &codes::SHAPE_INVALID,
        format!("the arguments do not fit: {error}"),
    )
}

/// The arguments of a command that takes none: whatever was typed is let pass and dropped.
#[derive(Debug, Default)]
pub struct Ignored;

impl<'de> Deserialize<'de> for Ignored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

impl Schema for Ignored {
    const BODY: Json = &[Piece::Raw("\"type\":\"object\"")];
}

impl Members for Ignored {
    const NAMES: &'static [&'static str] = &[];
    const PROPERTIES: Json = &[];
    const REQUIRED: Json = &[];
}

impl Args for Ignored {}
