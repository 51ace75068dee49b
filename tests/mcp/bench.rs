//! A session in the test's own process, with servers.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};
use stud_core::launch::Launch;
use stud_host_api::metrics::{McpServerInfo, McpStatus};
use stud_host_api::session::SecurityMode;
use stud_tests::{Live, World, eventually, mcp_server};

/// A world with servers, and a session in it that trusts them all.
pub(crate) struct Bench {
    pub(crate) world: World,
    pub(crate) live: Live,
}

impl Bench {
    /// A session with these servers.
    pub(crate) fn with(servers: &Value, settings: &Value) -> Self {
        let world = World::new();
        let file = json!({"mcpServers": servers});
        world.write("home/mcp.json", file.to_string());
        world.write("home/settings.json", json!({"mcp": settings}).to_string());
        let how = Launch {
            yolo: true,
            mode: Some(SecurityMode::Yolo),
            connector: Some(Arc::new(stud_mcp::Client::default())),
            ..Launch::default()
        };
        let live = world.live_as(vec![echo::stud_plugin()], how);
        Self { world, live }
    }

    /// A session with one server `s`, started like this.
    pub(crate) fn of(args: &[&str]) -> Self {
        Self::with(
            &json!({"s": {"command": mcp_server(), "args": args}}),
            &json!({}),
        )
    }

    /// How a server stands.
    pub(crate) fn info(&self, server: &str) -> McpServerInfo {
        let picture = self.live.session().metrics().snapshot();
        let mut servers = picture.mcp.servers.iter();
        servers.find(|info| info.id == server).unwrap().clone()
    }

    /// Waits until a server stands like this.
    pub(crate) fn waits_for(&self, server: &str, status: McpStatus) -> McpServerInfo {
        eventually("the server", || {
            let info = self.info(server);
            (info.status == status).then_some(info)
        })
    }

    /// Calls a tool of `s`; gives its result as the model is told it.
    pub(crate) fn call(&self, tool: &str, args: &Value) -> Value {
        let answered = self
            .live
            .say(&format!("!tool mcp__s__{tool} {args}"))
            .answered();
        let result = answered.text.strip_prefix("RESULT ");
        serde_json::from_str(result.unwrap_or_else(|| panic!("{answered:?}"))).unwrap()
    }

    pub(crate) fn say(&self, text: &str) -> String {
        let result = self.call("say", &json!({"text": text}));
        result["result"]["content"][0]["text"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.live.session().close();
    }
}

/// The fixture's server over HTTP.
pub(crate) struct Http {
    child: Child,
    pub(crate) url: String,
}

impl Http {
    pub(crate) fn start(args: &[&str], address: &str) -> Self {
        let mut child = Command::new(mcp_server())
            .arg("--http")
            .args(args)
            .env("MCP_ADDRESS", address)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        lines.read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        Self { child, url }
    }

    pub(crate) fn address(&self) -> &str {
        self.url
            .trim_start_matches("http://")
            .trim_end_matches("/mcp")
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
