//! Slash commands: what a person can have done by typing a name, and what one plugin can have done by another.
//!
//! A command stands beside the message loop. It starts no turn and passes no stage; the only thing it has to do with a
//! turn is that one that is not safe beside it does not run while a turn does. A turn that has its answer is as good as
//! over: such a command waits for its end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use stud_abi::{CallContext, CancellationSource, CancellationToken};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::codes;
use stud_host_api::commands::{CommandArgs, CommandResult};
use stud_host_api::{BoxFuture, CallIds};

use crate::executor::{or_cancelled, spawn_future};
use crate::ids;
use crate::ledger::closed;
use crate::limits::Limits;
use crate::recorder::Recorder;
use crate::sync::{Mutex, lock};

mod audit;
mod arguments;
mod catalog;
mod completing;
mod queue;
mod plugin;

pub(crate) use catalog::{Catalog, CommandSource};

use audit::Account;
use catalog::Offer;
use queue::{CommandQueue, Task};

/// What commands find around them, as of the moment they look.
pub(crate) trait CommandSession: Send + Sync {
    /// The plugins that give commands.
    fn handlers(&self) -> Vec<Arc<dyn CommandSource>>;

    /// Activates the plugins that may provide a command of this name.
    ///
    /// # Errors
    ///
    /// Why it cannot be used.
    fn fetch<'a>(
        &'a self,
        name: &'a str,
        called_off: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<()>>;

    /// The turn that runs.
    fn turn(&self) -> Option<String>;

    /// The turn that is in the way of what must not run beside one. One that has its answer is no longer in the way:
    /// its end is waited for.
    fn turn_in_the_way(&self) -> BoxFuture<'_, Option<String>>;

    /// What calls everything off.
    fn scope(&self) -> &CancellationSource;
}

/// The commands of a session.
pub(crate) struct Commands {
    books: Arc<Recorder>,
    line: CommandQueue,
    /// Plugins that once did not come back with suggestions, by generation.
    stuck: Mutex<BTreeSet<(String, u64)>>,
    patience: Duration,
    /// What is done once no command runs any more.
    afterward: Mutex<Vec<Afterward>>,
}

/// What follows from a command, and would cut off its answer if it came before it.
pub(crate) type Afterward = Box<dyn FnOnce() + Send>;

impl Commands {
    pub(crate) fn new(books: Arc<Recorder>, limits: &Limits) -> Self {
        Self {
            books,
            line: CommandQueue::default(),
            stuck: Mutex::default(),
            patience: limits.completion,
            afterward: Mutex::default(),
        }
    }

    /// Keeps something for when no command runs any more, which may be now.
    pub(crate) fn afterward(&self, deed: Afterward) {
        lock(&self.afterward).push(deed);
        self.settle();
    }

    /// Does what was kept, unless a command still runs.
    fn settle(&self) {
        if self.line.is_busy() {
            return;
        }
        let kept = std::mem::take(&mut *lock(&self.afterward));
        for deed in kept {
            deed();
        }
    }

    /// The cancellation source of the command that this plugin is running.
    pub(crate) fn called_off(&self, ext_id: &str) -> Option<CancellationToken> {
        self.line.called_off(ext_id)
    }

    /// Runs what was typed, slash and all.
    pub(crate) async fn dispatch_line(
        &self,
        scene: &dyn CommandSession,
        caller: &str,
        line: &str,
    ) -> Result<CommandResult> {
        let (name, rest) = arguments::take_apart(line)?;
        self.dispatch(scene, caller, name, rest.into()).await
    }

