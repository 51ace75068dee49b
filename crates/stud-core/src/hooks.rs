//! Hooks: what runs before and after the stages of a turn.
//!
//! On a slot guards come first, then transforms, then observers; among each other those that an ordering manifest names
//! come first, the rest by scope and id. What a plugin's hook does with its time is bounded.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use stud_contract_hook::{FiringMode, Registration, Slot, SubKind, Verdict};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::{Class, Code, codes};
use stud_host_api::events::{HookFired, HookGuardDenied, HookObserverFailed};
use stud_runtime::clock::Stopwatch;
use tracing::Instrument as _;

use crate::activate::{Active, Running};
use crate::executor;
use crate::hook_order::Ordering;
use crate::ledger::closed;
use crate::registry::Registry;
use crate::session::TurnHandle;
use crate::timeout::with_timeout;
use crate::validate::Members;

/// The hooks of a turn, slot by slot, in the order in which they run.
#[derive(Debug, Default)]
pub(crate) struct Hooks(BTreeMap<Slot, Vec<Hook>>);

#[derive(Debug)]
struct Hook {
    plugin: Arc<Active>,
    registration: Registration,
}

/// Why something may not pass.
#[derive(Debug)]
pub(crate) struct Denial {
    pub(crate) ext_id: String,
    /// The guard's own code, or `Forbidden`.
    pub(crate) code: String,
    pub(crate) reason: String,
    /// What the guard says about it besides.
    pub(crate) context: Map<String, Value>,
}

/// Something that passes a slot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passage<'a> {
    pub(crate) voice: &'a TurnHandle,
    pub(crate) slot: Slot,
    pub(crate) mode: FiringMode,
}

impl Hooks {
    /// The hooks among these plugins.
    pub(crate) fn of(plugins: &Registry, ordering: &Ordering) -> Self {
        let mut slots: BTreeMap<Slot, Vec<Hook>> = BTreeMap::new();
        for slot in Slot::ALL {
            for plugin in plugins.hooks(slot) {
                if let Members::Hook(members) = &*plugin.identity().members {
                    slots.entry(slot).or_default().push(Hook {
                        plugin: plugin.clone(),
                        registration: members.registration,
                    });
                }
            }
        }
        for (slot, hooks) in &mut slots {
            // The sort is stable, so those that are not named keep their order.
            hooks.sort_by_key(|hook| ordering.place(*slot, hook.id()));
        }
        Self(slots)
    }

    /// Whether the slot has hooks. Nothing has to be built for an empty slot.
    pub(crate) fn any(&self, slot: Slot, mode: FiringMode) -> bool {
        self.on(slot, mode).next().is_some()
    }

    fn on(&self, slot: Slot, mode: FiringMode) -> impl Iterator<Item = &Hook> {
        let hooks = self.0.get(&slot).map_or(&[][..], Vec::as_slice);
        // Tool calls are passed one by one whatever a hook asks for; the stream in pieces or as a whole.
        let whole = |hook: &Hook| hook.registration.firing_mode != FiringMode::PerToken;
        let wanted = move |hook: &&Hook| whole(hook) == (mode != FiringMode::PerToken);
        hooks.iter().filter(wanted)
    }

    fn of_kind(&self, passage: Passage<'_>, kind: SubKind) -> impl Iterator<Item = &Hook> {
        let hooks = self.on(passage.slot, passage.mode);
        hooks.filter(move |hook| hook.registration.sub_kind == kind)
    }

    /// Guards, then transforms, then observers. Gives what became of the payload.
    pub(crate) async fn pass(
        &self,
        passage: Passage<'_>,
        payload: Value,
    ) -> Result<std::result::Result<Value, Denial>> {
        if let Some(denial) = self.guard(passage, &payload).await? {
            return Ok(Err(denial));
        }
        let payload = self.transform(passage, payload).await?;
        self.observe(passage, &payload).await?;
        Ok(Ok(payload))
    }

    /// Asks the guards, one after the other. The first denial is final, and observers see it.
    pub(crate) async fn guard(
        &self,
        passage: Passage<'_>,
        payload: &Value,
    ) -> Result<Option<Denial>> {
        for hook in self.of_kind(passage, SubKind::Guard) {
            let said = hook.call(passage, payload).await;
            let verdict = said.and_then(|reply| {
                serde_json::from_str::<Verdict>(&reply).map_err(|error| unreadable(hook, &error))
            });
            let denial = match verdict {
                Ok(Verdict::Allow) => continue,
                Ok(Verdict::Deny { reason }) => {
                    hook.denial(codes::FORBIDDEN.name.to_owned(), reason, Map::new())
                }
                Err(error) if hook.is_denial(&error) => {
                    let (code, reason) = (error.code().to_owned(), error.message().to_owned());
                    hook.denial(code, reason, own_context(&error))
                }
                Err(error) => return Err(failed(&codes::HOOK_GUARD_FAILED, hook, error)),
            };
            tell_denied(passage, &denial);
            if passage.slot.is_pre() {
                self.observe(passage, payload).await?;
            }
            return Ok(Some(denial));
        }
        Ok(None)
    }

    /// Lets each transform change what the one before it made.
    pub(crate) async fn transform(
        &self,
        passage: Passage<'_>,
        mut payload: Value,
    ) -> Result<Value> {
        for hook in self.of_kind(passage, SubKind::Transform) {
            let said = hook.call(passage, &payload).await;
            let changed = said.and_then(|reply| {
                serde_json::from_str(&reply).map_err(|error| unreadable(hook, &error))
            });
            payload =
                changed.map_err(|error| failed(&codes::HOOK_TRANSFORM_FAILED, hook, error))?;
        }
        Ok(payload)
    }

