//! `stud control`: typing into sessions of other processes, and interrupting them.

use std::io::{self, Read as _};
use std::time::Duration;

use serde_json::{Value, json};
use stud_control::{
    Delivery, LiveSession, Outgoing, Policy, ResultCode, RunDir, Sender, SenderError, Text,
};
use stud_core::ids::{self, Among};
use stud_core::plugin_scope::Scope;
use stud_core::settings::Settings;
use stud_diagnostics::{Diagnostic, codes, printable};

use crate::cli::{Addressee, ControlVerb};
use crate::output::{Outcome, Output, Verdict};
use crate::setup;

pub(crate) const AMONG: Among = Among {
    what: "session",
    listed_by: "stud control sessions",
};

pub(crate) fn run(verb: ControlVerb, output: &Output) -> Verdict {
    match verb {
        ControlVerb::Send {
            text,
            interrupt,
            to,
        } => {
            let content = match text.join(" ") {
                text if text.is_empty() => standard_input()?,
                text => text,
            };
            send(to, Some(Text { content, interrupt }), output)
        }
        ControlVerb::Interrupt { to } => send(to, None, output),
        ControlVerb::Capabilities { session } => capabilities(session.as_deref(), output),
        ControlVerb::Sessions => sessions(output),
    }
}

/// Has a running session reload a plugin.
pub(crate) fn reload(ext_id: &str, session: Option<&str>, output: &Output) -> Verdict {
    let (sender, _) = sender()?;
    let live = sender.live_sessions();
    let session = match session {
        Some(word) => meant(word, &live)?,
        None => only(&live)?,
    };
    let reply = sender
        .reload(session, ext_id)
        .map_err(|error| failed(&error))?;
    if let Some(error) = reply.get("error") {
        return Err(refused_reload(error, ext_id));
    }
    let reloaded = &reply["reloaded"];
    if output.is_json() {
        output.document(reloaded)?;
    } else {
        let phase = reloaded["phase"].as_str().unwrap_or("reloaded");
        output.line(format!(
            "{}  {}",
            output.bold(&printable(ext_id)),
            printable(phase)
        ));
    }
    Ok(if reloaded["phase"] == "refused" {
        Outcome::Refused
    } else {
        Outcome::Done
    })
}

/// The id of a session, with the phase of a reload in it or why there was none.
pub(crate) type SessionReload = (String, Result<String, Diagnostic>);

/// Has every session that runs reload a plugin.
pub(crate) fn reload_everywhere(ext_id: &str) -> Result<Vec<SessionReload>, Diagnostic> {
    let (sender, _) = sender()?;
    let mut outcomes = Vec::new();
    for session in sender.live_sessions() {
        let reply = sender
            .reload(&session, ext_id)
            .map_err(|error| failed(&error));
        let outcome = reply.and_then(|reply| match reply.get("error") {
            Some(error) => Err(refused_reload(error, ext_id)),
            None => Ok(reply["reloaded"]["phase"]
                .as_str()
                .unwrap_or("reloaded")
                .to_owned()),
        });
        outcomes.push((session.session_id.clone(), outcome));
    }
    Ok(outcomes)
}

/// An error of the session's process, as that process told it.
fn refused_reload(error: &Value, ext_id: &str) -> Diagnostic {
    let text = |member: &str| error[member].as_str().unwrap_or_default();
    let known = codes::ALL
        .iter()
        .find(|code| code.class.as_str() == text("class") && code.name == text("code"));
    let code = known.copied().unwrap_or(&codes::CONTROL_NOT_ACCEPTED);
    Diagnostic::error(code, text("message")).of(ext_id)
}

/// The sender, and the team of a session that no process tells of.
fn sender() -> Result<(Sender, String), Diagnostic> {
    let places = setup::places()?;
    let mut settings = Settings::default();
    settings.layer(Scope::Global, &places.global_root)?;
    let policy = Policy::of(&settings, &places.global_root)?;
    let run_dir = RunDir::of(&places.global_root);
    let team = policy.team_of(&places.project_root);
    let sender = Sender::new(
        run_dir,
        places.global_root,
        policy.ack_timeout,
        policy.retries,
    );
    Ok((sender, team))
}

fn send(to: Addressee, text: Option<Text>, output: &Output) -> Verdict {
    let (mut sender, team) = sender()?;
    if let Some(timeout) = to.timeout {
        sender.ack_timeout = Duration::from_millis(timeout);
    }
    sender.retries = to.retries.unwrap_or(sender.retries);
    let live = sender.live_sessions();
    let session_id = match &to.session {
        None => only(&live)?.session_id.clone(),
        // One that is not open is still asked about, since the receiver knows why not.
        Some(word) => {
            meant(word, &live).map_or_else(|_| word.clone(), |live| live.session_id.clone())
        }
    };
    let unknown = live.iter().all(|live| live.session_id != session_id);
    let outgoing = Outgoing {
        sender: to.sender,
        team: to.team.or_else(|| unknown.then_some(team)),
        session_id,
        agent_id: to.agent,
        request_id: to.request_id,
        text,
    };
    let delivery = sender.send(&outgoing).map_err(|error| failed(&error))?;
    tell(&delivery, output)
}

