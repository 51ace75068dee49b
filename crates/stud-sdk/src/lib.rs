//! Write a stud plugin in safe Rust.
//!
//! A plugin is a library crate with one attribute in it:
//!
//! ```
//! use stud_sdk::prelude::*;
//!
//! /// What the model sends.
//! #[derive(Args)]
//! struct Input {
//!     /// The file to count.
//!     path: String,
//! }
//!
//! /// Counts the lines of a file.
//! #[tool(id = "line-count")]
//! fn line_count(input: Input) -> Result<Output, Error> {
//!     let text = std::fs::read_to_string(&input.path).map_err(Error::not_found)?;
//!     Ok(Output::text(format!("{} lines", text.lines().count())))
//! }
//! ```
//!
//! ```toml
//! [lib]
//! crate-type = ["cdylib"]
//!
//! [dependencies]
//! stud-sdk = "0.1"
//!
//! [dev-dependencies]
//! stud-sdk = { version = "0.1", features = ["testing"] }
//! ```
//!
//! The attribute writes everything else: the manifest with its schemas, in a section of the library that can be read
//! without running any code, and the table through which stud calls the plugin. Doc comments are the descriptions that
//! people and models read, so a missing one does not compile.
//!
//! | Category | Attribute | What is written by hand |
//! |---|---|---|
//! | [`tool`] | [`#[tool]`](macro@tool::tool), [`tools!`](tool::tools) | a function, or `impl Tool` |
//! | [`command`] | [`#[command]`](macro@command::command), [`commands!`](command::commands) | a function, or `impl Command` |
//! | [`hook`] | [`#[hook]`](macro@hook::hook) | one of `Guard`, `Transform`, `Observer` |
//! | [`ui`] | [`#[ui]`](macro@ui::ui) | any of `Subscriber`, `Interactor`, `Region` |
//! | [`provider`] | [`#[provider]`](macro@provider::provider) | `impl Provider` |
//! | [`logger`] | [`#[logger]`](macro@logger::logger) | `impl Logger` |
//! | [`state_machine`] | [`#[state_machine]`](macro@state_machine::state_machine) | `impl StateMachine` |
//! | [`session_store`] | [`#[session_store]`](macro@session_store::session_store) | `impl SessionStore` |
//! | [`context_provider`] | [`#[context_provider]`](macro@context_provider::context_provider) | `impl ContextProvider` |
//!
//! # Arguments every attribute takes
//!
//! | Argument | Meaning | When left out |
//! |---|---|---|
//! | `id = "line-count"` | the extension's id | the name of the function or struct in kebab-case |
//! | `title = "Line count"` | its name for people | the id |
//! | `version = "1.0.0"` | its version | that of the crate |
//! | `required_core = ">=0.1.0 <1.0.0"` | the cores it accepts | this range |
//! | `config = Type` | its configuration, with [`#[derive(Config)]`](derive@Config) | none of its own |
//! | `init = path` | `fn(Host, Config) -> Self`; without `config` just `fn(Host)` | a unit struct as it stands, any other by `Default` |
//! | `activate = path`, `deactivate = path`, `dispose = path` | `fn(&Self)` | nothing happens |
//! | `state_slot(version = "1.0.0", schema = Type, drift = "reject")` | what it keeps with the session; `drift` may be `warn` or `migrate` | no slot |
//! | `interactions("Ask", …)` | the questions it may raise | none |
//! | `events(Type, Other = "Name")` | the events it may publish, by the name of their type or another | none |
//! | `provides("x")` | what it offers to others | nothing |
//! | `depends_on(Tool("x"), Provider(capability = "y"))` | what must be there before it | nothing |
//! | `conflicts_with(…)` | what must not be there with it | nothing |
//! | `reload = "…"` | when a changed build takes its place, where the category leaves a choice | as its category does |
//!
//! Lifecycle functions may be async, and may return a `Result`. They belong to structs: a function has no state to set
//! up.
//!
//! ```
//! use std::path::PathBuf;
//! use std::sync::{Mutex, PoisonError};
//!
//! use stud_sdk::logger::Record;
//! use stud_sdk::prelude::*;
//!
//! /// Writes the names of records to a file once it is told to stop.
//! #[logger(accepts(events), init = LateWriter::new, deactivate = LateWriter::write)]
//! struct LateWriter {
//!     file: PathBuf,
//!     names: Mutex<Vec<String>>,
//! }
//!
//! impl LateWriter {
//!     fn new(host: Host) -> Result<Self> {
//!         let file = host.workspace().global_root()?.join("names.txt");
//!         Ok(Self { file, names: Mutex::default() })
//!     }
//!
//!     fn write(&self) -> Result<()> {
//!         let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
//!         std::fs::write(&self.file, names.join("\n")).map_err(Error::failed)
//!     }
//! }
//!
//! impl Logger for LateWriter {
//!     async fn sink(&self, record: Record, _cx: &Cx) -> Result<()> {
//!         let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
//!         names.push(record.name);
//!         Ok(())
//!     }
//! }
//! ```
//!
//! # Features
//!
//! - `tokio`: a runtime of the plugin's own, started when it is first needed. Sockets, timers and `tokio::spawn` then
//!   work in every handler. Without it a plugin is smaller, and its futures may wait for the host and for each other.
//! - `tracing`: what the plugin says with the macros of [`tracing`] reaches the host's loggers.
//! - `testing`: the module of that name, for the plugin's own tests.
//!
//! # What a plugin is not
//!
//! A plugin runs in stud's own process. Nothing here confines it, and a plugin should be trusted like any program.
//! A panic does not cross: it becomes `ExtensionHost/CallPanicked`, and the next call is served as usual.
#![forbid(unsafe_code)]

