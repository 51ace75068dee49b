//! From one line to its reply.
//!
//! The order is fixed: the message by itself, the sender's rights, the target, duplicates, liveness, a referenced file,
//! acceptance. Rights come before anything that depends on which sessions there are, so that a sender without them
//! cannot find out. A request takes up a place among the remembered ones only once it is accepted.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use stud_contract_meta::Error;
use stud_core::executor::{block_on, within};
use stud_core::session::{
    AcceptedControl, Claim, ControlKey, ControlSlot, Session, TurnEffect, accepted_earlier, archive,
};
use stud_core::store::Store;
use stud_diagnostics::codes;

use crate::ack::{Ack, Decision, ResultCode};
use crate::attach::ScreenHost;
use crate::content_ref::{self, sha256};
use crate::envelope::{Envelope, EnvelopeError, Refused};
use crate::message::{self, Action, ActionKind, Content, Heading, Message};
use crate::policy::Policy;
use crate::roster::Right;
use crate::sessions::{Found, MAIN_AGENT, Sessions};
use crate::trail::{self, Judged};

/// What becomes of a line.
pub(crate) enum Answer {
    /// It is answered with this line.
    Line(String),
    /// The connection is for this screen from now on, once it was sent this line.
    Screen(ScreenHost, String),
}

/// Answers the lines of a control socket.
#[derive(Clone)]
pub struct Receiver(Arc<Inner>);

struct Inner {
    policy: Policy,
    sessions: Arc<dyn Sessions>,
    global_root: PathBuf,
}

impl Receiver {
    /// A receiver for these sessions. What belongs to no session is put on record in `global_root`.
    pub fn new(policy: Policy, sessions: Arc<dyn Sessions>, global_root: PathBuf) -> Self {
        Self(Arc::new(Inner {
            policy,
            sessions,
            global_root,
        }))
    }

    /// What it holds to.
    pub fn policy(&self) -> &Policy {
        &self.0.policy
    }

    /// Answers one line with one line.
    pub fn answer(&self, line: &[u8]) -> String {
        let answered = Envelope::read(line).and_then(|envelope| self.obey(envelope));
        answered.unwrap_or_else(|refused| refused.reply())
    }

    /// The same, or the screen of another process that the connection is for from now on, with the line that says so.
    pub(crate) fn take(&self, line: &[u8]) -> Answer {
        let envelope = match Envelope::read(line) {
            Ok(envelope) if envelope.command == "admin.attach" => envelope,
            Ok(envelope) => {
                let answered = self.obey(envelope);
                return Answer::Line(answered.unwrap_or_else(|refused| refused.reply()));
            }
            Err(refused) => return Answer::Line(refused.reply()),
        };
        self.attach(envelope)
            .unwrap_or_else(|refused| Answer::Line(refused.reply()))
    }

    fn attach(&self, mut envelope: Envelope) -> Result<Answer, Refused> {
        let members = envelope.object()?;
        let text = |name: &str| {
            let found = members.get(name).and_then(Value::as_str);
            found.ok_or_else(|| {
                let message = format!("`{name}` is not a text");
                envelope.refuse(EnvelopeError::InvalidPayload, &message)
            })
        };
        let (session_id, ext_id) = (text("session_id")?, text("ext_id")?);
        Ok(match self.0.sessions.screen(session_id, ext_id) {
            Ok(screen) => {
                let attached =
                    json!({"attached": {"session_id": screen.session.id(), "ext_id": ext_id}});
                Answer::Screen(screen, envelope.reply(&attached))
            }
            Err(error) => Answer::Line(envelope.reply(&json!({"error": told(&error)}))),
        })
    }

    fn obey(&self, mut envelope: Envelope) -> Result<String, Refused> {
        let payload = match envelope.command.as_str() {
            "control" => {
                let members = envelope.object()?;
                self.control(&members).to_json()
            }
            "capabilities" => self.capabilities(),
            "admin.sessions" => self.sessions(),
            "admin.reload" => {
                let members = envelope.object()?;
                self.reload(&envelope, &members)?
            }
            command => {
                let message = format!("there is no command `{}`", command.escape_debug());
                return Err(envelope.refuse(EnvelopeError::UnknownCommand, &message));
            }
        };
        Ok(envelope.reply(&payload))
    }

    /// What this receiver understands, so that a sender need not try.
    fn capabilities(&self) -> Value {
        let policy = &self.0.policy;
        let actions: &[ActionKind] = if policy.interrupt {
            &[ActionKind::Stdin, ActionKind::Interrupt]
        } else {
            &[ActionKind::Stdin]
        };
        let actions: Vec<&str> = actions.iter().map(|kind| kind.as_str()).collect();
        json!({"control": {
            "v": [message::SCHEMA_VERSION],
            "forms": ["type", "action"],
            "actions": actions,
            "stdin_interrupt": policy.interrupt,
            "soft_limit_bytes": policy.soft_limit,
            "hard_limit_bytes": policy.hard_limit,
            "content_ref": {
                "base": policy.content_ref_base,
                "max_bytes": policy.content_ref_max,
            },
            "dedupe": {"durable": true, "ttl_secs": policy.dedupe_ttl.as_secs()},
            "max_age_secs": policy.max_age.as_secs(),
            "max_skew_secs": policy.max_skew.as_secs(),
        }})
    }

