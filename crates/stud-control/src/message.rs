//! A control message, in either of its two forms: the canonical one with `type`, and the baseline one with `action`.
//!
//! Everything that can be told from the message alone is decided here, in a fixed order, and before anything is looked
//! up: its version, its form, its identifiers, its content. Members that are not known are ignored.

use serde_json::{Map, Value};

use crate::policy::Policy;
use crate::timestamp;

/// The version of control messages.
pub const SCHEMA_VERSION: u64 = 1;

/// Whom a message is for, and which logical send it belongs to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Address {
    pub(crate) request_id: String,
    pub(crate) team: String,
    pub(crate) session_id: String,
    pub(crate) agent_id: String,
}

/// Which of the two actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ActionKind {
    Stdin,
    Interrupt,
}

impl ActionKind {
    /// The word of the baseline form, also used in records.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Stdin => "stdin",
            Self::Interrupt => "interrupt",
        }
    }

    pub(crate) const fn request_type(self) -> &'static str {
        match self {
            Self::Stdin => "control.stdin.request",
            Self::Interrupt => "control.interrupt.request",
        }
    }

    pub(crate) const fn ack_type(self) -> &'static str {
        match self {
            Self::Stdin => "control.stdin.ack",
            Self::Interrupt => "control.interrupt.ack",
        }
    }

    fn of_action(word: &str) -> Option<Self> {
        [Self::Stdin, Self::Interrupt]
            .into_iter()
            .find(|kind| kind.as_str() == word)
    }

    fn of_type(word: &str) -> Option<Self> {
        [Self::Stdin, Self::Interrupt]
            .into_iter()
            .find(|kind| kind.request_type() == word)
    }
}

/// A message that is valid by itself.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) sender: String,
    /// As it was written.
    pub(crate) sent_at: String,
    pub(crate) retry_count: Option<u64>,
    pub(crate) action: Action,
}

/// What a message asks for.
#[derive(Debug)]
pub(crate) enum Action {
    Stdin { content: Content, interrupt: bool },
    Interrupt,
}

/// The text of a message, or where it is.
#[derive(Debug)]
pub(crate) enum Content {
    Inline(String),
    Reference(Reference),
}

/// A file that holds the text, as the message describes it.
#[derive(Debug, Clone)]
pub(crate) struct Reference {
    pub(crate) path: String,
    pub(crate) size_bytes: u64,
    /// In lower case.
    pub(crate) sha256: String,
    /// In milliseconds since 1970.
    pub(crate) expires_at: Option<u64>,
}

/// What can be told of any message, valid or not: for its answer and for the record.
#[derive(Debug)]
pub(crate) struct Heading {
    pub(crate) kind: ActionKind,
    /// `type`, `action`, or both.
    pub(crate) form: &'static str,
    pub(crate) address: Address,
    pub(crate) sender: Option<String>,
}

impl Heading {
    pub(crate) fn of(members: &Map<String, Value>) -> Self {
        let text = |member: &str| members.get(member).and_then(Value::as_str);
        let echo = |member: &str| clipped(text(member).unwrap_or_default());
        let (of_type, action) = (text("type"), text("action"));
        let is_interrupt = of_type.is_some_and(|word| word.starts_with("control.interrupt"))
            || (of_type.is_none() && action == Some("interrupt"));
        Self {
            kind: if is_interrupt {
                ActionKind::Interrupt
            } else {
                ActionKind::Stdin
            },
            form: match (members.contains_key("type"), members.contains_key("action")) {
                (true, true) => "type+action",
                (true, false) => "type",
                (false, true) => "action",
                (false, false) => "none",
            },
            address: Address {
                request_id: echo("request_id"),
                team: echo("team"),
                session_id: echo("session_id"),
                agent_id: echo("agent_id"),
            },
            sender: text("sender").map(clipped),
        }
    }
}

/// The longest identifier, in bytes.
const LONGEST_ID: usize = 256;

