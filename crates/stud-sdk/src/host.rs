//! What a plugin may ask of stud: thirteen services, each with a module of its own.
//!
//! A handler reaches them through [`Cx::host`]; a struct may keep the [`Host`] that its `init` was given.
//!
//! ```
//! use stud_sdk::prelude::*;
//!
//! /// Says which editor is set.
//! #[tool(gated = false)]
//! fn which_editor(cx: &Cx) -> Result<String> {
//!     let editor = cx.host().env().get("EDITOR")?;
//!     Ok(editor.unwrap_or_else(|| "none".to_owned()))
//! }
//! ```

pub use stud_host_api::{
    BoxFuture, CallIds, ContextFragment, Cx, Host, HostApi, audit, cancellation, commands, config,
    context, env, events, interaction, metrics, prompt, refusal, resource, session, workspace,
};
