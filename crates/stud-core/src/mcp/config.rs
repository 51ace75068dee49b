//! Which servers there are: `mcp.json` of each scope, and `mcp.servers` of its settings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use stud_contract_meta::strict_json;
use stud_diagnostics::{Diagnostic, codes};

use super::binding::ResourceBinding;
use super::sanitize::shown;
use crate::did_you_mean::nearest;
use crate::environment::Environment;
use crate::platform::{self, ReadError};
use crate::plugin_scope::Scope;
use crate::settings::Settings;

const LARGEST_FILE: u64 = 4 << 20;

/// A server that is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// What it is called.
    pub id: String,
    /// Where it was configured. What an entry says of itself does not count.
    pub scope: Scope,
    /// How it is reached.
    pub transport: Transport,
    /// The file it stands in.
    pub path: PathBuf,
}

/// How a server is reached, as configured: values are not resolved yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// As a process, over its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// What is set in its environment; `${NAME}` stands for a variable of stud's own.
        env: BTreeMap<String, String>,
    },
    /// Over streamable HTTP.
    StreamableHttp {
        /// The address.
        url: String,
        /// What is sent with each request; `${NAME}` stands for a variable of stud's own.
        headers: BTreeMap<String, String>,
    },
}

impl Transport {
    /// The word in files and snapshots.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::StreamableHttp { .. } => "streamable-http",
        }
    }
}

/// The members of `mcp.json`.
const FILE_MEMBERS: &[&str] = &["$schema", "mcpServers", "resources", "servers"];

/// The members of a server's entry. `scope` is what plugins write; it does not decide how far a server is trusted.
const SERVER_MEMBERS: &[&str] = &[
    "args",
    "command",
    "disabled",
    "enabled",
    "env",
    "headers",
    "id",
    "scope",
    "transport",
    "type",
    "url",
];

/// What is configured, and what of it cannot be used.
#[derive(Debug, Clone, Default)]
pub struct Configured {
    /// The servers, by id.
    pub servers: BTreeMap<String, ServerConfig>,
    /// Resources that are bound with limits of their own.
    pub bindings: Vec<ResourceBinding>,
    /// What cannot be used. Whatever can is there all the same.
    pub problems: Vec<Diagnostic>,
}

/// Everything the scopes configure that take part: a later one replaces a server of the same id.
pub fn configured(ground: &Environment) -> Configured {
    let mut all = Configured::default();
    for (scope, root) in ground.roots() {
        all.settings_of(&ground.settings, scope);
        all.file(scope, &root.join("mcp.json"));
    }
    all
}

impl Configured {
    fn settings_of(&mut self, settings: &Settings, scope: Scope) {
        let of_scope = |member| {
            let mut set = settings.each("mcp", member);
            set.find(move |set| set.scope == scope)
        };
        if let Some(set) = of_scope("servers") {
            self.servers(scope, set.path, "/mcp/servers", set.value);
        }
        if let Some(set) = of_scope("resources") {
            self.bindings(set.path, "/mcp/resources", set.value);
        }
    }

    fn file(&mut self, scope: Scope, path: &Path) {
        let document = match read(path) {
            Ok(None) => return,
            Ok(Some(document)) => document,
            Err(why) => {
                let problem = invalid(path, "", "file", format!("`mcp.json` {why}"))
                    .help("correct the file, or move it away");
                return self.problems.push(problem);
            }
        };
        for name in document
            .keys()
            .filter(|name| !FILE_MEMBERS.contains(&name.as_str()))
        {
            let what = unknown_member(name, FILE_MEMBERS);
            let problem = invalid(
                path,
                &format!("/{name}"),
                "member",
                format!("`mcp.json` {what}"),
            );
            self.problems.push(problem);
        }
        // The first is stud's own word, the second the one that other programs share.
        for member in ["servers", "mcpServers"] {
            if let Some(servers) = document.get(member) {
                self.servers(scope, path, &format!("/{member}"), servers);
            }
        }
        if let Some(resources) = document.get("resources") {
            self.bindings(path, "/resources", resources);
        }
    }

