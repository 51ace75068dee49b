//! What the client needs from a protocol implementation. Core has no runtime, so another crate implements it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use serde_json::{Map, Value};
use stud_host_api::BoxFuture;

/// Opens connections to servers.
pub trait Connector: Send + Sync + fmt::Debug {
    /// Opens one: starts the process or reaches the address, and agrees on a version of the protocol.
    ///
    /// Dropping the future ends whatever was begun.
    fn connect(
        &self,
        target: ServerAddress,
        watch: Arc<dyn Watch>,
    ) -> BoxFuture<'_, Result<Arc<dyn Connection>, ConnectionError>>;
}

/// Which server, and how it is reached.
#[derive(Debug, Clone)]
pub struct ServerAddress {
    /// Its id.
    pub server_id: String,
    /// How it is reached.
    pub reach: Reach,
    /// How long the caller waits for the connection.
    pub timeout: Duration,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum Reach {
    /// As a process of its own, over its standard input and output.
    Process {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// What is set in its environment.
        env: BTreeMap<String, SecretString>,
        /// Where it runs.
        cwd: PathBuf,
    },
    /// Over streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// What is sent with each request.
        headers: BTreeMap<String, SecretString>,
    },
}

/// A connection that stands. Dropping the future of a call sends a cancellation to the server.
pub trait Connection: Send + Sync {
    /// The tools it has.
    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<ToolDescriptor>, ConnectionError>>;

    /// The prompts it has.
    fn list_prompts(&self) -> BoxFuture<'_, Result<Vec<PromptDescriptor>, ConnectionError>>;

    /// The resources it has.
    fn list_resources(&self) -> BoxFuture<'_, Result<Vec<ResourceDescriptor>, ConnectionError>>;

    /// Calls a tool.
    fn call_tool<'a>(
        &'a self,
        name: &'a str,
        args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolAnswer, ConnectionError>>;

    /// Gets the messages of a prompt.
    fn get_prompt<'a>(
        &'a self,
        name: &'a str,
        args: BTreeMap<String, String>,
    ) -> BoxFuture<'a, Result<Vec<PromptMessage>, ConnectionError>>;

    /// Reads a resource.
    fn read_resource<'a>(
        &'a self,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Vec<ResourceContent>, ConnectionError>>;

    /// Ends the connection, and the server's process with everything it has started.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// Hears what a connection has to say by itself. Neither call waits.
pub trait Watch: Send + Sync {
    /// The connection is gone, for this reason. Nothing is said of one that was closed.
    fn lost(&self, why: String);

    /// A list of the server's is another one now.
    fn changed(&self);
}

/// Why a server did not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionError {
    /// There is no connection, or not any more.
    Lost(String),
    /// The server says no, or something that cannot be understood.
    Refused(String),
}

impl ConnectionError {
    /// In words.
    pub fn words(&self) -> &str {
        match self {
            Self::Lost(why) | Self::Refused(why) => why,
        }
    }
}

/// A tool, as its server describes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolDescriptor {
    /// What the server calls it.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// The schema of its arguments.
    pub input_schema: Map<String, Value>,
}

/// A prompt, as its server describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptDescriptor {
    /// What the server calls it.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What it can be given.
    pub arguments: Vec<PromptArgument>,
}

/// What a prompt can be given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// Whether it has to be given.
    pub required: bool,
}

/// A resource, as its server describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceDescriptor {
    /// Its address on the server.
    pub uri: String,
    /// Its media type.
    pub mime_type: Option<String>,
}

/// What came of a tool call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolAnswer {
    /// The parts of the answer.
    pub content: Vec<Part>,
    /// The same as data, where the tool gives any.
    pub structured: Option<Value>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text(String),
    /// Something a model is not shown: what it is, of which media type, and how long.
    Other {
        /// `image`, `audio` or `resource`.
        kind: &'static str,
        /// Its media type.
        mime_type: String,
        /// How many bytes it has as it was sent.
        bytes: usize,
    },
    /// The address of a resource.
    Link(String),
}

/// A message of a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PromptMessage {
    /// Who says it; `unknown` if the server does not say.
    pub role: String,
    /// The text; empty for anything else.
    pub text: String,
}

/// A part of a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceContent {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The media type.
    pub mime_type: String,
}
