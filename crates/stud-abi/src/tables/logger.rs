//! The Logger table.

category! {
    /// Keeps records.
    Logger = "Logger" in "logger";
    LoggerTable, LoggerTableRef, LoggerTablePrefix, LoggerExport {
        /// Takes one record: subject is its kind.
        AsyncCall sink = "sink";
    }
}
