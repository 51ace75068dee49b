//! Errors an author returns.

use std::fmt::Display;

use stud_contract_meta::Error;
use stud_diagnostics::{Class, codes};

use crate::private::fault::coded;

/// Short ways to the errors that tools return most.
///
/// Any of them can be given to `map_err`. A failure with a name of its own is [`Error::new`] with a class and a code.
///
/// ```
/// use stud_sdk::prelude::*;
///
/// fn read(path: &str) -> Result<String, Error> {
///     std::fs::read_to_string(path).map_err(Error::not_found)
/// }
///
/// let error = read("/no/such/file").unwrap_err();
/// assert_eq!((error.class(), error.code()), ("ToolTerminal", "NotFound"));
/// ```
pub trait ErrorExt: Sized {
    /// `ToolTerminal/InputInvalid`: the arguments fit the schema and still make no sense.
    ///
    /// ```
    /// # use stud_sdk::prelude::*;
    /// assert_eq!(Error::invalid_input("`from` is after `to`").code(), "InputInvalid");
    /// ```
    fn invalid_input(why: impl Display) -> Self;

    /// `ToolTerminal/NotFound`: what was asked for is not there.
    ///
    /// ```
    /// # use stud_sdk::prelude::*;
    /// assert_eq!(Error::not_found("no such file").message(), "no such file");
    /// ```
    fn not_found(why: impl Display) -> Self;

    /// `ToolTerminal/ToolExecutionFailed`: it did not work, and trying again will not help.
    ///
    /// ```
    /// # use stud_sdk::prelude::*;
    /// assert_eq!(Error::failed("the disk is full").code(), "ToolExecutionFailed");
    /// ```
    fn failed(why: impl Display) -> Self;

    /// `ToolTransient/<code>`: it did not work, and may the next time.
    ///
    /// ```
    /// # use stud_sdk::prelude::*;
    /// let error = Error::transient("ResourceBusy", "the file is locked");
    /// assert_eq!((error.class(), error.code()), ("ToolTransient", "ResourceBusy"));
    /// ```
    fn transient(code: &str, why: impl Display) -> Self;

    /// `Cancellation/ToolCancelled`: the call was cancelled, and the plugin noticed first.
    ///
    /// ```
    /// # use stud_sdk::prelude::*;
    /// assert_eq!(Error::cancelled().class(), "Cancellation");
    /// ```
    fn cancelled() -> Self;
}

impl ErrorExt for Error {
    fn invalid_input(why: impl Display) -> Self {
        coded(&codes::INPUT_INVALID, why.to_string())
    }

    fn not_found(why: impl Display) -> Self {
        coded(&codes::NOT_FOUND, why.to_string())
    }

    fn failed(why: impl Display) -> Self {
        coded(&codes::TOOL_EXECUTION_FAILED, why.to_string())
    }

    fn transient(code: &str, why: impl Display) -> Self {
        Self::new(Class::ToolTransient, code, why.to_string())
    }

    fn cancelled() -> Self {
        coded(&codes::TOOL_CANCELLED, "the call was cancelled")
    }
}
