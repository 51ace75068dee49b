//! An answer in the making.

use std::time::{Duration, Instant};

use stud_sdk::interaction::{Answer as Reply, AuthAnswer, AuthPassword, Payload};
use stud_sdk::provider::{FinishReason, Sink, Usage};
use stud_sdk::time::sleep;
use stud_sdk::{Class, Cx, Error, Result};

use crate::call_id::call_id;
use crate::script::{Call, Script};
use crate::transcript::words;

/// How long a slow answer waits between two pieces.
const PAUSE: Duration = Duration::from_millis(20);

/// Eight bytes and one word.
const DROP: &str = "echoing ";

/// Where an answer goes, and how much of it there is.
pub(crate) struct Answer<'a> {
    out: Sink,
    cx: &'a Cx,
    written: u64,
}

impl<'a> Answer<'a> {
    pub(crate) fn new(out: Sink, cx: &'a Cx) -> Self {
        Self {
            out,
            cx,
            written: 0,
        }
    }

    /// Does what the text asks for.
    pub(crate) async fn perform(&mut self, script: Script, text: &str) -> Result<FinishReason> {
        match script {
            Script::Calls(calls) => return Ok(self.propose(calls).await),
            Script::Flood(count) => return Ok(self.flood(count).await),
            Script::Auth(purpose) => return self.auth(purpose).await,
            Script::Fail(class, code) => {
                return Err(Error::new(class, code, "failed as it was told to"));
            }
            Script::Slow(length) => self.linger(length).await,
            Script::Think(thought) => self.think(thought).await,
            Script::Sequence(_) | Script::Say => {}
        }
        Ok(self.say(format!("USER {text}")).await)
    }

    /// Says something, and is done with it.
    pub(crate) async fn say(&mut self, text: String) -> FinishReason {
        self.piece(text).await;
        FinishReason::Stop
    }

    /// Proposes calls, each under a name of its own.
    pub(crate) async fn propose(&mut self, calls: Vec<Call>) -> FinishReason {
        for Call { name, args } in calls {
            self.written += 1 + words(&args.to_string());
            self.out.tool_call(call_id(), name, args).await;
        }
        FinishReason::ToolCalls
    }

    /// Says what it cost; nothing follows but the end.
    pub(crate) async fn close(self, input_tokens: u64) {
        let usage = Usage {
            input_tokens,
            output_tokens: self.written,
            cached_input_tokens: None,
        };
        self.out.usage(usage).await;
    }

    async fn piece(&mut self, text: impl Into<String> + Send) {
        let text = text.into();
        self.written += words(&text);
        self.out.text(text).await;
    }

    async fn think(&mut self, thought: String) {
        self.written += words(&thought);
        self.out.thinking(thought).await;
    }

    async fn flood(&mut self, count: u64) -> FinishReason {
        for _ in 0..count {
            self.piece(DROP).await;
        }
        FinishReason::Stop
    }

    async fn linger(&mut self, length: Duration) {
        let begun = Instant::now();
        while let Some(left) = length.checked_sub(begun.elapsed())
            && !left.is_zero()
        {
            self.piece(".").await;
            sleep(PAUSE.min(left)).await;
        }
    }

    /// Asks for a password and says how long it is. The password itself goes nowhere.
    async fn auth(&mut self, purpose: String) -> Result<FinishReason> {
        let question = Payload::from(AuthPassword { prompt: purpose });
        let response = self
            .cx
            .host()
            .interaction()
            .request(question.clone())
            .await?;
        let length = match response.answer(&question)? {
            Some(Reply::AuthPassword(AuthAnswer::Secret(secret))) => {
                secret.expose().chars().count()
            }
            Some(_) => 0,
            None => {
                let why = "the password prompt was not answered";
                return Err(Error::new(Class::Cancellation, "TurnCancelled", why));
            }
        };
        Ok(self.say(format!("AUTH {length}")).await)
    }
}