    fn sessions(&self) -> Value {
        let sessions = self.0.sessions.live();
        let sessions = sessions.iter().map(|session| {
            json!({
                "session_id": session.id(),
                "team": self.0.team_of(session),
                "agent_ids": [MAIN_AGENT],
            })
        });
        json!({"sessions": sessions.collect::<Vec<_>>()})
    }

    fn reload(&self, envelope: &Envelope, members: &Map<String, Value>) -> Result<Value, Refused> {
        let text = |member: &str| {
            let text = members.get(member).and_then(Value::as_str);
            text.ok_or_else(|| {
                let message = format!("`payload.{member}` is not a text");
                envelope.refuse(EnvelopeError::InvalidPayload, &message)
            })
        };
        let (session_id, ext_id) = (text("session_id")?, text("ext_id")?);
        Ok(match self.0.sessions.reload(session_id, ext_id) {
            Ok(reloaded) => json!({"reloaded": reloaded}),
            Err(error) => json!({"error": told(&error)}),
        })
    }

    /// Answers a control message, and puts both on record.
    pub(crate) fn control(&self, members: &Map<String, Value>) -> Ack {
        let heading = Heading::of(members);
        let judged = match message::read(members, &self.0.policy) {
            Ok(message) => self.judge(&heading, message),
            Err(detail) => Judged::without_session(None, Decision::rejected(detail)),
        };
        let ack = Ack::now(
            heading.kind,
            heading.address.clone(),
            judged.decision.clone(),
        );
        let Inner {
            policy,
            global_root,
            ..
        } = &*self.0;
        trail::note(
            global_root,
            judged.session.as_deref(),
            &heading,
            &judged,
            policy,
            &ack,
        );
        ack
    }

    fn judge(&self, heading: &Heading, message: Message) -> Judged {
        let inner = &self.0;
        let (rights, interrupts) = rights(&message.action);
        let team = &heading.address.team;
        let known_team = inner.policy.team.as_deref();
        let allowed = inner
            .policy
            .roster
            .check(&message.sender, team, known_team, rights);
        if let Err(detail) = allowed {
            return Judged::without_session(Some(message), Decision::rejected(detail));
        }
        if interrupts && !inner.policy.interrupt {
            let detail = "interrupt_unsupported: `control.interrupt` is off";
            return Judged::without_session(Some(message), Decision::rejected(detail));
        }
        let session_id = &heading.address.session_id;
        if heading.address.agent_id != MAIN_AGENT {
            let decision = match inner.sessions.find(session_id) {
                Found::Unknown => no_session(),
                Found::Live(_) | Found::Stored(_) => no_agent(),
            };
            return Judged::without_session(Some(message), decision);
        }
        match inner.sessions.find(session_id) {
            Found::Unknown => Judged::without_session(Some(message), no_session()),
            Found::Stored(store) => {
                let decision = inner.decide_on_stored(heading, &message, &store);
                Judged::without_session(Some(message), decision)
            }
            Found::Live(session) if inner.team_of(&session) != *team => {
                Judged::without_session(Some(message), other_team())
            }
            Found::Live(session) => self.judge_live(heading, message, session),
        }
    }

    /// Decides on another thread, so that a store that does not come back costs the sender no more than the time it was
    /// promised. What becomes of the request then is told to the next copy of it.
    fn judge_live(&self, heading: &Heading, message: Message, session: Arc<Session>) -> Judged {
        let inner = self.0.clone();
        let key = key(heading);
        let message = Arc::new(message);
        let decided = within(self.0.policy.ack_timeout, {
            let (message, session) = (message.clone(), session.clone());
            move || inner.decide(&key, &message, &session)
        });
        let late = || {
            Decision::new(
                ResultCode::Timeout,
                "undecided: send the same request again",
            )
        };
        Judged {
            decision: decided.unwrap_or_else(late),
            message: Some(message),
            // The trail of a session ends with it.
            session: Some(session).filter(|session| session.is_live()),
        }
    }
}

impl Inner {
    fn team_of(&self, session: &Session) -> String {
        self.policy.team_of(&session.facts().project_root)
    }

    /// A session that is not open takes nothing; what it took before is still known.
    fn decide_on_stored(
        &self,
        heading: &Heading,
        message: &Message,
        store: &Arc<dyn Store>,
    ) -> Decision {
        let session_id = &heading.address.session_id;
        if self.policy.team.is_none() {
            match archive::project_root(session_id, &**store) {
                Ok(project) if self.policy.team_of(&project) == heading.address.team => {}
                Ok(_) => return other_team(),
                Err(_) => return not_live(),
            }
        }
        match accepted_earlier(session_id, &key(heading), &**store, self.policy.dedupe_ttl) {
            Ok(Some(earlier)) => duplicate(&earlier, message),
            Ok(None) | Err(_) => not_live(),
        }
    }

