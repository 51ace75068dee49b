//! The UI table.

category! {
    /// Shows events, answers prompts, draws regions.
    Ui = "UI" in "ui";
    UiTable, UiTableRef, UiTablePrefix, UiExport {
        /// Hears one event of the stream.
        EventCall on_event = "onEvent";
        /// Answers a prompt: subject is its kind, payload the request.
        AsyncCall on_interaction = "onInteraction";
        /// Draws a region: subject is the contribution, payload what there is to draw with.
        AskCall render_region = "renderRegion";
    }
}
