//! The `SessionStore` table.

category! {
    /// Keeps sessions.
    SessionStore = "SessionStore" in "session-store";
    SessionStoreTable, SessionStoreTableRef, SessionStoreTablePrefix, SessionStoreExport {
        /// Reads a stored session: subject is its id.
        AsyncCall read = "read";
        /// Replaces a stored session as a whole: payload is manifest and slots.
        AsyncCall write = "write";
        /// Lists the stored sessions.
        AsyncCall list = "list";
        /// Adds records to the journal of a session: subject is its id.
        AsyncCall append = "append";
        /// Reads a page of the journal: subject is the session, payload where to start and how much.
        AsyncCall read_journal = "readJournal";
        /// Removes a session: subject is its id.
        AsyncCall remove = "remove";
    }
}
