//! Tools: what the model can have done.
//!
//! A tool is a function. Its arguments are a struct with [`#[derive(Args)]`](derive@Args), and it returns anything that
//! becomes an [`Output`], or a result of one.
//!
//! ```
//! use stud_sdk::prelude::*;
//!
//! #[derive(Args)]
//! struct Host {
//!     /// The name to look up.
//!     name: String,
//! }
//!
//! /// Looks up an address.
//! #[tool]
//! async fn look_up(input: Host, cx: &Cx) -> Result<Output> {
//!     if cx.is_cancelled() {
//!         return Err(Error::cancelled());
//!     }
//!     Ok(Output::text(format!("no address for {}", input.name)))
//! }
//! ```
//!
//! A function that is not async runs where the host polls it. For long work write an async one and look at the
//! [`Cx`]'s cancellation between steps.

pub use stud_contract_tool::{Output, Tool};
/// Makes a struct the arguments of a tool or a command.
///
/// Each field becomes a member of a closed JSON object, in camelCase, with its doc comment as the description.
/// `Option<T>` may be left out, and so may a field with a default.
///
/// | `#[stud(…)]` | Meaning |
/// |---|---|
/// | `rename = "…"` | another name on the wire |
/// | `default`, `default = expr` | what stands in for a field that is not sent |
/// | `min`, `max` | bounds of a number |
/// | `min_length`, `max_length`, `pattern` | bounds of a text |
/// | `min_items`, `max_items` | bounds of a list |
/// | `values("a", "b")` | the only texts there are |
///
/// Types: texts, paths, numbers, truth values, `Option`, `Vec`, `Box`, maps with text keys, [`Value`](crate::Value) for
/// any JSON, and whatever derives [`Schema`](derive@crate::Schema).
///
/// ```
/// use stud_sdk::Schema;
/// use stud_sdk::tool::Args;
///
/// /// How to order.
/// #[derive(Schema)]
/// enum Order {
///     Newest,
///     LargestFirst,
/// }
///
/// #[derive(Args)]
/// struct Search {
///     /// What to look for.
///     #[stud(min_length = 1)]
///     pattern: String,
///     /// How to order what was found.
///     order: Option<Order>,
///     /// The most to return.
///     #[stud(default = 100, min = 1, max = 1000)]
///     limit: u32,
/// }
///
/// let schema = stud_sdk::schema::value::<Search>();
/// assert_eq!(schema["required"], serde_json::json!(["pattern"]));
/// assert_eq!(schema["properties"]["order"]["enum"][1], "largestFirst");
/// ```
pub use stud_sdk_macros::Args;
/// Makes a function, or a struct that implements [`Tool`], a tool.
///
/// Besides [what every attribute takes](crate#arguments-every-attribute-takes):
///
/// | Argument | Meaning | When left out |
/// |---|---|---|
/// | `name = "line_count"` | what the model calls it by | the name of the function, or of the struct in snake case |
/// | `gated = false` | whether a call needs approval | `true` |
/// | `approval_key = path` | `fn(&Input) -> String`: what an approval of this call should also cover | the name and all arguments |
/// | `covers = "path"` | how far an approval of a key reaches: `path` if keys are directories that cover those below them, `pathSet` if they are several of these with `\|` between them | `exact`: the same key and no other |
/// | `output = Type` | its value's schema, for the model | none |
/// | `executor = "remote"` | where the work is done | `local` |
/// | `part` | it belongs to a [`tools!`](tools), and is no plugin by itself | |
///
/// ```
/// use stud_sdk::prelude::*;
///
/// #[derive(Args)]
/// struct Delete {
///     /// The file to delete.
///     path: String,
/// }
///
/// fn folder(input: &Delete) -> String {
///     input.path.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned()
/// }
///
/// /// Deletes a file.
/// #[tool(name = "delete", approval_key = folder, covers = "path")]
/// fn delete_file(input: Delete) -> Result<&'static str> {
///     std::fs::remove_file(input.path).map_err(Error::failed)?;
///     Ok("deleted")
/// }
/// ```
///
/// With state:
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use stud_sdk::prelude::*;
/// use stud_sdk::schema::Nothing;
///
/// /// Counts its calls.
/// #[tool(gated = false)]
/// #[derive(Default)]
/// struct CallCount(AtomicU32);
///
/// impl Tool for CallCount {
///     type Args = Nothing;
///
///     async fn execute(&self, _args: Nothing, _cx: &Cx) -> Result<Output> {
///         Output::json(self.0.fetch_add(1, Ordering::Relaxed) + 1)
///     }
///
///     fn approval_key(&self, _args: &Nothing) -> Result<String> {
///         Ok("count".to_owned())
///     }
/// }
/// ```
pub use stud_sdk_macros::tool;
/// Makes one plugin of several functions with `#[tool(part)]`.
///
/// It takes `id`, `description`, `tools` and [what every attribute takes](crate#arguments-every-attribute-takes).
///
/// ```
/// use stud_sdk::prelude::*;
///
/// /// Says yes.
/// #[tool(part)]
/// fn yes() -> &'static str {
///     "yes"
/// }
///
/// /// Says no.
/// #[tool(part)]
/// fn no() -> &'static str {
///     "no"
/// }
///
/// tools! {
///     id = "yes-and-no",
///     description = "Says yes and no.",
///     tools = [yes, no],
/// }
/// ```
pub use stud_sdk_macros::tools;

pub use crate::schema::Args;
pub use crate::{Cx, CxExt, Error, ErrorExt, Result};
