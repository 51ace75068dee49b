//! What calls what off: the session its turns, a turn its tool calls.

use std::collections::BTreeMap;

use stud_abi::{CancellationSource, CancellationToken};
use stud_contract_meta::Error;

use crate::sync::{Mutex, lock};

/// The scopes that are open.
pub(crate) struct Scopes {
    session: CancellationSource,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    turn: Option<CancellationSource>,
    /// Why the turn has to end, though it is not cancelled.
    halt: Option<Error>,
    /// By plugin and call. A plugin may serve several calls at a time.
    tools: BTreeMap<(String, String), Call>,
}

/// A running tool call.
struct Call {
    /// Which tool of the plugin.
    tool: String,
    scope: CancellationSource,
    /// How often it has asked the person again.
    reprompts: u32,
}

impl Scopes {
    pub(super) fn new() -> Self {
        Self {
            session: CancellationSource::new(),
            open: Mutex::default(),
        }
    }

    /// The scopes of a child session, which end with `session` and end nothing above it.
    pub(super) fn of_child(session: CancellationSource) -> Self {
        Self {
            session,
            open: Mutex::default(),
        }
    }

    pub(super) fn session(&self) -> &CancellationSource {
        &self.session
    }

    pub(super) fn begin_turn(&self) -> CancellationSource {
        let turn = self.session.child();
        let mut open = lock(&self.open);
        open.turn = Some(turn.clone());
        open.halt = None;
        turn
    }

    pub(super) fn end_turn(&self) {
        let mut open = lock(&self.open);
        open.turn = None;
        open.halt = None;
        open.tools.clear();
    }

    /// Marks the turn as halted because a prompt had no interactor, even if the caller handles the error.
    pub(crate) fn halt(&self, why: &Error) {
        let mut open = lock(&self.open);
        if open.turn.is_some() {
            open.halt.get_or_insert_with(|| why.clone());
        }
    }

    /// Why the turn has to end, if it has to.
    pub(crate) fn halted(&self) -> Option<Error> {
        lock(&self.open).halt.clone()
    }

    /// Opens the scope of a tool call inside the turn.
    pub(crate) fn begin_tool(
        &self,
        ext_id: &str,
        tool: &str,
        tool_call_id: &str,
    ) -> CancellationSource {
        let mut open = lock(&self.open);
        let scope = open.turn.as_ref().unwrap_or(&self.session).child();
        let key = (ext_id.to_owned(), tool_call_id.to_owned());
        let call = Call {
            tool: tool.to_owned(),
            scope: scope.clone(),
            reprompts: 0,
        };
        open.tools.insert(key, call);
        scope
    }

    /// Which tool of a plugin serves a call that runs.
    pub(crate) fn tool_name(&self, ext_id: &str, tool_call_id: &str) -> Option<String> {
        let key = (ext_id.to_owned(), tool_call_id.to_owned());
        let open = lock(&self.open);
        open.tools.get(&key).map(|call| call.tool.clone())
    }

    pub(crate) fn end_tool(&self, ext_id: &str, tool_call_id: &str) {
        let key = (ext_id.to_owned(), tool_call_id.to_owned());
        lock(&self.open).tools.remove(&key);
    }

    /// Counts that a call asks the person again; gives how often it has. A call that is not open asks for the first time.
    pub(super) fn asks_again(&self, ext_id: &str, tool_call_id: &str) -> u32 {
        let key = (ext_id.to_owned(), tool_call_id.to_owned());
        let mut open = lock(&self.open);
        open.tools.get_mut(&key).map_or(0, |call| {
            call.reprompts += 1;
            call.reprompts
        })
    }

    /// The turn's token, if a turn runs.
    pub(crate) fn turn(&self) -> Option<CancellationToken> {
        lock(&self.open)
            .turn
            .as_ref()
            .map(CancellationSource::token)
    }

    /// Whether the running turn was cancelled.
    pub(crate) fn is_turn_cancelled(&self) -> bool {
        self.turn().is_some_and(|turn| turn.is_cancelled())
    }

    /// Calls the turn off, if one runs.
    pub(crate) fn cancel_turn(&self) -> bool {
        let turn = lock(&self.open).turn.clone();
        if let Some(turn) = &turn {
            turn.cancel();
        }
        turn.is_some()
    }

    /// The newest call that `ext_id` serves, by its id, and its scope.
    pub(super) fn newest_of(&self, ext_id: &str) -> Option<(String, CancellationSource)> {
        let open = lock(&self.open);
        let of_plugin = open.tools.iter().filter(|((owner, _), _)| owner == ext_id);
        // Ids are in the order they were made.
        let newest = of_plugin.max_by(|((_, one), _), ((_, other), _)| one.cmp(other));
        newest.map(|((_, id), call)| (id.clone(), call.scope.clone()))
    }

    /// The scope of one call that `ext_id` serves, while it runs.
    pub(super) fn tool(&self, ext_id: &str, tool_call_id: &str) -> Option<CancellationSource> {
        let key = (ext_id.to_owned(), tool_call_id.to_owned());
        let open = lock(&self.open);
        open.tools.get(&key).map(|call| call.scope.clone())
    }
}
