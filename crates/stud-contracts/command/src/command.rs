//! The trait a command implements.

use std::future::Future;

use serde::de::DeserializeOwned;
use stud_contract_meta::Result;
use stud_host_api::Cx;
use stud_host_api::commands::Completion;

use crate::payload::Rendered;

/// Does something for the person at the keyboard.
///
/// # Obligations
///
/// - **Act on this session.** A command sees its own session, its own state and what the host offers; no other
///   session, no state of a state machine or of another plugin.
/// - **Start no turn.** A command may change what the next turn finds. Tools it has called are gated as always.
/// - **Ask before it is too late.** What cannot be undone is worth a `Confirm`, several matches a `Select`; declare
///   both in the manifest.
/// - **Return text.** The UI that dispatched it shows the text; do not write to a terminal.
/// - **Stop when told**, like every call: watch `cx`.
///
/// An error of class `Validation` or `ExtensionHost` reaches the person as it is, any other as a failure of the command.
///
/// # Example
///
/// ```
/// use serde::Deserialize;
/// use stud_contract_command::{Command, Completion, Rendered};
/// use stud_contract_meta::Result;
/// use stud_host_api::Cx;
///
/// const THEMES: [&str; 2] = ["dark", "light"];
///
/// struct Theme;
///
/// #[derive(Deserialize)]
/// struct Args {
///     name: Option<String>,
/// }
///
/// impl Command for Theme {
///     type Args = Args;
///
///     async fn run(&self, args: Args, _cx: &Cx) -> Result<Rendered> {
///         Ok(match args.name {
///             Some(name) => format!("the theme is now {name}").into(),
///             None => THEMES.join("\n").into(),
///         })
///     }
///
///     fn complete(&self, draft: &str, cursor: usize) -> Vec<Completion> {
///         let Some(typed) = draft.get(..cursor) else { return vec![] };
///         let (before, word) = typed.rsplit_once(' ').unwrap_or((typed, ""));
///         let matching = THEMES.into_iter().filter(|theme| theme.starts_with(word));
///         matching
///             .map(|theme| Completion {
///                 label: theme.to_owned(),
///                 replacement: format!("{before} {theme}"),
///                 ..Completion::default()
///             })
///             .collect()
///     }
/// }
///
/// let found = Theme.complete("/theme li", 9);
/// assert_eq!(found[0].replacement, "/theme light");
/// ```
pub trait Command: Send + Sync + 'static {
    /// The arguments in their type; `argsSchema` describes the same thing in JSON.
    ///
    /// [`RawArgs`](crate::RawArgs) takes whatever was typed.
    type Args: DeserializeOwned + Send;

    /// Runs the command.
    fn run(&self, args: Self::Args, cx: &Cx) -> impl Future<Output = Result<Rendered>> + Send;

    /// What the draft could become, best first; nothing by default.
    ///
    /// `draft` is the line so far, slash included, and `cursor` a byte offset into it.
    /// A replacement takes the place of everything before the cursor.
    /// This is called while someone types: answer at once, change nothing, and offer no secrets.
    fn complete(&self, draft: &str, cursor: usize) -> Vec<Completion> {
        let _ = (draft, cursor);
        Vec::new()
    }
}
