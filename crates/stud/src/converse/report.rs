//! A session as JSON lines: what it is, what happens, what came of it.

use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use stud_contract_meta::Result;
use stud_core::assistant::Answered;
use stud_core::events::{Event, Subscriber};
use stud_core::session::{Ending, Session};

use crate::output::escaped;

/// Writes the lines, in the order in which things happened.
pub(super) struct AnswerReport(Mutex<State>);

struct State {
    begun: bool,
    /// Events from before the first line.
    early: Vec<String>,
    /// Why a line did not arrive.
    lost: Option<io::Error>,
}

impl AnswerReport {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(State {
            begun: false,
            early: Vec::new(),
            lost: None,
        })))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first line says which session it is.
    pub(super) fn begin(&self, session: &Session) {
        let mut state = self.state();
        let model = session.model();
        let first = json!({
            "type": "session",
            "sessionId": session.id(),
            "mode": session.facts().mode,
            "provider": model.as_ref().map(|model| model.provider_id.as_str()),
            "model": model.as_ref().map(|model| model.model_id.as_str()),
        });
        state.write(&first.to_string());
        for line in std::mem::take(&mut state.early) {
            state.write(&line);
        }
        state.begun = true;
    }

    /// The last line says what came of it. Fails if a line did not arrive, as on a full disk: half a report must not pass
    /// for one.
    pub(super) fn end(
        &self,
        answered: &Answered,
        payload: Option<Value>,
        session: &Session,
    ) -> io::Result<()> {
        let mut result = json!({"type": "result", "status": answered.ending.as_str()});
        match &answered.ending {
            Ending::Completed => result["text"] = answered.text.as_str().into(),
            Ending::Cancelled => {}
            Ending::Halted(error) | Ending::Failed(error) => {
                result["error"] = json!({
                    "class": error.class(),
                    "code": error.code(),
                    "message": error.message(),
                    "context": error.context(),
                });
            }
        }
        if let Some(payload) = payload {
            result["payload"] = payload;
        }
        let spent = session.metrics().snapshot().tokens;
        result["usage"] = json!({
            "inputTokens": spent.input_total,
            "outputTokens": spent.output_total,
            "totalTokens": spent.input_total.saturating_add(spent.output_total),
        });
        let mut state = self.state();
        state.write(&result.to_string());
        state.lost.take().map_or(Ok(()), Err)
    }
}

impl State {
    fn write(&mut self, line: &str) {
        match writeln!(io::stdout().lock(), "{}", escaped(line)) {
            // A reader that has gone has heard enough.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => self.lost = Some(error),
            _ => {}
        }
    }
}

impl Subscriber for AnswerReport {
    fn ext_id(&self) -> &'static str {
        "stud"
    }

    /// The lines are about the session. Which plugins came up for it is for `stud plugin list`.
    fn hears(&self, name: &str) -> bool {
        !name.starts_with("LifecyclePhase")
    }

    fn hear(&self, event: &Event) -> Result<()> {
        if !self.hears(&event.name) {
            return Ok(());
        }
        let mut state = self.state();
        let line = format!(
            r#"{{"type":"event","seq":{},"name":{},"correlationId":{},"payload":{}}}"#,
            event.seq,
            Value::from(&*event.name),
            Value::from(&*event.correlation_id),
            event.payload
        );
        if state.begun {
            state.write(&line);
        } else {
            state.early.push(line);
        }
        Ok(())
    }
}
