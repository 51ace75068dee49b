//! Frames from clients: reading them, and what each carries.

use serde_json::{Map, Value};
use stud_contract_interaction::{Action, ApprovalScope, Status};
use stud_host_api::session::SecurityMode;

use crate::refusal::Refusal;

/// The largest frame that is read, in bytes.
pub(crate) const LARGEST_FRAME: usize = 1 << 20;

/// How deep the JSON of a frame may be nested.
pub(crate) const DEEPEST_FRAME: usize = 32;

/// What a client says about prompts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct InteractionMode {
    /// Whether the client can show them.
    pub(crate) supported: bool,
    /// Whether its person wants to answer them.
    pub(crate) enabled: bool,
}

/// A frame, and what its sender calls it.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) request_id: Option<Value>,
    pub(crate) frame: ClientFrame,
}

/// A frame from a client.
#[derive(Debug)]
pub(crate) enum ClientFrame {
    Hello(InteractionMode),
    SetInteractionMode(bool),
    Ping,
    SessionCreate(Create),
    SessionClose(String),
    SessionDelete(String),
    SessionsList {
        query: String,
        limit: usize,
    },
    SessionFork {
        session_id: String,
        at_seq: Option<u64>,
    },
    Subscribe(Subscribe),
    Unsubscribe(String),
    TextInput {
        session_id: String,
        text: String,
    },
    ToolAnswer(ToolAnswer),
    CoreAnswer(CoreAnswer),
    Cancel(String),
    Commands(String),
    Complete {
        session_id: String,
        text: String,
        cursor: usize,
    },
    CompleteFile {
        session_id: String,
        prefix: String,
    },
}

/// `session_create`.
#[derive(Debug)]
pub(crate) struct Create {
    pub(crate) session_id: Option<String>,
    pub(crate) mode: Option<SecurityMode>,
    pub(crate) cwd: Option<String>,
}

/// `subscribe`.
#[derive(Debug)]
pub(crate) struct Subscribe {
    pub(crate) session_id: String,
    pub(crate) since_seq: u64,
    /// How many of the last events to send at most.
    pub(crate) tail: Option<u64>,
    /// Whether the client wants to know what the session looks like.
    pub(crate) state: bool,
}

/// `tool_interaction_response`.
#[derive(Debug)]
pub(crate) struct ToolAnswer {
    pub(crate) session_id: String,
    pub(crate) call_id: String,
    pub(crate) interaction_id: String,
    pub(crate) action: Action,
    pub(crate) approval_scope: Option<ApprovalScope>,
    pub(crate) input: Option<Map<String, Value>>,
    pub(crate) reason: Option<String>,
}

/// `interaction_response`.
#[derive(Debug)]
pub(crate) struct CoreAnswer {
    pub(crate) session_id: Option<String>,
    pub(crate) interaction_id: String,
    pub(crate) status: Status,
    pub(crate) value: Option<Value>,
    pub(crate) reason: Option<String>,
}

/// Reads a text frame.
pub(crate) fn read(text: &str) -> Result<Incoming, (Option<Value>, Refusal)> {
    let document = parse(text).map_err(|refusal| (None, refusal))?;
    let Value::Object(members) = document else {
        return Err((None, Refusal::invalid_frame("a frame is a JSON object")));
    };
    let request_id = members
        .get("requestId")
        .filter(|id| id.is_string() || id.is_number())
        .cloned();
    match Fields(&members).frame() {
        Ok(frame) => Ok(Incoming { request_id, frame }),
        Err(refusal) => Err((request_id, refusal)),
    }
}

