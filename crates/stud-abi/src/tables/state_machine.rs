//! The `StateMachine` table.

category! {
    /// Drives a session through stages.
    StateMachine = "StateMachine" in "state-machine";
    StateMachineTable, StateMachineTableRef, StateMachineTablePrefix, StateMachineExport {
        /// Runs one phase the author owns: subject is the phase, payload stage and context.
        AsyncCall phase = "phase";
    }
}
