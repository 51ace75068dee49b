//! A snapshot of a session's runtime: each component writes its changes here, plugins read it.
//!
//! Writing is cheap and never blocks. A snapshot is made when someone asks for it or is due to be told, and never
//! for a write alone.
//!
//! Plugins are told through an outbox each. A plugin hears one thing after the other: every piece of text before the
//! snapshot that counts it, and of several snapshots it was too slow for only the newest. One that does not return
//! keeps its own outbox waiting and no other.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use stud_contract_meta::Result;
use stud_host_api::metrics::{
    DiagnosticItem, Level, RuntimeReader, RuntimeSnapshot, SnapshotHandler, Subscription,
    TokenDelta, TokenHandler,
};

use crate::platform;
use crate::sync::{Mutex, lock};
use crate::timer::{Alarm, Timer};

mod outbox;
mod roster;
mod settle;

use outbox::{MetricsHandler, Outbox};
pub use outbox::{PENDING_BYTES, PENDING_TOKENS, Stuck};
pub use roster::Roster;
pub(crate) use roster::source;
use settle::{keep_newest, settle};

/// Collects the state of one session.
pub struct Collector {
    state: Mutex<CollectorState>,
    timer: Arc<dyn Timer>,
    debounce: Duration,
    /// The collector of the session that opened this one, for a child session.
    above: Option<Arc<Self>>,
    this: Weak<Self>,
}

struct CollectorState {
    /// What every write so far has made of it.
    working: RuntimeSnapshot,
    /// The last snapshot that was made.
    made: Arc<RuntimeSnapshot>,
    /// Whether something was written since.
    stale: bool,
    /// Rings when the changes of this window are told.
    alarm: Option<Alarm>,
    /// Of the plugins that listen.
    outboxes: Vec<Arc<Outbox>>,
    /// The number of the next subscription.
    next: u64,
    disposed: bool,
}

/// Tokens that were spent just now, and the text that came with them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent<'a> {
    /// How many were sent.
    pub input: u64,
    /// How many were received.
    pub output: u64,
    /// The text that came.
    pub text: &'a str,
}

/// How a call of a tool ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolOutcome {
    /// With a result.
    Succeeded,
    /// With an error.
    Failed,
}

impl Collector {
    /// A collector that tells of changes once `debounce` after the first of them.
    pub fn new(initial: RuntimeSnapshot, timer: Arc<dyn Timer>, debounce: Duration) -> Arc<Self> {
        Self::with(initial, timer, debounce, None)
    }

    /// The collector of a child session. What it spends, calls and has to say counts for `above` as well.
    pub(crate) fn below(above: &Arc<Self>, timer: Arc<dyn Timer>) -> Arc<Self> {
        let initial = RuntimeSnapshot::default();
        Self::with(initial, timer, above.debounce, Some(above.clone()))
    }

    fn with(
        mut initial: RuntimeSnapshot,
        timer: Arc<dyn Timer>,
        debounce: Duration,
        above: Option<Arc<Self>>,
    ) -> Arc<Self> {
        settle(&mut initial);
        Arc::new_cyclic(|this| Self {
            state: Mutex::new(CollectorState {
                made: Arc::new(initial.clone()),
                working: initial,
                stale: false,
                alarm: None,
                outboxes: Vec::new(),
                next: 0,
                disposed: false,
            }),
            timer,
            debounce,
            above,
            this: this.clone(),
        })
    }

    /// The state as of now: the same object until something is written.
    pub fn snapshot(&self) -> Arc<RuntimeSnapshot> {
        lock(&self.state).snapshot()
    }

    /// What one plugin is given to read with. `on_stuck` is told when the plugin loses its token subscriptions.
    pub fn reader(
        self: &Arc<Self>,
        ext_id: &str,
        on_stuck: impl Fn(&Stuck) + Send + Sync + 'static,
    ) -> Reader {
        Reader {
            collector: self.clone(),
            outbox: Outbox::new(ext_id, Box::new(on_stuck)),
        }
    }

    /// Changes anything. Everyone else waits while `change` runs, so it must not call the collector.
    ///
    /// Counts that follow from lists are kept right, whatever `change` does to them.
    pub fn update(&self, change: impl FnOnce(&mut RuntimeSnapshot)) {
        self.write(|snapshot| {
            change(snapshot);
            settle(snapshot);
        });
    }

    /// A turn begins.
    pub fn turn_began(&self, at: SystemTime) {
        let at = platform::rfc3339(at);
        self.write(|snapshot| {
            let session = &mut snapshot.session;
            session.turn_count = session.turn_count.saturating_add(1);
            session.last_turn_at = Some(at);
            snapshot.tokens.last_turn_input = 0;
            snapshot.tokens.last_turn_output = 0;
        });
    }

