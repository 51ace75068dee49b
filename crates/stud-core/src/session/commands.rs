//! The session as its commands find it.

use std::sync::Arc;

use stud_abi::{CancellationSource, CancellationToken};
use stud_contract_meta::{Kind, Result};
use stud_host_api::BoxFuture;
use stud_host_api::commands::{CommandArgs, CommandRef, CommandResult, Completion};

use super::Session;
use crate::commands::{Catalog, CommandSession, CommandSource};
use crate::sync::{lock, promise};

impl Session {
    /// Waits until the plugins are there. One that came up early may be asked for a command before the others are.
    pub(crate) async fn plugins_are_up(&self) {
        let up = {
            let mut rising = lock(&self.rising);
            rising.as_mut().map(|waiting| {
                let (promise, up) = promise();
                waiting.push(promise);
                up
            })
        };
        if let Some(up) = up {
            up.await;
        }
    }

    /// Every command that can be run, in byte order of their names.
    pub fn list_commands(&self) -> Vec<CommandRef> {
        Catalog::of(self.handlers()).list()
    }

    /// What the draft `input`, slash included, could become; `cursor` is a byte offset into it. Runs nothing.
    pub fn complete_command(&self, input: &str, cursor: usize) -> Vec<Completion> {
        let catalog = Catalog::of(self.handlers());
        self.commands.complete(&catalog, input, cursor)
    }

    /// Runs a command in the name of the plugin `caller`, after those that were dispatched before it.
    ///
    /// Dropping the future calls the command off. Whether the plugin may run commands at all is for its host to say.
    ///
    /// # Errors
    ///
    /// `Validation/CommandNameInvalid`, `Validation/CommandUnknown`, `Validation/CommandAmbiguous`,
    /// `ToolTerminal/InputInvalid`, `ExtensionHost/ReentrantDelivery`, `Cancellation/SessionCancelled`, what the
    /// command says if that is for the person, and otherwise `ExtensionHost/CommandExecFailed`.
    pub async fn dispatch_command(
        &self,
        caller: &str,
        name: &str,
        args: CommandArgs,
    ) -> Result<CommandResult> {
        self.commands.dispatch(self, caller, name, args).await
    }

    /// The same for a line as it was typed: a slash, the name, and what follows it.
    pub async fn dispatch_line(&self, caller: &str, line: &str) -> Result<CommandResult> {
        self.commands.dispatch_line(self, caller, line).await
    }
}

impl CommandSession for Session {
    fn handlers(&self) -> Vec<Arc<dyn CommandSource>> {
        let plugins = self.plugins();
        let commands = plugins.of_kind(Kind::Command).into_iter();
        let active = commands.filter(|plugin| plugin.identity().life.word() == "active");
        let active = active.map(|plugin| plugin.clone() as Arc<dyn CommandSource>);
        active.chain(self.mcp.commands()).collect()
    }

    fn fetch<'a>(
        &'a self,
        name: &'a str,
        called_off: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.mcp.fetch_command(name, called_off))
    }

    fn turn(&self) -> Option<String> {
        self.turn_id()
    }

    fn turn_in_the_way(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(self.turn_under_way())
    }

    fn scope(&self) -> &CancellationSource {
        self.scope()
    }
}