    fn servers(&mut self, scope: Scope, path: &Path, pointer: &str, servers: &Value) {
        let entries: Vec<(String, String, &Value)> = match servers {
            Value::Object(members) => members
                .iter()
                .map(|(id, entry)| (format!("{pointer}/{id}"), id.clone(), entry))
                .collect(),
            Value::Array(items) => {
                let entry = |(index, entry): (usize, _)| {
                    let id = text(entry, "id").unwrap_or_default();
                    (format!("{pointer}/{index}"), id.to_owned(), entry)
                };
                items.iter().enumerate().map(entry).collect()
            }
            _ => {
                let what = "is neither a list of servers nor an object with their ids as names";
                let problem = invalid(path, pointer, "file", format!("`{pointer}` {what}"));
                return self.problems.push(problem);
            }
        };
        for (pointer, id, entry) in entries {
            // As other programs write it, and as plugins do.
            let is_off = entry["disabled"] == true || entry["enabled"] == false;
            match server(scope, path, &pointer, id, entry) {
                Ok(server) if is_off => drop(self.servers.remove(&server.id)),
                Ok(server) => drop(self.servers.insert(server.id.clone(), server)),
                Err(problem) => self.problems.push(problem),
            }
        }
    }

    fn bindings(&mut self, path: &Path, pointer: &str, bindings: &Value) {
        let items = bindings.as_array().into_iter().flatten();
        for (index, item) in items.enumerate() {
            match ResourceBinding::read(item) {
                Ok(binding) => self.bindings.push(binding),
                Err(error) => {
                    let problem = Diagnostic::error(&codes::BINDING_CAP_EXCEEDED, error.message())
                        .file(path)
                        .field(format!("{pointer}/{index}"))
                        .help("write `serverId`, `uri` and `maxBytes`, a whole number above 0");
                    self.problems.push(problem);
                }
            }
        }
    }
}

/// Says that a member is unknown, and which one was probably meant. A member that is not looked at would leave its
/// author believing in what it says.
fn unknown_member(name: &str, known: &[&str]) -> String {
    let name = shown(name);
    let known_list = || format!("it can have `{}`", known.join("`, `"));
    let hint = nearest(&name, known.iter().copied())
        .map_or_else(known_list, |meant| format!("`{meant}` was probably meant"));
    format!("has the unknown member `{name}`; {hint}")
}