    /// A turn ends.
    pub fn turn_ended(&self, at: SystemTime) {
        let at = platform::rfc3339(at);
        self.write(|snapshot| snapshot.session.last_turn_at = Some(at));
    }

    /// The provider answered, or could not be reached.
    pub fn reached_provider(&self, reached: bool) {
        if let Some(above) = &self.above {
            above.reached_provider(reached);
        }
        self.write(|snapshot| snapshot.session.online = reached);
    }

    /// Tokens were spent. Every token subscriber hears of it before a snapshot that counts them.
    pub fn tokens(&self, spent: Spent<'_>) {
        if let Some(above) = &self.above {
            above.tokens_below(spent.input, spent.output);
        }
        let posted = {
            let mut state = lock(&self.state);
            if state.disposed {
                return;
            }
            // A piece of text that costs nothing yet is for token subscribers alone.
            if spent.input > 0 || spent.output > 0 {
                self.mark(&mut state);
            }
            let tokens = &mut state.working.tokens;
            for (count, more) in [
                (&mut tokens.input_total, spent.input),
                (&mut tokens.last_turn_input, spent.input),
                (&mut tokens.output_total, spent.output),
                (&mut tokens.last_turn_output, spent.output),
            ] {
                // What a provider claims may be anything.
                *count = count.saturating_add(more);
            }
            state.post_delta(spent.text)
        };
        for (outbox, posted) in posted {
            match posted {
                Ok(()) => outbox.rouse(),
                Err(stuck) => outbox.report(&stuck),
            }
        }
    }

    /// Tokens were spent by a child session. They count for the session and not for its turn.
    fn tokens_below(&self, input: u64, output: u64) {
        if let Some(above) = &self.above {
            above.tokens_below(input, output);
        }
        if input == 0 && output == 0 {
            return;
        }
        self.write(|snapshot| {
            let tokens = &mut snapshot.tokens;
            tokens.input_total = tokens.input_total.saturating_add(input);
            tokens.output_total = tokens.output_total.saturating_add(output);
        });
    }

    /// Something is to be shown to the person. The newest are kept, and all are counted.
    pub fn diagnostic(&self, item: DiagnosticItem) {
        if let Some(above) = &self.above {
            above.diagnostic(item.clone());
        }
        self.write(|snapshot| {
            let diagnostics = &mut snapshot.diagnostics;
            match item.level {
                Level::Error => diagnostics.error = diagnostics.error.saturating_add(1),
                Level::Warn => diagnostics.warning = diagnostics.warning.saturating_add(1),
                Level::Info => diagnostics.info = diagnostics.info.saturating_add(1),
                Level::Unknown => {}
            }
            diagnostics.recent.push(item);
            keep_newest(&mut diagnostics.recent);
        });
    }

    /// A call of a tool ended. A tool that is gone by then is counted nowhere.
    pub fn tool_invoked(&self, name: &str, outcome: ToolOutcome) {
        if let Some(above) = &self.above {
            above.tool_invoked(name, outcome);
        }
        self.write(|snapshot| {
            let mut tools = snapshot.tools.items.iter_mut();
            let Some(tool) = tools.find(|tool| tool.name == name) else {
                return;
            };
            let invocations = &mut tool.invocations;
            invocations.total = invocations.total.saturating_add(1);
            let ended = match outcome {
                ToolOutcome::Succeeded => &mut invocations.succeeded,
                ToolOutcome::Failed => &mut invocations.failed,
            };
            *ended = ended.saturating_add(1);
        });
    }

    /// A tool may run from now on without asking, if this is the key of all of its calls.
    pub fn tool_allowed(&self, name: &str, key: &str) {
        self.update(|snapshot| {
            let tools = snapshot.tools.items.iter_mut();
            for tool in tools.filter(|tool| tool.name == name) {
                tool.allowed_now |= tool.approval_key.as_deref() == Some(key);
            }
        });
    }

    /// Other plugins are there now. What is known of MCP servers, and how often a tool was called, stays.
    pub fn extensions_changed(&self, roster: Roster) {
        self.update(|snapshot| roster.enter(snapshot));
    }

    /// Ends it: subscribers receive nothing more, and writes are ignored. The last state can still be read.
    pub fn dispose(&self) {
        let (alarm, outboxes) = {
            let mut state = lock(&self.state);
            state.disposed = true;
            (state.alarm.take(), std::mem::take(&mut state.outboxes))
        };
        drop(alarm);
        for outbox in outboxes {
            outbox.close();
        }
    }

    fn write(&self, change: impl FnOnce(&mut RuntimeSnapshot)) {
        let mut state = lock(&self.state);
        if state.disposed {
            return;
        }
        self.mark(&mut state);
        change(&mut state.working);
    }

