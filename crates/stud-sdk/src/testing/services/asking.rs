//! Services that reach a person, a model or another command: interaction, context, commands, cancellation.

use serde_json::Value;
use stud_abi::CancellationToken;
use stud_contract_interaction::{ApprovalScope, InteractionKind, Payload, Response};
use stud_contract_meta::Result;
use stud_host_api::BoxFuture;
use stud_host_api::cancellation::{CancellationFactory, Scope};
use stud_host_api::commands::{
    CommandArgs, CommandRef, CommandResult, CommandSurface, Completion, Deed,
};
use stud_host_api::context::{Compacted, Compacting, ContextContributor, ContextFragment};
use stud_host_api::interaction::{Availability, InteractionRequester, ToolApprovalKey};
use stud_host_api::refusal::{self, Phase};

use super::super::record::{Record, SESSION};
use super::{Services, ready};

impl InteractionRequester for Services {
    fn request(&self, payload: Payload) -> BoxFuture<'_, Result<Response>> {
        match self.ask(payload) {
            Some(reply) => ready(reply),
            None => Box::pin(std::future::pending()),
        }
    }

    fn respond(&self, response: Response) -> BoxFuture<'_, Result<()>> {
        ready(self.settle(response))
    }

    fn availability(&self) -> Result<Availability> {
        Ok(self.open("interaction")?.availability)
    }

    fn approval(&self, of: ToolApprovalKey) -> BoxFuture<'_, Result<Option<ApprovalScope>>> {
        ready(self.open("interaction").and_then(|mut record| {
            may_keep_approvals(&record)?;
            let in_session = of.session_id.as_deref() == Some(SESSION);
            let has = |scope: &ApprovalScope| {
                let is_visible = in_session || *scope == ApprovalScope::Always;
                is_visible && record.approvals.contains(&(of.key.clone(), *scope))
            };
            let found = WIDEST_FIRST.into_iter().find(has);
            if found == Some(ApprovalScope::Once) {
                let used_up = (of.key, ApprovalScope::Once);
                record.approvals.retain(|kept| *kept != used_up);
            }
            Ok(found)
        }))
    }

    fn approve(&self, of: ToolApprovalKey, scope: ApprovalScope) -> BoxFuture<'_, Result<()>> {
        ready(self.open("interaction").and_then(|mut record| {
            may_keep_approvals(&record)?;
            let kept = (of.key, scope);
            if !record.approvals.contains(&kept) {
                record.approvals.push(kept);
            }
            Ok(())
        }))
    }

    fn clear_approvals(&self, session_id: String) -> BoxFuture<'_, Result<()>> {
        ready(self.open("interaction").and_then(|mut record| {
            may_keep_approvals(&record)?;
            if session_id == SESSION {
                let lasts = |scope: ApprovalScope| scope == ApprovalScope::Always;
                record.approvals.retain(|(_, scope)| lasts(*scope));
            }
            Ok(())
        }))
    }
}

const WIDEST_FIRST: [ApprovalScope; 3] = [
    ApprovalScope::Always,
    ApprovalScope::Session,
    ApprovalScope::Once,
];

fn may_keep_approvals(record: &Record) -> Result<()> {
    if record.is_one_of(&["Tool"]) {
        return Ok(());
    }
    let kind = InteractionKind::ToolApproval;
    Err(refusal::interaction_kind_forbidden(kind, record.kind()))
}

impl Services {
    /// The scripted reply, or nothing for a question that stays open.
    fn ask(&self, payload: Payload) -> Option<Result<Response>> {
        let mut record = match self.open("interaction") {
            Ok(record) => record,
            Err(error) => return Some(Err(error)),
        };
        record.attempted.push(payload.kind().as_str());
        if let Err(error) = may_ask(&record, &payload).and_then(|()| payload.check()) {
            return Some(Err(error));
        }
        record.asked.push(payload.clone());
        let (id, now) = (record.asked.len() as u64, record.now());
        record.script.next(payload, id, now)
    }

