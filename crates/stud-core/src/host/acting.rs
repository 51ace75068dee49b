//! Services that change something: session, context, commands.

use std::sync::Arc;

use serde_json::{Value, json};
use stud_contract_meta::{Kind, Result};
use stud_host_api::BoxFuture;
use stud_host_api::commands::{
    CommandArgs, CommandRef, CommandResult, CommandSurface, Completion, Deed,
};
use stud_host_api::context::{Compacted, Compacting, ContextContributor, ContextFragment};
use stud_host_api::refusal;
use stud_host_api::session::{
    Appended, ChildOutcome, OpenChild, Page, SessionAccessor, SessionRecord, SessionView,
    SlotValue, StateSlot,
};

use super::{Host, now};
use crate::context;
use crate::privileged_ops::{self, Site};
use crate::register::PluginRuntime;
use crate::session::{Session, Slot};
use crate::subagents;
use crate::tool_registry::is_delegate;

impl SessionAccessor for Host {
    fn read(&self, page: Page) -> BoxFuture<'_, Result<SessionView>> {
        now(self
            .session("session")
            .and_then(|session| session.view(self.id(), page)))
    }

    fn append(&self, record: SessionRecord) -> BoxFuture<'_, Result<Appended>> {
        if let Err(error) = self.alive("session") {
            return now(Err(error));
        }
        if matches!(record, SessionRecord::UserInput { .. }) && self.plugin.kind != Kind::Ui {
            return now(Err(refusal::user_input_forbidden(self.category())));
        }
        let session = match self.session("session") {
            Ok(session) => session,
            Err(error) => return now(Err(error)),
        };
        Box::pin(async move {
            let seq = match record {
                SessionRecord::UserInput { text } => session.submit(self.id(), text).await?,
                SessionRecord::Note { text } => session.note(self.id(), text).await?,
                // A kind that this core does not know cannot have come through its own Host API.
                _ => return self.not_ready("session"),
            };
            Ok(Appended { seq })
        })
    }

    fn state_slot(&self, ext_id: &str) -> Result<Box<dyn StateSlot>> {
        self.alive("session")?;
        if ext_id != self.id() {
            if let Some(session) = self.link().get() {
                let payload =
                    json!({"extId": self.id(), "ownerExtId": ext_id, "decision": "denied"});
                let correlation_id = session.correlation_id();
                let books = session.books();
                books.audit(
                    "StateSlotDrift",
                    Some("SlotAccessDenied"),
                    &correlation_id,
                    payload,
                );
            }
            return Err(refusal::slot_access_denied(self.id(), ext_id));
        }
        // A plugin has one slot for an orchestrator and all its children.
        let session = self.orchestrator("session")?;
        Ok(Box::new(Slot {
            session,
            owner: self.plugin.clone(),
        }))
    }

    fn open_child(&self, asked: OpenChild) -> BoxFuture<'_, Result<ChildOutcome>> {
        if let Err(error) = self.alive("session") {
            return now(Err(error));
        }
        if !is_delegate(&self.plugin, &self.facts().ground.bundled) {
            return now(Err(refusal::open_child_forbidden(self.id())));
        }
        match self.session("session") {
            Ok(session) => Box::pin(subagents::open(session, asked)),
            Err(error) => now(Err(error)),
        }
    }
}

impl StateSlot for Slot {
    fn read(&self) -> BoxFuture<'_, Result<Option<SlotValue>>> {
        now(self.read())
    }

    fn write(&self, value: SlotValue) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.write(value))
    }
}

impl ContextContributor for Host {
    fn contribute(&self, fragment: ContextFragment) -> BoxFuture<'_, Result<()>> {
        if let Err(error) = self.alive("context") {
            return now(Err(error));
        }
        if self.plugin.kind != Kind::ContextProvider {
            let refused = refusal::context_contribution_forbidden(self.category());
            return now(Err(refused));
        }
        // Only while this plugin is asked what it adds is there a request to add to.
        now(self.session("context").and_then(|session| {
            if session.desk().hand_in(self.id(), fragment) {
                Ok(())
            } else {
                self.not_ready("context")
            }
        }))
    }

    fn compact(&self, how: Compacting) -> BoxFuture<'_, Result<Compacted>> {
        if let Err(error) = self.alive("context") {
            return now(Err(error));
        }
        if !matches!(self.plugin.kind, Kind::Tool | Kind::Command) {
            return now(Err(refusal::compaction_forbidden(self.category())));
        }
        let session = match self.session("context") {
            Ok(session) => session,
            Err(error) => return now(Err(error)),
        };
        Box::pin(async move {
            let scopes = session.scopes();
            let cancelled = session.tool_token(self.id()).or_else(|| scopes.turn());
            let cancelled = cancelled.unwrap_or_else(|| session.scope().token());
            match context::compact(&session, cancelled, &how).await {
                Some(compacted) => compacted,
                None => self.not_ready("context"),
            }
        })
    }
}

impl CommandSurface for Host {
    fn list(&self) -> Result<Vec<CommandRef>> {
        let session = self.orchestrator("commands")?;
        Ok(session.list_commands())
    }

    fn complete(&self, input: &str, cursor: usize) -> Result<Vec<Completion>> {
        let session = self.orchestrator("commands")?;
        Ok(session.complete_command(input, cursor))
    }

    fn dispatch<'a>(
        &'a self,
        name: &'a str,
        args: CommandArgs,
    ) -> BoxFuture<'a, Result<CommandResult>> {
        if let Err(error) = self.alive("commands") {
            return now(Err(error));
        }
        if !matches!(self.plugin.kind, Kind::Ui | Kind::Command) {
            return now(Err(refusal::command_dispatch_forbidden(self.category())));
        }
        match self.orchestrator("commands") {
            Ok(session) => Box::pin(async move {
                session.plugins_are_up().await;
                session.dispatch_command(self.id(), name, args).await
            }),
            Err(error) => now(Err(error)),
        }
    }

    fn perform(&self, deed: Deed) -> BoxFuture<'_, Result<Value>> {
        if let Err(error) = self.alive("commands") {
            return now(Err(error));
        }
        if !deed.belongs_to(self.category(), self.id()) {
            let (word, owners) = (deed.as_str(), deed.owners());
            let refused = refusal::deed_forbidden(self.id(), self.category(), word, owners);
            return now(Err(refused));
        }
        match self.orchestrator("commands") {
            Ok(session) => Box::pin(privileged_ops::perform(self.site(session), deed)),
            Err(error) => now(Err(error)),
        }
    }
}

impl Host {
    /// Where a deed for this plugin is done.
    fn site(&self, session: Arc<Session>) -> Site {
        Site {
            means: PluginRuntime {
                hosts: Arc::new(self.hosts.clone()),
                limits: session.limits().clone(),
            },
            ground: self.facts().ground.clone(),
            session,
        }
    }
}
