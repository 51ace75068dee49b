//! Commands: what a person can have done with a slash and a name.
//!
//! A command is a function. What is typed after its name arrives in a struct with
//! [`#[derive(Args)]`](derive@Args): words for the required fields first, `--name=value` for any.
//!
//! ```
//! use stud_sdk::prelude::*;
//!
//! #[derive(Args)]
//! struct Review {
//!     /// What to review.
//!     target: String,
//!     /// How deep to look.
//!     #[stud(default = 1)]
//!     depth: u32,
//! }
//!
//! /// Reviews something, as in `/review main --depth=2`.
//! #[command(argument_hint = "<target> [--depth=N]")]
//! fn review(input: Review) -> String {
//!     format!("reviewing {} to depth {}", input.target, input.depth)
//! }
//! ```

pub use stud_contract_command::{Command, Completion, Draft, RawArgs, Rendered};
pub use stud_sdk_macros::Args;
/// Makes a function, or a struct that implements [`Command`], a command.
///
/// A function takes its arguments, a `&Cx`, both or neither, and returns anything that becomes a [`Rendered`], or a
/// result of one. [`RawArgs`] takes whatever was typed.
///
/// Besides [what every attribute takes](crate#arguments-every-attribute-takes):
///
/// | Argument | Meaning | When left out |
/// |---|---|---|
/// | `name = "review"` | what to type after the slash | the name of the function or struct in kebab-case |
/// | `argument_hint = "…"` | what to type after the name, for display | nothing |
/// | `category = "…"` | the heading to list it under | none |
/// | `turn_safe` | it may run while a turn does | it may not |
/// | `complete = path` | `fn(&str, usize) -> Vec<Completion>`: suggestions for a draft and a cursor | none |
/// | `part` | it belongs to a [`commands!`](commands), and is no plugin by itself | |
///
/// ```
/// use stud_sdk::command::Completion;
/// use stud_sdk::prelude::*;
///
/// fn themes(_draft: &str, _cursor: usize) -> Vec<Completion> {
///     ["dark", "light"]
///         .map(|theme| Completion {
///             label: theme.to_owned(),
///             replacement: format!("/theme {theme}"),
///             ..Completion::default()
///         })
///         .into()
/// }
///
/// /// Changes the theme.
/// #[command(turn_safe, category = "looks", complete = themes)]
/// fn theme(input: RawArgs) -> Rendered {
///     Rendered::from(format!("the theme is now {}", input.raw)).with_payload(input.raw)
/// }
/// ```
///
/// With state:
///
/// ```
/// use std::sync::{Mutex, PoisonError};
///
/// use stud_sdk::prelude::*;
///
/// /// Remembers what was typed, and shows it.
/// #[command(name = "remember")]
/// #[derive(Default)]
/// struct RememberCommand(Mutex<Vec<String>>);
///
/// impl Command for RememberCommand {
///     type Args = RawArgs;
///
///     async fn run(&self, args: RawArgs, _cx: &Cx) -> Result<Rendered> {
///         let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
///         lines.push(args.raw);
///         Ok(Rendered::from(lines.join("\n")))
///     }
/// }
/// ```
pub use stud_sdk_macros::command;
/// Makes one plugin of several functions with `#[command(part)]`.
///
/// It takes `id`, `description`, `commands` and [what every attribute takes](crate#arguments-every-attribute-takes).
///
/// ```
/// use stud_sdk::prelude::*;
///
/// /// Shows the time.
/// #[command(part)]
/// fn time() -> &'static str {
///     "noon"
/// }
///
/// /// Shows the date.
/// #[command(part)]
/// fn date() -> &'static str {
///     "today"
/// }
///
/// commands! {
///     id = "clock-commands",
///     description = "Shows time and date.",
///     commands = [time, date],
/// }
/// ```
pub use stud_sdk_macros::commands;

pub use crate::schema::Args;
use crate::schema::{Json, Members, Piece, Schema};
pub use crate::{Cx, CxExt, Error, ErrorExt, Result};

impl Schema for RawArgs {
    const BODY: Json = &[
        Piece::Raw("\"type\":\"object\",\"properties\":{"),
        Piece::Nested(Self::PROPERTIES),
        Piece::Raw("},\"required\":["),
        Piece::Nested(Self::REQUIRED),
        Piece::Raw("],\"additionalProperties\":false"),
    ];
}

impl Members for RawArgs {
    const NAMES: &'static [&'static str] = &["raw", "positional", "flags"];
    const PROPERTIES: Json = &[
        Piece::Raw(r#""raw":{"description":"As typed.","type":"string"},"#),
        Piece::Raw(
            r#""positional":{"description":"The words that are no flags.","type":"array","items":{"type":"string"}},"#,
        ),
        Piece::Raw(r#""flags":{"description":"The flags: a text, or true.","type":"object"}"#),
    ];
    const REQUIRED: Json = &[Piece::Raw("\"raw\"")];
}

impl Args for RawArgs {}