pub mod schema; // Types that know their own JSON Schema.
mod private; // What the macros generate code against.
mod error; // Errors an author returns.
mod ext; // Short ways to host services.
mod block_on; // An executor for one future on one thread.
pub mod time; // Waiting without a runtime.
pub mod host; // The thirteen host services.
pub mod interaction; // Asking a person, and answering for one.
pub mod tool_prompt; // Prompts that tools raise in the middle of their work.
pub mod tool; // Tools.
pub mod command; // Commands.
pub mod hook; // Hooks.
pub mod ui; // UIs.
pub mod provider; // Providers.
pub mod logger; // Loggers.
pub mod state_machine; // State machines.
pub mod session_store; // Session stores.
pub mod context_provider; // Context providers.
pub mod prelude; // What most plugins import.
#[cfg(feature = "testing")]
pub mod testing; // A fake host and a test harness.
mod conformance; // The test that an author gets for one line.

pub use block_on::block_on;
pub use error::ErrorExt;
pub use ext::{CxExt, HostExt};
pub use schema::{Config, Schema};
pub use serde_json::{Value, json};
pub use stud_abi::CancellationToken;
/// What a plugin attribute makes: the manifest and the way in, for a program that links the plugin and for tests.
///
/// ```
/// use stud_sdk::prelude::*;
///
/// /// Does nothing.
/// #[tool]
/// fn linked() -> String {
///     String::new()
/// }
///
/// let plugin: stud_sdk::Plugin = stud_plugin();
/// assert!(plugin.section.starts_with(b"STUD"));
/// ```
pub use stud_abi::EmbeddedPlugin as Plugin;
pub use stud_contract_meta::{Error, Phase};
pub use stud_diagnostics::Class;
/// Text of others made safe to show on a terminal: on one line, on several, and exactly, for a decision.
pub use stud_diagnostics::{printable, printable_exact, printable_text};
pub use stud_host_api::{Cx, Host};
/// Makes a struct the configuration of a plugin.
///
/// Each field becomes a member of the config, in camelCase, with its doc comment as the description and the same
/// `#[stud(…)]` arguments as in [`Args`](derive@crate::tool::Args). A member that is not described is refused.
/// What every plugin of a category accepts (`enabled` and the like) is added to the schema and kept from the struct,
/// unless the struct describes it itself.
///
/// ```
/// use stud_sdk::prelude::*;
///
/// /// How to greet.
/// #[derive(Config)]
/// struct Options {
///     /// The word to greet with.
///     #[stud(default = "Hello")]
///     greeting: String,
///     /// How often.
///     #[stud(default = 1, min = 1, max = 10)]
///     how_often: usize,
/// }
///
/// /// Greets.
/// #[tool(config = Options)]
/// fn configured(cx: &Cx) -> Result<String> {
///     let options: Options = cx.config()?;
///     Ok(options.greeting.repeat(options.how_often))
/// }
/// ```
pub use stud_sdk_macros::Config;
/// Gives a type a JSON Schema, and reads and writes it as the schema says.
///
/// For structs with named fields and enums of plain variants: the parts of arguments and configs, events, state slots.
/// Names are camelCase on the wire; `#[stud(rename = "…")]` on a field or variant gives another.
/// Fields take the same `#[stud(…)]` arguments as in [`Args`](derive@crate::tool::Args).
///
/// ```
/// use stud_sdk::Schema;
///
/// /// A place in a file.
/// #[derive(Schema)]
/// struct Place {
///     /// Counted from one.
///     #[stud(min = 1)]
///     line: u32,
/// }
///
/// assert_eq!(serde_json::to_string(&Place { line: 3 }).unwrap(), r#"{"line":3}"#);
/// assert_eq!(stud_sdk::schema::value::<Place>()["properties"]["line"]["minimum"], 1);
/// ```
pub use stud_sdk_macros::Schema;
pub use tool_prompt::CxPrompt;
#[cfg(feature = "tracing")]
pub use tracing;

