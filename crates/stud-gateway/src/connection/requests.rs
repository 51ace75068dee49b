//! What clients ask for besides subscribing.

use std::time::Duration;

use serde_json::{Value, json};
use stud_core::executor::block_on;
use stud_core::session::archive::{self, Summary};
use stud_host_api::commands::CommandResult;

use super::{Connection, blocking};
use crate::answers;
use crate::frame::ClientFrame;
use crate::hosting::Hosting;
use crate::live_session::LiveSession;
use crate::refusal::Refusal;
use crate::web_interactor::EXT_ID;

impl Connection {
    pub(super) async fn request(
        &mut self,
        frame: ClientFrame,
        request_id: Option<&Value>,
    ) -> Result<Option<Value>, Refusal> {
        match frame {
            ClientFrame::TextInput { session_id, text } => {
                self.text_input(&session_id, text, request_id).await
            }
            ClientFrame::ToolAnswer(answer) => {
                let live = self.subscribed(&answer.session_id)?;
                if !self.mode.enabled {
                    return Err(answers::disabled());
                }
                answers::answer_tool(&live, &self.client_id, answer).await?;
                Ok(accepted(request_id))
            }
            ClientFrame::CoreAnswer(answer) => {
                let live = match &answer.session_id {
                    Some(session_id) => self.subscribed(session_id)?,
                    None => self.session_of_prompt(&answer.interaction_id)?,
                };
                if !self.mode.enabled {
                    return Err(answers::disabled());
                }
                answers::answer_core(&live, &self.client_id, answer).await?;
                Ok(accepted(request_id))
            }
            ClientFrame::Cancel(session_id) => {
                let live = self.hosting.live(&session_id)?;
                live.session.cancel_turn();
                Ok(accepted(request_id))
            }
            ClientFrame::SessionCreate(create) => {
                let live = self.hosting.create(create).await?;
                let facts = live.session.facts();
                Ok(Some(json!({
                    "type": "session_created",
                    "sessionId": live.id(),
                    "mode": facts.mode,
                    "cwd": facts.project_root.parent(),
                    "createdAt": facts.created_at,
                    "lastSeq": live.log.last_seq(),
                })))
            }
            ClientFrame::SessionClose(session_id) => {
                self.hosting.close(&session_id, Duration::ZERO).await?;
                Ok(self.over("session_closed", &session_id))
            }
            ClientFrame::SessionDelete(session_id) => {
                self.hosting.delete(&session_id).await?;
                Ok(self.over("session_deleted", &session_id))
            }
            ClientFrame::SessionFork { session_id, at_seq } => {
                let hosting = self.hosting.clone();
                self.spawn(
                    request_id,
                    blocking(move || fork(&hosting, &session_id, at_seq)),
                )
            }
            ClientFrame::SessionsList { query, limit } => {
                let hosting = self.hosting.clone();
                self.spawn(request_id, blocking(move || list(&hosting, &query, limit)))
            }
            ClientFrame::Commands(session_id) => {
                let live = self.hosting.live(&session_id)?;
                let commands = live.session.list_commands();
                Ok(Some(json!({
                    "type": "commands",
                    "sessionId": session_id,
                    "commands": commands,
                })))
            }
            ClientFrame::Complete {
                session_id,
                text,
                cursor,
            } => {
                let live = self.hosting.live(&session_id)?;
                self.spawn(
                    request_id,
                    blocking(move || Ok(complete_command(&live, &text, cursor))),
                )
            }
            ClientFrame::CompleteFile { session_id, prefix } => {
                let live = self.hosting.live(&session_id)?;
                self.spawn(
                    request_id,
                    blocking(move || Ok(complete_file(&live, &prefix))),
                )
            }
            // These were handled where the connection's own state is.
            ClientFrame::Hello(_)
            | ClientFrame::SetInteractionMode(_)
            | ClientFrame::Ping
            | ClientFrame::Subscribe(_)
            | ClientFrame::Unsubscribe(_) => Ok(None),
        }
    }

    /// A line that begins with a slash is a command, and never reaches a model.
    async fn text_input(
        &mut self,
        session_id: &str,
        text: String,
        request_id: Option<&Value>,
    ) -> Result<Option<Value>, Refusal> {
        let live = self.hosting.live(session_id)?;
        if text.trim_start().starts_with('/') {
            let session_id = session_id.to_owned();
            return self.spawn(
                request_id,
                blocking(move || {
                    let command = text.trim();
                    let done = block_on(live.session.dispatch_line(EXT_ID, command))?;
                    let mut reply = json!({
                        "type": "command_result",
                        "sessionId": session_id,
                        "line": command,
                    });
                    match done {
                        CommandResult::Done { rendered, payload } => {
                            reply["status"] = "done".into();
                            reply["rendered"] = rendered.into();
                            if let Some(payload) = payload {
                                reply["payload"] = payload;
                            }
                        }
                        CommandResult::Blocked { reason } => {
                            reply["status"] = "blocked".into();
                            reply["reason"] = reason.into();
                        }
                    }
                    Ok(reply)
                }),
            );
        }
        if self.mode.enabled && self.hosting.cancels_on_text() {
            answers::pass_over(&live, &self.client_id).await;
        }
        let session_id = session_id.to_owned();
        let seq = blocking(move || Ok(block_on(live.session.submit(EXT_ID, text))?)).await?;
        Ok(Some(json!({
            "type": "input_accepted",
            "sessionId": session_id,
            "inputSeq": seq,
        })))
    }

