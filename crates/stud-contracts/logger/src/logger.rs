//! The trait a logger implements.

use std::future::Future;

use stud_contract_meta::Result;
use stud_host_api::Cx;

use crate::record::Record;

/// Keeps records.
///
/// Every active logger gets every record that its `accepts` asks for.
///
/// # Obligations
///
/// - **Bear company.** Calls overlap, and records may come out of order; sort by `timestamp` if it matters.
/// - **Write what you were given.** Redaction may take things out of an event's payload, never out of an audit record.
/// - **Stay out of it.** A logger makes no correlation ids and no spans, and is not the audit trail: core keeps that
///   whether or not a logger is there.
/// - **Drain on `deactivate`.** What was accepted before is written before the phase returns.
///
/// An error is recorded as suppressed, and the next record comes all the same; an error about such a record is
/// dropped, since it would never end.
///
/// # Example
///
/// ```
/// use std::sync::Mutex;
///
/// use stud_contract_logger::{Logger, Record};
/// use stud_contract_meta::Result;
/// use stud_host_api::Cx;
///
/// /// Keeps the last few lines, for a panel to show.
/// #[derive(Default)]
/// struct Tail(Mutex<Vec<String>>);
///
/// impl Logger for Tail {
///     async fn sink(&self, record: Record, _cx: &Cx) -> Result<()> {
///         let mut lines = self.0.lock().unwrap();
///         lines.push(format!("{} {} {}", record.timestamp, record.severity, record.name));
///         let surplus = lines.len().saturating_sub(100);
///         lines.drain(..surplus);
///         Ok(())
///     }
/// }
/// ```
pub trait Logger: Send + Sync + 'static {
    /// Takes one record.
    fn sink(&self, record: Record, cx: &Cx) -> impl Future<Output = Result<()>> + Send;
}
