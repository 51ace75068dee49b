//! A failure as it crosses: four strings, so that a newer side may send codes an older one has never heard of.

use abi_stable::StableAbi;
use abi_stable::std_types::RString;

/// A failed call, in plain Rust types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// One of the eight error classes.
    pub class: String,
    /// What happened, as a name.
    pub code: String,
    /// What happened, for a person.
    pub message: String,
    /// The facts of this failure as a JSON object, or nothing.
    pub context: String,
}

impl Fault {
    /// A fault without context.
    pub fn new(class: &str, code: &str, message: impl Into<String>) -> Self {
        Self {
            class: class.to_owned(),
            code: code.to_owned(),
            message: message.into(),
            context: String::new(),
        }
    }
}

/// [`Fault`] with a fixed layout.
#[repr(C)]
#[derive(Debug, StableAbi)]
pub(crate) struct RFault {
    class: RString,
    code: RString,
    message: RString,
    context: RString,
}

impl From<Fault> for RFault {
    fn from(fault: Fault) -> Self {
        Self {
            class: fault.class.into(),
            code: fault.code.into(),
            message: fault.message.into(),
            context: fault.context.into(),
        }
    }
}

impl From<RFault> for Fault {
    fn from(fault: RFault) -> Self {
        Self {
            class: fault.class.into(),
            code: fault.code.into(),
            message: fault.message.into(),
            context: fault.context.into(),
        }
    }
}
