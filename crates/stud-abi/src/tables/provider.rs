//! The Provider table.

category! {
    /// Talks to a model.
    Provider = "Provider" in "provider";
    ProviderTable, ProviderTableRef, ProviderTablePrefix, ProviderExport {
        /// Sends one request to the model: payload is the request.
        StreamCall request = "request";
    }
}