fn tell(delivery: &Delivery, output: &Output) -> Verdict {
    if output.is_json() {
        output.document(&json!({
            "ack": delivery.ack,
            "attempts": delivery.attempts,
            "warnings": delivery.warnings,
        }))?;
    } else {
        for warning in &delivery.warnings {
            let warning = Diagnostic::warning(&codes::CONTROL_NOT_ACCEPTED, warning.as_str());
            output.warn(&warning);
        }
    }
    let detail = delivery.ack["detail"].as_str().unwrap_or_default();
    if delivery.result == ResultCode::Ok {
        if !output.is_json() {
            output.line(printable(detail));
        }
        return Ok(Outcome::Done);
    }
    let result = delivery.result.as_str();
    let message = format!("the receiver answered `{result}`: {}", printable(detail));
    let refused = Diagnostic::error(&codes::CONTROL_NOT_ACCEPTED, message)
        .with("result", result)
        .with("detail", detail)
        .with("requestId", delivery.ack["request_id"].clone());
    Err(match delivery.result {
        ResultCode::NotLive | ResultCode::NotFound => {
            refused.help("`stud control sessions` shows the sessions that are open")
        }
        ResultCode::Busy | ResultCode::Timeout => {
            refused.help("send it again with the same `--request-id`; it takes effect once")
        }
        _ => refused
            .help("`control` in settings.json says who may send what; `stud doctor` shows it"),
    })
}

fn capabilities(session: Option<&str>, output: &Output) -> Verdict {
    let (sender, _) = sender()?;
    let live = sender.live_sessions();
    let socket = session.map(|word| meant(word, &live)).transpose()?;
    let socket = socket.map(|session| session.socket.as_path());
    let capabilities = sender
        .capabilities(socket)
        .map_err(|error| failed(&error))?;
    if output.is_json() {
        output.document(&capabilities)?;
    } else {
        let members = capabilities["control"].as_object().into_iter().flatten();
        for (name, value) in members {
            output.line(format!(
                "{}  {}",
                output.bold(&printable(name)),
                printable(&value.to_string())
            ));
        }
    }
    Ok(Outcome::Done)
}

fn sessions(output: &Output) -> Verdict {
    let live = sender()?.0.live_sessions();
    if output.is_json() {
        let sessions = live.iter().map(|session| {
            json!({
                "sessionId": session.session_id,
                "team": session.team,
                "socket": session.socket,
            })
        });
        output.document(&json!({"sessions": sessions.collect::<Vec<_>>()}))?;
        return Ok(Outcome::Done);
    }
    if live.is_empty() {
        output.line("no session is open");
    }
    for session in live {
        let (team, socket) = (
            printable(&session.team),
            session.socket.display().to_string(),
        );
        output.line(format!(
            "{}  {team}  {}",
            output.bold(&printable(&session.session_id)),
            output.dim(&printable(&socket))
        ));
    }
    Ok(Outcome::Done)
}

/// The open session meant by an id or by the beginning of one.
fn meant<'a>(word: &str, live: &'a [LiveSession]) -> Result<&'a LiveSession, Diagnostic> {
    let mut known: Vec<String> = live
        .iter()
        .map(|session| session.session_id.clone())
        .collect();
    known.sort_unstable();
    known.dedup();
    let id = ids::meant(word, &known, AMONG)?;
    let found = live.iter().find(|session| session.session_id == id);
    found.ok_or_else(|| failed(&SenderError::Unreachable))
}

/// The only session that is open.
fn only(live: &[LiveSession]) -> Result<&LiveSession, Diagnostic> {
    match live {
        [only] => Ok(only),
        [] => Err(failed(&SenderError::Unreachable)),
        several => {
            let message = format!("{} sessions are open, and none was named", several.len());
            Err(Diagnostic::error(&codes::SESSION_AMBIGUOUS, message)
                .help("name one with `--session`; `stud control sessions` lists them"))
        }
    }
}

fn standard_input() -> Result<String, Diagnostic> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| {
        let message = format!("standard input cannot be read: {error}");
        Diagnostic::error(&codes::USER_INPUT_INVALID, message)
            .help("give the text as UTF-8, or on the command line")
    })?;
    Ok(text)
}

fn failed(error: &SenderError) -> Diagnostic {
    let code = match error {
        SenderError::Unreachable | SenderError::NoAnswer { .. } => &codes::CONTROL_UNAVAILABLE,
        SenderError::Unsupported(_) | SenderError::Unreadable(_) | SenderError::Unwritten(_) => {
            &codes::CONTROL_NOT_ACCEPTED
        }
    };
    let failed = Diagnostic::error(code, error.to_string());
    match error {
        SenderError::Unreachable => failed
            .help("start a session with `stud` or `stud serve`; nothing was sent, and nothing is kept for later"),
        SenderError::NoAnswer { request_id, .. } if !request_id.is_empty() => failed
            .with("requestId", request_id.as_str())
            .help(format!("whether it arrived is not known: send it again with `--request-id {request_id}`, and it takes effect once")),
        _ => failed,
    }
}