    /// Takes an interactor's answer, unless it is too late or does not fit the prompt.
    fn settle(&self, response: Response) -> Result<()> {
        let mut record = self.open("interaction")?;
        if !record.is_interactor() {
            return Err(refusal::not_ready("interaction", Phase::Active));
        }
        let id = &response.interaction_id;
        if record.late > 0 {
            record.late -= 1;
            record.settled.insert(id.clone());
        }
        if record.settled.contains(id) {
            let correlation_id = &response.correlation_id;
            return Err(refusal::interaction_already_answered(id, correlation_id));
        }
        let mut shown = record.shown.iter();
        if let Some(request) = shown.find(|request| request.interaction_id == *id) {
            response.check(request)?;
        }
        if response.status.settles() {
            record.settled.insert(id.clone());
        }
        record.responded.push(response);
        Ok(())
    }
}

fn may_ask(record: &Record, payload: &Payload) -> Result<()> {
    let kind = payload.kind();
    let Some(category) = record.plugin.kind.as_deref() else {
        return Ok(());
    };
    let declared = record
        .plugin
        .interaction_kinds
        .iter()
        .any(|word| word == kind.as_str());
    if declared && kind.may_be_raised_by(category) {
        return Ok(());
    }
    Err(refusal::interaction_kind_forbidden(kind, category))
}

impl ContextContributor for Services {
    fn contribute(&self, fragment: ContextFragment) -> BoxFuture<'_, Result<()>> {
        ready(self.open("context").and_then(|mut record| {
            if !record.is_one_of(&["ContextProvider"]) {
                return Err(refusal::context_contribution_forbidden(record.kind()));
            }
            record.contributed.push(fragment);
            Ok(())
        }))
    }

    fn compact(&self, how: Compacting) -> BoxFuture<'_, Result<Compacted>> {
        ready(self.open("context").and_then(|mut record| {
            if !record.is_one_of(&["Tool", "Command"]) {
                return Err(refusal::compaction_forbidden(record.kind()));
            }
            record.compactions.push(how);
            record.compacted.clone()
        }))
    }
}

impl CommandSurface for Services {
    fn list(&self) -> Result<Vec<CommandRef>> {
        let record = self.open("commands")?;
        let mut found: Vec<_> = record
            .commands
            .iter()
            .map(|(command, _)| command.clone())
            .collect();
        found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    fn complete(&self, input: &str, cursor: usize) -> Result<Vec<Completion>> {
        let typed = input.get(..cursor).unwrap_or(input);
        let typed = typed.strip_prefix('/').unwrap_or(typed);
        let fitting = CommandSurface::list(self)?
            .into_iter()
            .filter(|command| command.name.starts_with(typed));
        Ok(fitting
            .map(|command| Completion {
                label: command.name.clone(),
                replacement: format!("/{}", command.name),
                description: Some(command.description),
            })
            .collect())
    }

    fn dispatch<'a>(
        &'a self,
        name: &'a str,
        args: CommandArgs,
    ) -> BoxFuture<'a, Result<CommandResult>> {
        ready(self.open("commands").and_then(|mut record| {
            if !record.is_one_of(&["UI", "Command"]) {
                return Err(refusal::command_dispatch_forbidden(record.kind()));
            }
            let known = |command: &CommandRef| {
                command.name == name || command.aliases.iter().any(|alias| alias == name)
            };
            let found = record.commands.iter().find(|(command, _)| known(command));
            let Some(result) = found.map(|(_, result)| result.clone()) else {
                // A command of the test's own is added with `FakeHost::command`.
                return Err(refusal::command_unknown(name, None));
            };
            record.dispatched.push((name.to_owned(), args));
            Ok(result)
        }))
    }

    fn perform(&self, deed: Deed) -> BoxFuture<'_, Result<Value>> {
        ready(self.open("commands").and_then(|mut record| {
            let plugin = &record.plugin;
            if plugin.kind.is_some() && !deed.belongs_to(record.kind(), &plugin.ext_id) {
                let (word, owners) = (deed.as_str(), deed.owners());
                return Err(refusal::deed_forbidden(
                    &plugin.ext_id,
                    record.kind(),
                    word,
                    owners,
                ));
            }
            record.performed.push(deed);
            match record.outcomes.pop_front() {
                Some(outcome) => outcome,
                // What comes of a deed is said with `FakeHost::performs`.
                None => Err(refusal::not_ready("commands", Phase::Active)),
            }
        }))
    }
}

impl CancellationFactory for Services {
    fn token(&self, scope: Scope) -> Result<CancellationToken> {
        let record = self.open("cancellation")?;
        Ok(record.scope(scope).token())
    }
}
