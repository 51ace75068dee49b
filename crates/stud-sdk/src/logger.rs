//! Loggers: where records go.
//!
//! ```
//! use std::sync::{Mutex, PoisonError};
//!
//! use stud_sdk::logger::Record;
//! use stud_sdk::prelude::*;
//!
//! /// Keeps the names of the last few records.
//! #[logger(accepts(events, diagnostics), min_severity = "warn")]
//! #[derive(Default)]
//! struct Tail(Mutex<Vec<String>>);
//!
//! impl Logger for Tail {
//!     async fn sink(&self, record: Record, _cx: &Cx) -> Result<()> {
//!         let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
//!         names.push(record.name);
//!         let surplus = names.len().saturating_sub(100);
//!         names.drain(..surplus);
//!         Ok(())
//!     }
//! }
//! ```

pub use stud_contract_logger::{Logger, Record, RecordKind, Severity};
/// Makes a struct that implements [`Logger`] a logger.
///
/// Besides [what every attribute takes](crate#arguments-every-attribute-takes):
///
/// | Argument | Meaning | When left out |
/// |---|---|---|
/// | `accepts(events, audit, diagnostics)` | what it is given, one of them at least | does not compile |
/// | `min_severity = "warn"` | nothing that matters less | `info` |
///
/// ```
/// use stud_sdk::logger::Record;
/// use stud_sdk::prelude::*;
///
/// /// Drops everything.
/// #[logger(accepts(audit))]
/// struct Void;
///
/// impl Logger for Void {
///     async fn sink(&self, _record: Record, _cx: &Cx) -> Result<()> {
///         Ok(())
///     }
/// }
/// ```
pub use stud_sdk_macros::logger;

pub use crate::{Cx, CxExt, Error, ErrorExt, Result};