    /// Runs a command once it is its turn. Dropping the future calls it off.
    ///
    /// The command is looked up when it is its turn, since one before it may have changed the plugins.
    pub(crate) async fn dispatch(
        &self,
        scene: &dyn CommandSession,
        caller: &str,
        name: &str,
        args: CommandArgs,
    ) -> Result<CommandResult> {
        arguments::check_line(name, &args)?;
        let scope = scene.scope().child();
        let called_off = scope.token();
        // First, so that it is dropped last: the place is given up by then.
        let _settling = CommandSettlement(self);
        let mut place = self.line.join(caller, name)?;
        or_cancelled(&called_off, place.called()).await;
        if called_off.is_cancelled() {
            return Err(closed());
        }
        let mut catalog = Catalog::of(scene.handlers());
        if !catalog.knows(name) {
            let fetched = or_cancelled(&called_off, scene.fetch(name, &called_off)).await;
            fetched.ok_or_else(closed)??;
            catalog = Catalog::of(scene.handlers());
        }
        let offer = catalog.find(name)?;
        let turn = if offer.declaration().turn_safe {
            scene.turn()
        } else {
            let in_the_way = or_cancelled(&called_off, scene.turn_in_the_way()).await;
            in_the_way.ok_or_else(closed)?
        };
        let correlation_id = match &place.inside {
            Some(outer) => outer.correlation_id.clone(),
            None => turn.clone().unwrap_or_else(ids::fresh),
        };
        let ext_id = offer.handler().ext_id();
        place.begin(Task {
            ext_id: ext_id.to_owned(),
            correlation_id: correlation_id.clone(),
            called_off: called_off.clone(),
        });
        let account = Account::open(&self.books, &correlation_id, offer.name(), ext_id, caller);
        // Last, so that a command whose caller is gone is cancelled before the next one begins.
        let _leash = Leash(scope);
        let result = self.run(turn, offer, args, called_off).await;
        account.close(&result);
        result
    }

    async fn run(
        &self,
        turn: Option<String>,
        offer: &Offer,
        args: CommandArgs,
        called_off: CancellationToken,
    ) -> Result<CommandResult> {
        let declared = offer.declaration();
        if turn.is_some() && !declared.turn_safe {
            let reason = format!("`/{}` does not run while a turn does", declared.name);
            return Ok(CommandResult::Blocked { reason });
        }
        let args = arguments::fit(declared, args)?.to_string();
        let ids = CallIds {
            session_id: Some(self.books.session_id.clone()),
            correlation_id: turn,
            tool_call_id: None,
        };
        let ids = serde_json::to_string(&ids).unwrap_or_default();
        let cx = CallContext::new(called_off.clone(), ids);
        let (handler, name) = (offer.handler().clone(), declared.name.clone());
        let wanted = called_off.clone();
        // A command may never return. Its caller can stop waiting anyway.
        let running =
            spawn_future(async move { or_cancelled(&wanted, handler.run(&name, args, cx)).await });
        match or_cancelled(&called_off, running).await.flatten().flatten() {
            None if called_off.is_cancelled() => Err(closed()),
            None => Err(broken(offer)),
            Some(Ok(shown)) => Ok(CommandResult::Done {
                rendered: shown.rendered,
                payload: shown.payload,
            }),
            Some(Err(error)) if called_off.is_cancelled() && error.class() == "Cancellation" => {
                Err(error)
            }
            Some(Err(error)) => Err(explained(error, offer)),
        }
    }
}

/// Sees to what follows from a command, however the command ends.
struct CommandSettlement<'a>(&'a Commands);

impl Drop for CommandSettlement<'_> {
    fn drop(&mut self) {
        self.0.settle();
    }
}

/// Cancels a command when its caller stops waiting.
struct Leash(CancellationSource);

impl Drop for Leash {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The error shown to the user who ran a command: two classes are passed on, the others are internal.
fn explained(error: Error, offer: &Offer) -> Error {
    if matches!(error.class(), "Validation" | "ExtensionHost") {
        return error;
    }
    let code = &codes::COMMAND_EXEC_FAILED;
    let (name, cause) = (offer.name(), format!("{}/{}", error.class(), error.code()));
    let message = format!(
        "the command `{name}` failed with {cause}: {}",
        error.message()
    );
    Error::new(code.class, code.name, message)
        .with("name", name)
        .with("extensionId", offer.handler().ext_id())
        .with("cause", cause)
}

/// The thread of the command ended without a word.
fn broken(offer: &Offer) -> Error {
    let code = &codes::CALL_PANICKED;
    let message = format!("the command `{}` broke off", offer.name());
    Error::new(code.class, code.name, message)
        .with("extId", offer.handler().ext_id())
        .with("call", "run")
}

impl std::fmt::Debug for Commands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Commands")
    }
}

#[cfg(test)]
mod tests;
