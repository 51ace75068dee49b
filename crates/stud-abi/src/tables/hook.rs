//! The Hook table.

category! {
    /// Guards, transforms or observes a stage.
    Hook = "Hook" in "hook";
    HookTable, HookTableRef, HookTablePrefix, HookExport {
        /// Runs the hook: subject is the slot, payload what passes through it.
        AsyncCall handle = "handler";
    }
}