fn read(path: &Path) -> Result<Option<Map<String, Value>>, String> {
    let bytes = match platform::read_file(path, LARGEST_FILE) {
        Ok(bytes) => bytes,
        Err(ReadError::Missing) => return Ok(None),
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    let text = str::from_utf8(&bytes).map_err(|error| format!("is not UTF-8: {error}"))?;
    let document = strict_json::parse(text).map_err(|error| {
        let place = format!("line {}, column {}", error.line, error.column);
        format!("is not JSON: {} at {place}", error.problem)
    })?;
    match document {
        Value::Object(document) => Ok(Some(document)),
        // A plain list of servers.
        Value::Array(_) => Ok(Some(Map::from_iter([("servers".to_owned(), document)]))),
        _ => Err("is neither an object nor a list".to_owned()),
    }
}

fn server(
    scope: Scope,
    path: &Path,
    pointer: &str,
    id: String,
    entry: &Value,
) -> Result<ServerConfig, Diagnostic> {
    let wrong = |member: &str, reason, why: String| {
        Err(invalid(path, &format!("{pointer}{member}"), reason, why).with("serverId", id.as_str()))
    };
    if !is_id(&id) {
        let why = "the id of an MCP server has only letters, digits, `.`, `_` and `-`, begins with a letter or a \
                   digit, and has at most 64";
        return wrong("", "id", why.to_owned());
    }
    if !entry.is_object() {
        return wrong(
            "",
            "file",
            format!("the MCP server `{id}` is not an object"),
        );
    }
    let mut members = entry.as_object().into_iter().flat_map(Map::keys);
    if let Some(name) = members.find(|name| !SERVER_MEMBERS.contains(&name.as_str())) {
        let what = unknown_member(name, SERVER_MEMBERS);
        let member = format!("/{name}");
        return wrong(&member, "member", format!("the MCP server `{id}` {what}"));
    }
    let word = text(entry, "transport").or_else(|| text(entry, "type"));
    let word = word.unwrap_or(if entry.get("url").is_some() {
        "streamable-http"
    } else {
        "stdio"
    });
    let transport = match word {
        "stdio" => {
            let command = text(entry, "command").unwrap_or_default().trim();
            if command.is_empty() {
                let why = format!("the MCP server `{id}` has no `command`, and `stdio` needs one");
                return wrong("/command", "command", why);
            }
            let Some(args) = texts(&entry["args"]) else {
                let why = format!("`args` of the MCP server `{id}` is not a list of texts");
                return wrong("/args", "command", why);
            };
            let Some(env) = pairs(&entry["env"]) else {
                let why = format!("`env` of the MCP server `{id}` is not an object of texts");
                return wrong("/env", "command", why);
            };
            Transport::Stdio {
                command: command.to_owned(),
                args,
                env,
            }
        }
        "streamable-http" | "http" | "streamableHttp" => {
            let url = text(entry, "url").unwrap_or_default().trim();
            if let Err(why) = check_url(url) {
                return wrong("/url", "url", format!("the MCP server `{id}` {why}"));
            }
            let Some(headers) = pairs(&entry["headers"]) else {
                let why = format!("`headers` of the MCP server `{id}` is not an object of texts");
                return wrong("/headers", "url", why);
            };
            Transport::StreamableHttp {
                url: url.to_owned(),
                headers,
            }
        }
        "sse" => {
            let why = format!(
                "the MCP server `{id}` asks for the transport `sse`, which the protocol has given up: use \
                 `streamable-http`, which most such servers speak at another path, often `/mcp`, or a bridge that is \
                 started over `stdio`"
            );
            return wrong("/transport", "transport", why);
        }
        _ => {
            let why = format!("the MCP server `{id}` has a transport that stud does not know");
            return wrong("/transport", "transport", why);
        }
    };
    Ok(ServerConfig {
        id,
        scope,
        transport,
        path: path.to_owned(),
    })
}

fn check_url(url: &str) -> Result<(), &'static str> {
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    let Some(rest) = rest else {
        return Err(
            "has no `url` that begins with `http://` or `https://`, and its transport needs one",
        );
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("has a password in its `url`: put it into `headers`, as `${NAME}`");
    }
    let is_clean = !url.contains(|c: char| c.is_control() || c.is_whitespace());
    if authority.is_empty() || !is_clean {
        return Err("has a `url` that is none");
    }
    Ok(())
}

/// A colon would make the ids of its prompts and resources mean another server's.
fn is_id(id: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric();
    (1..=64).contains(&id.len())
        && id.starts_with(is_word)
        && id
            .chars()
            .all(|c| is_word(c) || matches!(c, '.' | '_' | '-'))
}

fn text<'a>(entry: &'a Value, member: &str) -> Option<&'a str> {
    entry.get(member)?.as_str()
}

/// A list of texts; none is an empty one.
fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Null => Some(Vec::new()),
        value => {
            let items = value.as_array()?.iter();
            items.map(|item| Some(item.as_str()?.to_owned())).collect()
        }
    }
}

fn pairs(value: &Value) -> Option<BTreeMap<String, String>> {
    match value {
        Value::Null => Some(BTreeMap::new()),
        value => {
            let members = value.as_object()?.iter();
            members
                .map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect()
        }
    }
}

fn invalid(path: &Path, pointer: &str, reason: &str, why: String) -> Diagnostic {
    Diagnostic::error(&codes::MCP_SERVER_CONFIG_INVALID, why)
        .file(path)
        .field(pointer)
        .with("path", path.display().to_string())
        .with("reason", reason)
}

#[cfg(test)]
mod tests;
