//! What most plugins name: `use stud_sdk::prelude::*;`.
//!
//! The attributes, the derives, the traits behind them, and the types in their signatures. What belongs to one category
//! alone stays in its module.
//!
//! ```
//! use stud_sdk::prelude::*;
//!
//! /// Says hello.
//! #[tool(gated = false)]
//! fn hello() -> Output {
//!     Output::text("hello")
//! }
//! ```

pub use crate::command::{Command, RawArgs, Rendered, command, commands};
pub use crate::context_provider::{ContextProvider, context_provider};
pub use crate::hook::{Guard, Observer, Transform, Verdict, hook};
pub use crate::logger::{Logger, logger};
pub use crate::provider::{Provider, provider};
pub use crate::session_store::{SessionStore, session_store};
pub use crate::state_machine::{StateMachine, state_machine};
pub use crate::tool::{Args, Output, Tool, tool, tools};
pub use crate::ui::{Interactor, Region, Subscriber, ui};
pub use crate::{
    Class, Config, Cx, CxExt, CxPrompt, Error, ErrorExt, Host, HostExt, Result, Schema, Value, json,
};