    /// The first change of a quiet time begins a window. Later ones join it and do not make it longer.
    fn mark(&self, state: &mut CollectorState) {
        state.stale = true;
        if state.alarm.is_none() && state.outboxes.iter().any(|outbox| outbox.wants_snapshots()) {
            let this = self.this.clone();
            let ring = Box::new(move || {
                if let Some(collector) = this.upgrade() {
                    collector.ring();
                }
            });
            state.alarm = Some(self.timer.after(self.debounce, ring));
        }
    }

    /// The window is over.
    fn ring(&self) {
        let (roused, rung) = {
            let mut state = lock(&self.state);
            let rung = state.alarm.take();
            (state.post_snapshot(), rung)
        };
        drop(rung);
        for outbox in roused {
            outbox.rouse();
        }
    }

    fn subscribe(&self, outbox: &Arc<Outbox>, handler: MetricsHandler) -> Subscription {
        let mut state = lock(&self.state);
        if state.disposed {
            // Nothing changes any more, so there is nothing to tell.
            return Subscription::new(|| {});
        }
        let number = state.next;
        state.next += 1;
        outbox.add(number, handler);
        if !state
            .outboxes
            .iter()
            .any(|other| Arc::ptr_eq(other, outbox))
        {
            state.outboxes.push(outbox.clone());
        }
        let (collector, outbox) = (self.this.clone(), Arc::downgrade(outbox));
        Subscription::new(move || {
            if let (Some(collector), Some(outbox)) = (collector.upgrade(), outbox.upgrade()) {
                collector.unsubscribe(&outbox, number);
            }
        })
    }

    fn unsubscribe(&self, outbox: &Arc<Outbox>, number: u64) {
        let handler = {
            let mut state = lock(&self.state);
            let handler = outbox.remove(number);
            if outbox.is_deserted() {
                state.forget(outbox);
            }
            handler
        };
        // State in a plugin's handler is dropped on a thread that blocks no caller.
        drop(handler);
    }
}

impl CollectorState {
    fn snapshot(&mut self) -> Arc<RuntimeSnapshot> {
        if self.stale {
            self.made = Arc::new(self.working.clone());
            self.stale = false;
        }
        self.made.clone()
    }

    /// Puts the snapshot into every outbox that wants one, and says which of them have to be roused.
    fn post_snapshot(&mut self) -> Vec<Arc<Outbox>> {
        if !self.outboxes.iter().any(|outbox| outbox.wants_snapshots()) {
            return Vec::new();
        }
        let (snapshot, before) = (self.snapshot(), self.next);
        let posted = |outbox: &&Arc<Outbox>| outbox.post_snapshot(&snapshot, before);
        self.outboxes.iter().filter(posted).cloned().collect()
    }

    /// Puts a piece of text into every outbox that wants it, and says which have to be roused and which are full.
    fn post_delta(&mut self, text: &str) -> Vec<(Arc<Outbox>, std::result::Result<(), Stuck>)> {
        let mut outcomes = Vec::new();
        for outbox in &self.outboxes {
            if !outbox.wants_deltas() {
                continue;
            }
            let delta = TokenDelta {
                input_tokens: self.working.tokens.last_turn_input,
                output_tokens: self.working.tokens.last_turn_output,
                delta: text.to_owned(),
            };
            match outbox.post_delta(delta, self.next) {
                Ok(true) => outcomes.push((outbox.clone(), Ok(()))),
                Ok(false) => {}
                Err(stuck) => outcomes.push((outbox.clone(), Err(stuck))),
            }
        }
        if outcomes.iter().any(|(_, outcome)| outcome.is_err()) {
            self.outboxes.retain(|outbox| !outbox.is_deserted());
        }
        outcomes
    }

    fn forget(&mut self, outbox: &Arc<Outbox>) {
        self.outboxes.retain(|other| !Arc::ptr_eq(other, outbox));
    }
}

/// The collector as one plugin sees it.
pub struct Reader {
    collector: Arc<Collector>,
    outbox: Arc<Outbox>,
}

impl Reader {
    /// Ends every subscription of the plugin, whatever it has done with them.
    pub fn close(&self) {
        lock(&self.collector.state).forget(&self.outbox);
        self.outbox.close();
    }
}

impl RuntimeReader for Reader {
    fn snapshot(&self) -> Result<Arc<RuntimeSnapshot>> {
        Ok(self.collector.snapshot())
    }

    fn subscribe(&self, handler: SnapshotHandler) -> Result<Subscription> {
        let handler = MetricsHandler::Snapshot(handler.into());
        Ok(self.collector.subscribe(&self.outbox, handler))
    }

    fn subscribe_to_tokens(&self, handler: TokenHandler) -> Result<Subscription> {
        let handler = MetricsHandler::Tokens(handler.into());
        Ok(self.collector.subscribe(&self.outbox, handler))
    }
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").finish_non_exhaustive()
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("ext_id", &self.outbox.ext_id())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[cfg(not(shuttle))]
mod tests;