    /// Shows it to everyone who looks, at the same time. What goes wrong there stops nothing, unless the turn is called
    /// off.
    pub(crate) async fn observe(&self, passage: Passage<'_>, payload: &Value) -> Result<()> {
        let looking = self.of_kind(passage, SubKind::Observer);
        let looking = looking.map(|hook| async move {
            let Err(error) = hook.call(passage, payload).await else {
                return Ok(());
            };
            if is_called_off(&error) {
                return Err(error);
            }
            let failure = HookObserverFailed {
                error: error.to_string(),
                extension_id: hook.id().to_owned(),
                slot: passage.slot.to_string(),
            };
            passage.voice.publish(&failure);
            Ok(())
        });
        let mut looking: executor::FuturesOrdered<_> = looking.collect();
        let mut seen = Ok(());
        while let Some(looked) = looking.next().await {
            seen = seen.and(looked);
        }
        seen
    }
}

impl Hook {
    fn id(&self) -> &str {
        self.plugin.identity().ext_id.as_str()
    }

    /// Runs the hook on a thread of its own, because its code may block or never come back.
    async fn call(&self, passage: Passage<'_>, payload: &Value) -> Result<String> {
        let Passage { voice, slot, .. } = passage;
        let began = Stopwatch::start();
        let (plugin, payload) = (self.plugin.clone(), payload.to_string());
        let cx = voice.call(voice.cancelled().clone(), None);
        let handled = executor::spawn_future(voice.session().within(None, async move {
            let Running::Hook(instance) = plugin.running() else {
                return Err(plugin.lacks("handler"));
            };
            let handled = instance.handle(slot.as_str(), payload, cx);
            let reply = handled.instrument(plugin.call_span("handler")).await;
            reply.map_err(|fault| plugin.blame("handler", fault))
        }));
        let handled = async { handled.await.unwrap_or_else(|| Err(closed())) };
        let session = voice.session();
        let limit = session.rules().hook;
        let timed = with_timeout(&**session.timer(), limit, handled);
        let reply = match executor::or_cancelled(voice.cancelled(), timed).await {
            Some(Some(reply)) => reply,
            Some(None) => Err(self.late(limit)),
            None => Err(voice.called_off()),
        };
        let answered = match &reply {
            Ok(_) => true,
            Err(error) => self.is_denial(error),
        };
        if answered {
            let fired = HookFired {
                duration_ms: began.millis(),
                extension_id: self.id().to_owned(),
                slot: slot.to_string(),
                sub_kind: self.registration.sub_kind.to_string(),
            };
            voice.publish(&fired);
        }
        reply
    }

    /// A guard may say no with a code of its own, which is an answer and not a failure.
    fn is_denial(&self, error: &Error) -> bool {
        self.registration.sub_kind == SubKind::Guard && error.class() == Class::Validation.as_str()
    }

    fn late(&self, limit: std::time::Duration) -> Error {
        let code = &codes::EXECUTION_TIMEOUT;
        let message = format!(
            "the hook `{}` did not come back within {} ms",
            self.id(),
            limit.as_millis()
        );
        Error::new(code.class, code.name, message).with("extId", self.id())
    }

    fn denial(&self, code: String, reason: String, context: Map<String, Value>) -> Denial {
        Denial {
            ext_id: self.id().to_owned(),
            code,
            reason,
            context,
        }
    }
}

/// What a guard put into its error, without what was added on the way here.
fn own_context(error: &Error) -> Map<String, Value> {
    let mut context = error.context().clone();
    context.remove("extId");
    context.remove("call");
    context
}

fn tell_denied(passage: Passage<'_>, denial: &Denial) {
    let denied = HookGuardDenied {
        extension_id: denial.ext_id.clone(),
        reason: Some(denial.reason.clone()).filter(|reason| !reason.is_empty()),
        slot: passage.slot.to_string(),
    };
    passage.voice.publish(&denied);
    let mut payload = json!(denied);
    payload["code"] = denial.code.as_str().into();
    if !denial.context.is_empty() {
        payload["context"] = denial.context.clone().into();
    }
    passage
        .voice
        .audit("GuardDeny", Some("HookGuardDenied"), payload);
}

fn is_called_off(error: &Error) -> bool {
    error.class() == Class::Cancellation.as_str()
}

/// A hook that fails, fails the stage; a cancelled hook is a cancellation.
fn failed(code: &'static Code, hook: &Hook, cause: Error) -> Error {
    if is_called_off(&cause) {
        return cause;
    }
    let slot = hook.registration.slot;
    let cause = format!("{}/{}: {}", cause.class(), cause.code(), cause.message());
    let message = format!("the hook `{}` on {slot} failed: {cause}", hook.id());
    Error::new(code.class, code.name, message)
        .with("extId", hook.id())
        .with("slot", slot.as_str())
        .with("cause", cause)
}

fn unreadable(hook: &Hook, error: &serde_json::Error) -> Error {
    let code = &codes::TOOL_EXECUTION_FAILED;
    let message = format!("what `{}` said cannot be read: {error}", hook.id());
    Error::new(code.class, code.name, message).with("extId", hook.id())
}
