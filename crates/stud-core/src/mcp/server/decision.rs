//! Whether the server is trusted: what the lists say, what the person says.

use std::collections::BTreeMap;

use serde_json::json;
use stud_contract_interaction::{Answer, Confirm, Payload};
use stud_contract_meta::{Error, Result};
use stud_diagnostics::{codes, printable};

use super::{Server, TrustState};
use crate::mcp::config::Transport;
use crate::mcp::trust::{TrustEntry, TrustStanding};
use crate::platform;
use crate::plugin_scope::Scope;
use crate::sync::lock;

impl Server {
    /// Stops a server that may not be connected to. An undecided server raises a prompt.
    ///
    /// # Errors
    ///
    /// `Session/MCPUntrusted`, `Session/MCPTrustUnavailable`.
    pub(super) async fn settle_trust(&self) -> Result<()> {
        let decided = lock(&self.state).trust.clone();
        match decided {
            TrustState::Listed(..) | TrustState::Once | TrustState::Bundled => return Ok(()),
            TrustState::Refused => return Err(self.untrusted("you said no to it in this session")),
            TrustState::Unknown => {}
        }
        let Some(question) = self.standing()? else {
            return Ok(());
        };
        if self.ask(question).await? {
            self.grant();
        }
        Ok(())
    }

    /// Looks whether it is trusted; gives what the person is asked if it is not.
    pub(in crate::mcp) fn standing(&self) -> Result<Option<String>> {
        if self.config.scope == Scope::Bundled {
            self.decide(TrustState::Bundled, "trusted", Some("bundled"));
            return Ok(None);
        }
        let standing = self.means.lists.standing(self.id(), &self.fingerprint)?;
        let asked = match standing {
            TrustStanding::Trusted(scope, entry) => {
                self.decide(
                    TrustState::Listed(scope, entry),
                    "trusted",
                    Some(scope.as_str()),
                );
                return Ok(None);
            }
            TrustStanding::Unknown => "Trust",
            TrustStanding::Changed => {
                "You trusted it when it was started or reached in another way. Trust"
            }
        };
        self.decide(TrustState::Unknown, "unknown", None);
        Ok(Some(self.question(asked)))
    }

    /// Asks the user, or applies the decision made in advance. Returns whether an approval is to be remembered.
    pub(super) async fn ask(&self, question: String) -> Result<bool> {
        let means = &self.means;
        if means.yolo {
            self.decide(TrustState::Once, "trusted", Some("session"));
            return Ok(false);
        }
        if !means.prompts.is_attended() {
            return Err(self.unattended());
        }
        let payload = Payload::from(Confirm {
            prompt: question,
            default: Some(false),
        });
        let response = means.ask(payload.clone()).await;
        let response = response.map_err(|error| self.untrusted(error.message()))?;
        match response.answer(&payload) {
            Ok(Some(Answer::Confirm(answer))) if answer.confirmed => Ok(true),
            _ => {
                self.decide(TrustState::Refused, "untrusted", None);
                Err(self.untrusted("you said no to it in this session"))
            }
        }
    }

    /// Keeps a yes, where the server is configured. One that cannot be kept holds for the session.
    pub(super) fn grant(&self) {
        let scope = self.config.scope;
        let entry = TrustEntry::new(self.id(), self.fingerprint.clone(), platform::now());
        self.keep(scope, entry);
    }

    pub(super) fn keep(&self, scope: Scope, entry: TrustEntry) {
        let means = &self.means;
        means.audit_trust(self.id(), "trusted", Some(scope.as_str()));
        match means.lists.put(scope, entry.clone()) {
            Ok(()) => lock(&self.state).trust = TrustState::Listed(scope, entry),
            Err(error) => {
                let reason = "the MCP server is trusted for this session only";
                means.suppress(reason, &error);
                self.decide(TrustState::Once, "trusted", Some("session"));
            }
        }
    }

    /// Forgets what was decided, so that the next use asks as the first one did.
    pub(in crate::mcp) async fn forget(&self) {
        lock(&self.state).trust = TrustState::Unknown;
        let _pass = self.gate.enter().await;
        let link = lock(&self.state).link.take();
        self.withdraw();
        if let Some(link) = link {
            self.hang_up(&link.connection, "it is no longer trusted")
                .await;
        }
        self.set_status(stud_host_api::metrics::McpStatus::Disconnected, None);
    }

    fn decide(&self, trust: TrustState, decision: &str, scope: Option<&str>) {
        self.means.audit_trust(self.id(), decision, scope);
        lock(&self.state).trust = trust;
    }

    /// What the person should know: what runs or is reached, and what it is given.
    fn question(&self, asked: &str) -> String {
        let path = self.config.path.display().to_string();
        let given = |how: &str, values: &BTreeMap<String, String>| {
            let names: Vec<_> = values.keys().map(|name| printable(name)).collect();
            match names.join(", ") {
                names if names.is_empty() => names,
                names => format!(" It is {how} {names}."),
            }
        };
        let what = match &self.config.transport {
            Transport::Stdio { command, args, env } => {
                let mut line = printable(command).into_owned();
                for arg in args {
                    line.push(' ');
                    line.push_str(&printable(arg));
                }
                let given = given("given", env);
                format!("It runs `{line}`, with everything you may do.{given}")
            }
            Transport::StreamableHttp { url, headers } => {
                let given = given("sent", headers);
                format!("It is reached at `{}`.{given}", printable(url))
            }
        };
        format!(
            "{asked} the MCP server `{}`? {what} (from {})",
            self.id(),
            printable(&path)
        )
    }

    /// No interactor is attached.
    pub(in crate::mcp) fn unattended(&self) -> Error {
        self.untrusted(
            "it was never approved, and no interactive UI is attached to ask; run with a UI, or with `--yolo` to trust it \
             this once",
        )
    }

    pub(super) fn untrusted(&self, why: &str) -> Error {
        let code = &codes::MCP_UNTRUSTED;
        let message = format!("the MCP server `{}` is not trusted: {why}", self.id());
        Error::new(code.class, code.name, message)
            .with("serverId", self.id())
            .with("scope", json!(self.config.scope.as_str()))
    }
}