/// An identifier that is too long is echoed in part.
fn clipped(text: &str) -> String {
    let mut end = text.len().min(LONGEST_ID);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

/// Why a message is rejected: a stable word, a colon, and what is wrong.
type Rejection = String;

/// Checks a message by itself.
pub(crate) fn read(members: &Map<String, Value>, policy: &Policy) -> Result<Message, Rejection> {
    let fields = Fields(members);
    if members.get("v").and_then(Value::as_u64) != Some(SCHEMA_VERSION) {
        return Err(format!("unsupported_version: `v` must be {SCHEMA_VERSION}"));
    }
    let kind = fields.kind()?;
    for member in ["request_id", "team", "session_id", "agent_id", "sender"] {
        fields.identifier(member)?;
    }
    let sent_at = fields.required("sent_at")?;
    fields.refuse_provider_ids()?;
    let meta = fields.meta()?;
    let action = match kind {
        ActionKind::Interrupt => fields.interrupt()?,
        ActionKind::Stdin => fields.stdin(policy)?,
    };
    check_time(sent_at, policy)?;
    Ok(Message {
        sender: fields.required("sender")?.to_owned(),
        sent_at: sent_at.to_owned(),
        retry_count: meta,
        action,
    })
}

fn check_time(sent_at: &str, policy: &Policy) -> Result<(), Rejection> {
    let Some(sent) = timestamp::parse(sent_at) else {
        return Err("invalid_field: `sent_at` is no time as RFC 3339 has it".to_owned());
    };
    let now = timestamp::now();
    let (age, ahead) = (now.saturating_sub(sent), sent.saturating_sub(now));
    if u128::from(age) > policy.max_age.as_millis() {
        return Err(format!(
            "too_old: `sent_at` is more than {} seconds ago",
            policy.max_age.as_secs()
        ));
    }
    if u128::from(ahead) > policy.max_skew.as_millis() {
        return Err(format!(
            "clock_skew: `sent_at` is more than {} seconds in the future",
            policy.max_skew.as_secs()
        ));
    }
    Ok(())
}

/// The members of a message. A member that is `null` counts as left out.
struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    fn get(&self, member: &str) -> Option<&'a Value> {
        self.0.get(member).filter(|value| !value.is_null())
    }

    fn text(&self, member: &str) -> Result<Option<&'a str>, Rejection> {
        match self.get(member) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("invalid_field: `{member}` is not a text")),
        }
    }

    fn required(&self, member: &str) -> Result<&'a str, Rejection> {
        let text = self.text(member)?;
        let text = text.ok_or_else(|| format!("missing_field: `{member}` is missing"))?;
        if text.trim().is_empty() {
            return Err(format!("invalid_field: `{member}` is blank"));
        }
        Ok(text)
    }

    /// Identifiers name files and records, so none may lead elsewhere or hide something.
    fn identifier(&self, member: &str) -> Result<(), Rejection> {
        let id = self.required(member)?;
        let flaw = if id.len() > LONGEST_ID {
            "is longer than 256 bytes"
        } else if id.chars().any(char::is_control) {
            "has control characters"
        } else if id.contains(['/', '\\']) {
            "has a slash"
        } else if matches!(id, "." | "..") {
            "is a relative path"
        } else {
            return Ok(());
        };
        Err(format!("invalid_field: `{member}` {flaw}"))
    }

    fn kind(&self) -> Result<ActionKind, Rejection> {
        let of_type = self
            .text("type")?
            .map(|word| ActionKind::of_type(word).ok_or_else(|| unknown("type", word)));
        let of_action = self
            .text("action")?
            .map(|word| ActionKind::of_action(word).ok_or_else(|| unknown("action", word)));
        match (of_type.transpose()?, of_action.transpose()?) {
            (Some(one), Some(other)) if one != other => {
                Err("form_conflict: `type` and `action` do not agree".to_owned())
            }
            (Some(kind), _) | (None, Some(kind)) => Ok(kind),
            (None, None) => Err("missing_field: neither `type` nor `action` is there".to_owned()),
        }
    }

    /// A provider's conversation id is private to it.
    fn refuse_provider_ids(&self) -> Result<(), Rejection> {
        let meta = self.get("meta").and_then(Value::as_object);
        for member in ["thread_id", "threadId"] {
            if self.0.contains_key(member) || meta.is_some_and(|meta| meta.contains_key(member)) {
                return Err(format!("provider_id: `{member}` must not be sent"));
            }
        }
        Ok(())
    }

    /// Checks `meta`; gives how often the message was sent before.
    fn meta(&self) -> Result<Option<u64>, Rejection> {
        let members = match self.get("meta") {
            None => return Ok(None),
            Some(Value::Object(members)) => members,
            Some(_) => return Err("invalid_field: `meta` is not an object".to_owned()),
        };
        let meta = Fields(members);
        for member in ["ui_source", "oversize_strategy"] {
            meta.text(member)
                .map_err(|_| format!("invalid_field: `meta.{member}` is not a text"))?;
        }
        match meta.get("retry_count") {
            None => Ok(None),
            Some(count) => count.as_u64().map(Some).ok_or_else(|| {
                "invalid_field: `meta.retry_count` is not a whole number".to_owned()
            }),
        }
    }

    fn interrupt(&self) -> Result<Action, Rejection> {
        // In the baseline form the action says it already.
        let is_implied = !self.0.contains_key("type");
        match self.text("signal")? {
            Some("interrupt") => Ok(Action::Interrupt),
            None if is_implied => Ok(Action::Interrupt),
            None => Err("missing_field: `signal` is missing".to_owned()),
            Some(_) => Err("invalid_field: `signal` must be `interrupt`".to_owned()),
        }
    }

    fn stdin(&self, policy: &Policy) -> Result<Action, Rejection> {
        let interrupt = match self.get("interrupt") {
            None => false,
            Some(Value::Bool(interrupt)) => *interrupt,
            Some(_) => return Err("invalid_field: `interrupt` is not `true` or `false`".to_owned()),
        };
        match self.text("content_encoding")? {
            None => {}
            Some(encoding) if is_utf8(encoding) => {}
            Some(_) => return Err("invalid_field: `content_encoding` must be `utf-8`".to_owned()),
        }
        self.text("content_preview")?;
        Ok(Action::Stdin {
            content: self.content(policy)?,
            interrupt,
        })
    }

    fn content(&self, policy: &Policy) -> Result<Content, Rejection> {
        // Only the baseline form calls it `payload`; in the other that is an unknown member.
        let payload = if self.0.contains_key("action") {
            self.text("payload")?
        } else {
            None
        };
        let inline = match (self.text("content")?, payload) {
            (Some(_), Some(_)) => {
                return Err("ambiguous_content: both `content` and `payload` are there".to_owned());
            }
            (inline, None) | (None, inline) => inline,
        };
        match (inline, self.get("content_ref")) {
            (Some(_), Some(_)) => {
                Err("ambiguous_content: both a text and `content_ref` are there".to_owned())
            }
            (None, None) => {
                Err("missing_content: there is neither a text nor `content_ref`".to_owned())
            }
            (Some(text), None) => {
                check_text(text)?;
                if text.len() > policy.hard_limit {
                    return Err(format!(
                        "too_large: the text has {} bytes, and more than {} are sent as `content_ref`",
                        text.len(),
                        policy.hard_limit
                    ));
                }
                Ok(Content::Inline(text.to_owned()))
            }
            (None, Some(Value::Object(members))) => {
                Ok(Content::Reference(Fields(members).reference()?))
            }
            (None, Some(_)) => Err("invalid_field: `content_ref` is not an object".to_owned()),
        }
    }

    fn reference(&self) -> Result<Reference, Rejection> {
        let within = |rejection: Rejection| rejection.replacen('`', "`content_ref.", 1);
        let path = self.required("path").map_err(within)?;
        if !path.starts_with('/') {
            return Err("invalid_field: `content_ref.path` is not an absolute path".to_owned());
        }
        let size_bytes = self.get("size_bytes").and_then(Value::as_u64);
        let size_bytes = size_bytes.ok_or_else(|| {
            "invalid_field: `content_ref.size_bytes` is not a whole number".to_owned()
        })?;
        let sha256 = self.required("sha256").map_err(within)?;
        if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(
                "invalid_field: `content_ref.sha256` has not 64 hexadecimal digits".to_owned(),
            );
        }
        if !is_text(self.required("mime").map_err(within)?) {
            return Err("invalid_field: `content_ref.mime` is not a text type in UTF-8".to_owned());
        }
        let expires_at = match self.text("expires_at").map_err(within)? {
            None => None,
            Some(text) => Some(timestamp::parse(text).ok_or_else(|| {
                "invalid_field: `content_ref.expires_at` is no time as RFC 3339 has it".to_owned()
            })?),
        };
        Ok(Reference {
            path: path.to_owned(),
            size_bytes,
            sha256: sha256.to_ascii_lowercase(),
            expires_at,
        })
    }
}

/// Whether a text can be an input: not blank, and without NUL.
pub(crate) fn check_text(text: &str) -> Result<(), Rejection> {
    if text.trim().is_empty() {
        return Err("empty_content: the text is blank".to_owned());
    }
    if text.contains('\0') {
        return Err("invalid_content: the text has a NUL character".to_owned());
    }
    Ok(())
}

/// `text/…`, with no charset or UTF-8.
fn is_text(mime: &str) -> bool {
    let mut parts = mime.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
    let is_text = kind
        .strip_prefix("text/")
        .is_some_and(|subtype| !subtype.is_empty());
    is_text
        && parts.all(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim().trim_matches('"');
            !name.trim().eq_ignore_ascii_case("charset") || is_utf8(value)
        })
}

fn is_utf8(name: &str) -> bool {
    name.eq_ignore_ascii_case("utf-8") || name.eq_ignore_ascii_case("utf8")
}

fn unknown(member: &str, word: &str) -> Rejection {
    format!(
        "unknown_{member}: there is no {member} `{}`",
        clipped(word).escape_debug()
    )
}
