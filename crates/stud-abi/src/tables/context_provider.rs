//! The `ContextProvider` table.

category! {
    /// Adds to what the model is told.
    ContextProvider = "ContextProvider" in "context-provider";
    ContextProviderTable, ContextProviderTableRef, ContextProviderTablePrefix, ContextProviderExport {
        /// Gives the fragments for the request being composed.
        AsyncCall provide = "provide";
    }
}