    fn session_of_prompt(
        &self,
        interaction_id: &str,
    ) -> Result<std::sync::Arc<LiveSession>, Refusal> {
        let mut lives = self.subscriptions.values().map(|other| &other.live);
        let asks = |live: &&std::sync::Arc<LiveSession>| {
            live.prompt(interaction_id).is_some() || live.log.is_settled(interaction_id)
        };
        lives.find(asks).cloned().ok_or_else(|| {
            let message = format!("there is no prompt `{interaction_id}`");
            Refusal::new("interaction_not_found", message)
                .typed("Session/InteractionNotFound")
                .with("interactionId", interaction_id)
        })
    }

    /// The reply to a client that ended a session. One that takes part in it learns it with everyone else who does.
    fn over(&self, kind: &str, session_id: &str) -> Option<Value> {
        let takes_part = self.subscriptions.contains_key(session_id);
        (!takes_part).then(|| json!({"type": kind, "sessionId": session_id}))
    }
}

/// The reply to what is told by events otherwise, for a client that waits for one.
fn accepted(request_id: Option<&Value>) -> Option<Value> {
    request_id.map(|_| json!({"type": "accepted"}))
}

fn fork(hosting: &Hosting, session_id: &str, at_seq: Option<u64>) -> Result<Value, Refusal> {
    let stored = hosting.stored()?;
    let trails = hosting.trails();
    let forked = archive::fork(session_id, at_seq, stored.store(), &trails)?;
    Ok(json!({
        "type": "session_forked",
        "sessionId": forked.session_id,
        "forkedFrom": {"sessionId": session_id, "record": forked.at_seq},
        "messages": forked.messages,
    }))
}

/// The newest sessions that fit a query.
fn list(hosting: &Hosting, query: &str, limit: usize) -> Result<Value, Refusal> {
    let stored = hosting.stored()?;
    let mut ids = stored.store().list()?;
    // Ids are in the order in which they were made.
    ids.sort_unstable_by(|one, other| other.cmp(one));
    let total = ids.len();
    let running = hosting.running();
    let query = query.to_lowercase();
    let all = ids.iter();
    let known = all.filter_map(|id| archive::summarize(id, &**stored.store()).ok());
    let fitting = known.filter(|summary| fits(summary, &query));
    let listed = fitting.take(limit.min(1000)).map(|summary| {
        let is_live = running.contains(&summary.session_id);
        listed(summary, is_live)
    });
    Ok(json!({
        "type": "sessions",
        "sessions": listed.collect::<Vec<_>>(),
        "total": total,
    }))
}

fn complete_command(live: &LiveSession, text: &str, cursor: usize) -> Value {
    let mut cursor = cursor.min(text.len());
    while !text.is_char_boundary(cursor) {
        cursor -= 1;
    }
    let found = live.session.complete_command(text, cursor);
    json!({
        "type": "completions",
        "sessionId": live.id(),
        "completions": found,
    })
}

fn complete_file(live: &LiveSession, prefix: &str) -> Value {
    let root = live.session.facts().project_root.clone();
    let files = root
        .parent()
        .map(|folder| crate::files::matching(folder, prefix));
    json!({
        "type": "files",
        "sessionId": live.id(),
        "prefix": prefix,
        "files": files.unwrap_or_default(),
    })
}

fn fits(summary: &Summary, query: &str) -> bool {
    let words = summary.first_words.as_deref().unwrap_or_default();
    query.is_empty()
        || words.to_lowercase().contains(query)
        || summary.session_id.starts_with(query)
        || summary
            .project_root
            .to_string_lossy()
            .to_lowercase()
            .contains(query)
}

fn listed(summary: Summary, is_live: bool) -> Value {
    /// How much of what was said first is shown.
    const TITLE: usize = 200;
    let title: Option<String> = summary
        .first_words
        .map(|words| words.chars().take(TITLE).collect());
    json!({
        "sessionId": summary.session_id,
        "title": title,
        "createdAt": summary.created_at,
        "updatedAt": summary.updated_at,
        "cwd": summary.project_root.parent(),
        "mode": summary.mode,
        "messages": summary.messages,
        "live": is_live,
        "forkedFrom": summary.forked_from.map(|(session_id, record)| {
            json!({"sessionId": session_id, "record": record})
        }),
    })
}