    fn decide(&self, key: &ControlKey, message: &Message, session: &Session) -> Decision {
        let Policy {
            dedupe_ttl,
            dedupe_capacity,
            ..
        } = self.policy;
        match block_on(session.claim_control(key, dedupe_ttl, dedupe_capacity)) {
            Err(_) | Ok(Claim::New(_)) if !session.is_live() => not_live(),
            Err(error) => failed(&error),
            Ok(Claim::Accepted(earlier)) => duplicate(&earlier, message),
            Ok(Claim::Full) => Decision::new(
                ResultCode::Busy,
                "dedupe_full: too many requests are remembered",
            ),
            Ok(Claim::New(slot)) => self.accept(slot, message),
        }
    }

    fn accept(&self, slot: ControlSlot<'_>, message: &Message) -> Decision {
        let accepted = match &message.action {
            Action::Interrupt => block_on(slot.accept_interrupt(&message.sender)),
            Action::Stdin { content, interrupt } => {
                let text = match content {
                    Content::Inline(text) => Ok(text.clone()),
                    Content::Reference(reference) => content_ref::read(
                        reference,
                        &self.policy.content_ref_base,
                        self.policy.content_ref_max,
                    ),
                };
                match text {
                    Err(detail) => return Decision::rejected(detail),
                    Ok(text) => {
                        let digest = sha256(text.as_bytes());
                        let capacity = self.policy.queue_capacity;
                        let sender = &message.sender;
                        block_on(slot.accept_text(text, sender, &digest, *interrupt, capacity))
                    }
                }
            }
        };
        match accepted {
            Ok(effect) => Decision::new(ResultCode::Ok, accepted_detail(&message.action, effect)),
            Err(error) => failed(&error),
        }
    }
}

/// What a request needs, and whether it may end a turn.
fn rights(action: &Action) -> (&'static [Right], bool) {
    match action {
        Action::Interrupt => (&[Right::Interrupt], true),
        Action::Stdin {
            interrupt: true, ..
        } => (&[Right::Stdin, Right::Interrupt], true),
        Action::Stdin { .. } => (&[Right::Stdin], false),
    }
}

fn key(heading: &Heading) -> ControlKey {
    ControlKey {
        team: heading.address.team.clone(),
        agent_id: heading.address.agent_id.clone(),
        request_id: heading.address.request_id.clone(),
    }
}

fn accepted_detail(action: &Action, effect: TurnEffect) -> &'static str {
    match (action, effect) {
        (Action::Interrupt, TurnEffect::Cancelled) => "interrupted",
        (Action::Interrupt, _) => "no_active_turn",
        (Action::Stdin { .. }, TurnEffect::Cancelled) => {
            "accepted: the running turn was interrupted"
        }
        (Action::Stdin { .. }, _) => "accepted",
    }
}

/// A repetition changes nothing, also where it says something else than the first copy did.
fn duplicate(earlier: &AcceptedControl, message: &Message) -> Decision {
    let digest = match &message.action {
        Action::Interrupt => None,
        Action::Stdin {
            content: Content::Inline(text),
            ..
        } => Some(sha256(text.as_bytes())),
        Action::Stdin {
            content: Content::Reference(reference),
            ..
        } => Some(reference.sha256.clone()),
    };
    let detail = if digest == earlier.digest {
        "duplicate: the request was accepted before"
    } else {
        "duplicate_differs: the request was accepted before, with another payload"
    };
    Decision {
        duplicate: true,
        ..Decision::new(ResultCode::Ok, detail)
    }
}

fn no_session() -> Decision {
    Decision::new(
        ResultCode::NotFound,
        "unknown_session: there is no such session",
    )
}

fn no_agent() -> Decision {
    Decision::new(
        ResultCode::NotFound,
        "unknown_agent: the session has no such agent",
    )
}

fn not_live() -> Decision {
    Decision::new(
        ResultCode::NotLive,
        "session_not_open: the session is not open",
    )
}

fn other_team() -> Decision {
    Decision::rejected("foreign_team: the session belongs to another team")
}

fn failed(error: &Error) -> Decision {
    if error.code() == codes::INPUT_QUEUE_FULL.name {
        return Decision::new(ResultCode::Busy, "queue_full: too many inputs wait already");
    }
    if error.class() == "Cancellation" {
        return Decision::new(
            ResultCode::NotLive,
            "session_ending: the session takes no more input",
        );
    }
    Decision {
        error: Some(told(error)),
        ..Decision::new(
            ResultCode::InternalError,
            "not_kept: the request could not be kept",
        )
    }
}

fn told(error: &Error) -> Value {
    json!({"class": error.class(), "code": error.code(), "message": error.message()})
}

impl std::fmt::Debug for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Receiver")
    }
}
