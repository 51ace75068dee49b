//! Services that ask a person or say when to stop: interaction and cancellation.

use stud_abi::CancellationToken;
use stud_contract_interaction::{ApprovalScope, InteractionKind, Payload, Response};
use stud_contract_meta::{Kind, Result};
use stud_diagnostics::codes;
use stud_host_api::BoxFuture;
use stud_host_api::cancellation::{CancellationFactory, Scope};
use stud_host_api::interaction::{Availability, InteractionRequester, ToolApprovalKey};
use stud_host_api::refusal;

use super::{Host, now};
use crate::approvals::{ToolApprovals, ToolOwner};
use crate::interactions::form_rules::check_patterns;
use crate::session::Session;

impl Host {
    /// What a prompt of this plugin lives and dies with: the innermost scope it works in.
    fn innermost(&self, session: &Session) -> CancellationToken {
        let scopes = session.scopes();
        let inner = session
            .tool_token(self.id())
            .or_else(|| session.commands().called_off(self.id()))
            .or_else(|| scopes.turn());
        inner.unwrap_or_else(|| session.scope().token())
    }
}

impl InteractionRequester for Host {
    fn request(&self, payload: Payload) -> BoxFuture<'_, Result<Response>> {
        if let Err(error) = self.alive("interaction") {
            return now(Err(error));
        }
        let kind = payload.kind();
        let declared = &self.plugin.manifest.interaction_kinds;
        let is_declared = declared.iter().any(|word| word == kind.as_str());
        if !is_declared || !kind.may_be_raised_by(self.category()) {
            let refused = refusal::interaction_kind_forbidden(kind, self.category());
            return now(Err(refused));
        }
        if let Err(error) = payload.check().and_then(|()| check_patterns(&payload)) {
            return now(Err(error));
        }
        let session = match self.session("interaction") {
            // A state machine asks at the boundaries of its stages, and not while the model acts.
            Ok(session)
                if self.plugin.kind == Kind::StateMachine
                    && !session.is_at_stage_boundary(self.id()) =>
            {
                return now(self.not_ready("interaction"));
            }
            Ok(session) => session,
            Err(error) => return now(Err(error)),
        };
        if let Err(error) = session.may_ask(self.id(), &payload) {
            return now(Err(error));
        }
        let raised = session.ask(Some(self.id()), self.innermost(&session), payload);
        if self.plugin.kind == Kind::Command {
            return Box::pin(raised);
        }
        Box::pin(async move {
            let answer = raised.await;
            // A missing interactor ends the turn, also for a plugin that would continue without the answer.
            if let Err(error) = &answer
                && error.code() == codes::HEADLESS_INTERACTION_REQUIRED.name
            {
                session.scopes().halt(error);
            }
            answer
        })
    }

    fn respond(&self, response: Response) -> BoxFuture<'_, Result<()>> {
        let session = match self.session("interaction") {
            Ok(session) if session.prompts().has(self.id()) => session,
            _ => return now(self.not_ready("interaction")),
        };
        Box::pin(async move { session.prompts().respond(self.id(), response).await })
    }

    fn availability(&self) -> Result<Availability> {
        self.alive("interaction")?;
        let Some(session) = self.link().get() else {
            return Ok(Availability::default());
        };
        let audience = session.prompts().audience();
        Ok(Availability {
            available: audience.is_available(),
            supported_count: audience.supported,
            enabled_count: audience.enabled,
        })
    }

    fn approval(&self, of: ToolApprovalKey) -> BoxFuture<'_, Result<Option<ApprovalScope>>> {
        let found = self.with_tool_approvals(&of, |session, approvals, owner| {
            let in_session = of.session_id.as_deref() == Some(session.id());
            approvals.get(owner, &of.key, in_session)
        });
        now(found)
    }

    fn approve(&self, of: ToolApprovalKey, scope: ApprovalScope) -> BoxFuture<'_, Result<()>> {
        let kept = self.with_tool_approvals(&of, |session, approvals, owner| {
            let named = of.session_id.as_deref();
            if scope != ApprovalScope::Always && named.is_some_and(|id| id != session.id()) {
                return self.not_ready("interaction");
            }
            approvals.set(owner, &of.key, scope)
        });
        now(kept)
    }

    fn clear_approvals(&self, session_id: String) -> BoxFuture<'_, Result<()>> {
        let none = ToolApprovalKey::default();
        now(
            self.with_tool_approvals(&none, |session, approvals, owner| {
                if session.id() == session_id {
                    approvals.clear(owner.ext_id);
                }
                Ok(())
            }),
        )
    }
}

impl Host {
    /// Lets a tool use what it has kept: the session, the approvals, and whose they are.
    fn with_tool_approvals<T>(
        &self,
        of: &ToolApprovalKey,
        work: impl FnOnce(&Session, &ToolApprovals, ToolOwner<'_>) -> Result<T>,
    ) -> Result<T> {
        self.alive("interaction")?;
        if self.plugin.kind != Kind::Tool {
            let kind = InteractionKind::ToolApproval;
            return Err(refusal::interaction_kind_forbidden(kind, self.category()));
        }
        let session = self.session("interaction")?;
        let call = of.tool_call_id.as_deref();
        let tool = call.and_then(|call| session.scopes().tool_name(self.id(), call));
        let owner = ToolOwner {
            ext_id: self.id(),
            tool: tool.as_deref(),
        };
        work(&session, &session.rules().tool_approvals, owner)
    }
}

impl CancellationFactory for Host {
    fn token(&self, scope: Scope) -> Result<CancellationToken> {
        let session = self.session("cancellation")?;
        let token = match scope {
            Scope::Session => Some(session.scope().token()),
            Scope::Turn => session.scopes().turn(),
            Scope::Tool => session.tool_token(self.id()),
        };
        token.map_or_else(|| self.not_ready("cancellation"), Ok)
    }
}