fn parse(text: &str) -> Result<Value, Refusal> {
    if text.len() > LARGEST_FRAME {
        let message = format!("a frame has at most {LARGEST_FRAME} bytes");
        return Err(Refusal::new("frame_too_large", message)
            .typed("Validation/InputInvalid")
            .with("limit", LARGEST_FRAME)
            .with("bytes", text.len()));
    }
    if depth(text) > DEEPEST_FRAME {
        let message = format!("a frame is nested at most {DEEPEST_FRAME} levels deep");
        return Err(Refusal::invalid_frame(message).with("limit", DEEPEST_FRAME));
    }
    serde_json::from_str(text).map_err(|error| {
        let message = format!(
            "the frame is not JSON at line {}, column {}",
            error.line(),
            error.column()
        );
        Refusal::new("invalid_json", message).typed("Validation/InputInvalid")
    })
}

/// How deep a text would be nested if it were JSON.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// The members of a frame.
struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    fn frame(&self) -> Result<ClientFrame, Refusal> {
        let kind = self.text("type")?;
        Ok(match kind.as_str() {
            "hello" => ClientFrame::Hello(self.interaction_mode()?),
            "set_interaction_mode" => ClientFrame::SetInteractionMode(self.flag("enabled")?),
            "ping" => ClientFrame::Ping,
            "session_create" => ClientFrame::SessionCreate(self.create()?),
            "session_close" => ClientFrame::SessionClose(self.session_id()?),
            "session_delete" => ClientFrame::SessionDelete(self.session_id()?),
            "sessions_list" => ClientFrame::SessionsList {
                query: self.optional_text("query")?.unwrap_or_default(),
                limit: self.count("limit")?.map_or(100, small),
            },
            "session_fork" => ClientFrame::SessionFork {
                session_id: self.session_id()?,
                at_seq: self.count("atRecord")?,
            },
            "subscribe" => ClientFrame::Subscribe(Subscribe {
                session_id: self.session_id()?,
                since_seq: self.count("sinceSeq")?.unwrap_or(0),
                tail: self.count("tail")?,
                state: matches!(self.0.get("state"), Some(Value::Bool(true))),
            }),
            "unsubscribe" => ClientFrame::Unsubscribe(self.session_id()?),
            "text_input" => ClientFrame::TextInput {
                session_id: self.session_id()?,
                text: self.text("text")?,
            },
            "tool_interaction_response" => ClientFrame::ToolAnswer(self.tool_answer()?),
            "interaction_response" => ClientFrame::CoreAnswer(self.core_answer()?),
            "control" => self.control()?,
            "commands_list" => ClientFrame::Commands(self.session_id()?),
            "complete" => ClientFrame::Complete {
                session_id: self.session_id()?,
                text: self.text("text")?,
                cursor: self.count("cursor")?.map_or(usize::MAX, small),
            },
            "complete_file" => ClientFrame::CompleteFile {
                session_id: self.session_id()?,
                prefix: self.text("prefix")?,
            },
            other => {
                let shown: String = other.chars().take(64).collect();
                let message = format!("there is no frame of type `{shown}`");
                return Err(Refusal::invalid_frame(message).with("field", "type"));
            }
        })
    }

    fn interaction_mode(&self) -> Result<InteractionMode, Refusal> {
        let Some(given) = self.0.get("interaction").filter(|given| !given.is_null()) else {
            return Ok(InteractionMode::default());
        };
        let Value::Object(members) = given else {
            return Err(wrong("interaction", "an object"));
        };
        let flag = |name: &str| match members.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(wrong(&format!("interaction.{name}"), "true or false")),
        };
        let supported = flag("supported")?;
        let enabled = flag("enabled")? && supported;
        Ok(InteractionMode { supported, enabled })
    }

    fn create(&self) -> Result<Create, Refusal> {
        let mode = match self.optional_text("mode")?.as_deref() {
            None => None,
            Some("ask") => Some(SecurityMode::Ask),
            Some("yolo") => Some(SecurityMode::Yolo),
            Some("allowlist") => Some(SecurityMode::Allowlist),
            Some(_) => return Err(wrong("mode", "`ask`, `yolo` or `allowlist`")),
        };
        let session_id = match self.0.get("sessionId") {
            None | Some(Value::Null) => None,
            Some(_) => Some(self.session_id()?),
        };
        Ok(Create {
            session_id,
            mode,
            cwd: self.optional_text("cwd")?,
        })
    }

    fn tool_answer(&self) -> Result<ToolAnswer, Refusal> {
        let call_id = if self.0.contains_key("callId") {
            self.text("callId")?
        } else if self.0.contains_key("toolCallId") {
            self.text("toolCallId")?
        } else {
            return Err(wrong("callId", "a text"));
        };
        let input = match self.0.get("input") {
            None | Some(Value::Null) => None,
            Some(Value::Object(input)) => Some(input.clone()),
            Some(_) => return Err(wrong("input", "an object")),
        };
        Ok(ToolAnswer {
            session_id: self.session_id()?,
            call_id,
            interaction_id: self.text("interactionId")?,
            action: self.word("action", "`approve`, `deny`, `submit` or `cancel`")?,
            approval_scope: match self.0.get("approvalScope") {
                None | Some(Value::Null) => None,
                Some(_) => Some(self.word("approvalScope", "`once`, `session` or `always`")?),
            },
            input,
            reason: self.optional_text("reason")?,
        })
    }

    fn core_answer(&self) -> Result<CoreAnswer, Refusal> {
        let session_id = match self.0.get("sessionId") {
            None | Some(Value::Null) => None,
            Some(_) => Some(self.session_id()?),
        };
        Ok(CoreAnswer {
            session_id,
            interaction_id: self.text("interactionId")?,
            status: self.word("status", "`accepted`, `rejected`, `timeout` or `dismissed`")?,
            value: self
                .0
                .get("value")
                .filter(|value| !value.is_null())
                .cloned(),
            reason: self.optional_text("reason")?,
        })
    }

    fn control(&self) -> Result<ClientFrame, Refusal> {
        if self.text("action")? != "cancel" {
            return Err(wrong("action", "`cancel`"));
        }
        if self.text("target")? != "output" {
            return Err(wrong("target", "`output`"));
        }
        Ok(ClientFrame::Cancel(self.session_id()?))
    }

    fn session_id(&self) -> Result<String, Refusal> {
        let id = self.text("sessionId")?;
        if id.trim().is_empty() {
            return Err(Refusal::invalid_session(&id, "`sessionId` is blank"));
        }
        if id.len() > 256 || id.chars().any(char::is_control) {
            return Err(wrong("sessionId", "the id of a session"));
        }
        Ok(id)
    }

    fn text(&self, name: &str) -> Result<String, Refusal> {
        let text = self.0.get(name).and_then(Value::as_str);
        text.map(str::to_owned).ok_or_else(|| wrong(name, "a text"))
    }

    fn optional_text(&self, name: &str) -> Result<Option<String>, Refusal> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.text(name).map(Some),
        }
    }

    fn flag(&self, name: &str) -> Result<bool, Refusal> {
        let flag = self.0.get(name).and_then(Value::as_bool);
        flag.ok_or_else(|| wrong(name, "true or false"))
    }

    fn count(&self, name: &str) -> Result<Option<u64>, Refusal> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64() {
                Some(count) => Ok(Some(count)),
                None => Err(wrong(name, "a whole number of 0 or more")),
            },
        }
    }

    /// A member that is one of a closed set of words.
    fn word<T: serde::de::DeserializeOwned>(
        &self,
        name: &str,
        expected: &str,
    ) -> Result<T, Refusal> {
        let given = self.0.get(name).cloned().unwrap_or_default();
        serde_json::from_value(given).map_err(|_| wrong(name, expected))
    }
}

fn small(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn wrong(field: &str, expected: &str) -> Refusal {
    Refusal::invalid_frame(format!("`{field}` has to be {expected}"))
        .with("field", field)
        .with("expected", expected)
}

#[cfg(test)]
mod tests;
