//! The Tool table.

category! {
    /// Does something for the model.
    Tool = "Tool" in "tool";
    ToolTable, ToolTableRef, ToolTablePrefix, ToolExport {
        /// Runs a tool: subject is its name, payload its arguments.
        AsyncCall execute = "execute";
        /// Derives the approval key of a call: subject is the tool, payload its arguments.
        AskCall approval_key = "deriveApprovalKey";
    }
}
