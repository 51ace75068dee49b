//! The trait a tool implements.

use std::future::Future;

use serde::de::DeserializeOwned;
use stud_contract_meta::Result;
use stud_host_api::Cx;

use crate::output::Output;

/// Does something for the model.
///
/// Core finds the tool by its name, holds the arguments to the input schema, asks for approval where it must, and only
/// then calls [`execute`](Tool::execute).
///
/// # Obligations
///
/// - **Stop when told.** Look at `cx.is_cancelled()` between steps, or wait on `cx.cancellation().cancelled()` beside
///   the work. A call that continues is abandoned, and the plugin is reported as hanging.
/// - **Fail in types.** Return an [`Error`](stud_contract_meta::Error) of class `ToolTerminal` when a second try would
///   fail too, and of class `ToolTransient` when it may not. The model reads class, code and message.
/// - **Bear company.** Calls of one proposal run at the same time, on the same `&self`.
/// - **Keep secrets out.** What is returned goes to the model, the transcript and the log.
///
/// # Example
///
/// ```
/// use serde::Deserialize;
/// use stud_contract_meta::{Error, Result};
/// use stud_contract_tool::{Output, Tool};
/// use stud_diagnostics::Class;
/// use stud_host_api::Cx;
///
/// struct LineCount;
///
/// #[derive(Deserialize)]
/// struct Args {
///     path: String,
/// }
///
/// impl Tool for LineCount {
///     type Args = Args;
///
///     async fn execute(&self, args: Args, _cx: &Cx) -> Result<Output> {
///         let text = std::fs::read_to_string(&args.path).map_err(|error| {
///             Error::new(Class::ToolTerminal, "ToolExecutionFailed", error.to_string()).with("path", args.path)
///         })?;
///         Ok(Output::text(format!("{} lines", text.lines().count())))
///     }
///
///     fn approval_key(&self, args: &Args) -> Result<String> {
///         Ok(args.path.clone())
///     }
/// }
///
/// let args = Args { path: "src/lib.rs".into() };
/// assert_eq!(LineCount.approval_key(&args)?, "src/lib.rs");
/// # Ok::<(), Error>(())
/// ```
pub trait Tool: Send + Sync + 'static {
    /// The arguments in their type; the input schema describes the same thing in JSON.
    type Args: DeserializeOwned + Send;

    /// Does the work.
    ///
    /// Runs after approval and never for arguments outside the schema.
    /// Dropping the future is the second way of calling it off, so work that must end tidily belongs behind a guard
    /// that cleans up when dropped.
    fn execute(&self, args: Self::Args, cx: &Cx) -> impl Future<Output = Result<Output>> + Send;

    /// What an approval of this call should also cover.
    ///
    /// An approval is remembered for the pair of tool name and key: calls with the same key do not ask again, nor do
    /// those whose key it [covers](crate::covers), and allowlist patterns are matched against the key.
    /// So the key says what is touched (a path, a host, the first word of a command line) and leaves out what does not
    /// matter to the person who decides.
    ///
    /// It is a pure function of the arguments: the same ones give the same key, today and after a restart, without
    /// clock, chance, network or secrets.
    /// A person reads it, in the prompt and in the list of approvals.
    /// For a call that cannot be described, return an error: the call is then refused.
    fn approval_key(&self, args: &Self::Args) -> Result<String>;
}
