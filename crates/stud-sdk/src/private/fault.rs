//! Failures on their way to the host.

use stud_abi::Fault;
use stud_contract_meta::Error;
use stud_diagnostics::Code;

/// What a function of a table returns.
pub(crate) type Reply<T> = Result<T, Fault>;

/// An error with a registered code.
pub(crate) fn coded(code: &Code, message: impl Into<String>) -> Error {
    Error::new(code.class, code.name, message)
}