/// What handlers return; the error is stud's own unless another is named.
///
/// ```
/// use stud_sdk::{Error, Result};
///
/// fn short() -> Result<u8> {
///     Ok(1)
/// }
///
/// fn long() -> Result<u8, Error> {
///     short()
/// }
/// # assert_eq!(long(), Ok(1));
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[doc(hidden)]
pub mod __private {
    pub use crate::private::*;
}

/// The guide for authors and the README: every Rust block in them is a doctest.
#[cfg(doctest)]
mod author_guide {
    #[doc = include_str!("../../../README.md")]
    mod readme {}
    #[cfg(feature = "testing")]
    #[doc = include_str!("../../../docs/author/README.md")]
    mod first_plugin {}
    #[cfg(feature = "testing")]
    #[doc = include_str!("../../../docs/author/categories.md")]
    mod categories {}
    #[cfg(feature = "testing")]
    #[doc = include_str!("../../../docs/author/config-and-state.md")]
    mod config_and_state {}
    #[cfg(feature = "testing")]
    #[doc = include_str!("../../../docs/author/host.md")]
    mod host {}
    #[cfg(feature = "testing")]
    #[doc = include_str!("../../../docs/author/events.md")]
    mod events {}
    #[cfg(feature = "testing")]
    #[doc = include_str!("../../../docs/author/interactions.md")]
    mod interactions {}
    #[cfg(feature = "testing")]
    #[doc = include_str!("../../../docs/author/interactive-tools.md")]
    mod interactive_tools {}
    #[cfg(all(feature = "testing", feature = "tokio"))]
    #[doc = include_str!("../../../docs/author/async-and-panics.md")]
    mod async_and_panics {}
    #[cfg(all(feature = "testing", feature = "tracing"))]
    #[doc = include_str!("../../../docs/author/logging.md")]
    mod logging {}
    #[cfg(feature = "testing")]
    #[doc = include_str!("../../../docs/author/testing.md")]
    mod testing {}
    #[cfg(feature = "testing")]
    #[doc = include_str!("../../../docs/author/conformance.md")]
    mod conformance {}
    #[cfg(feature = "testing")]
    #[doc = include_str!("../../../docs/author/versions.md")]
    mod versions {}
    #[doc = include_str!("../../../docs/author/publishing.md")]
    mod publishing {}
}
