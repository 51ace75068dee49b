//! The Command table.

category! {
    /// Does something for the person at the keyboard.
    Command = "Command" in "command";
    CommandTable, CommandTableRef, CommandTablePrefix, CommandExport {
        /// Runs a command: subject is its name, payload its parsed arguments.
        AsyncCall run = "run";
        /// Suggests completions, without side effects: subject is the name, payload the draft.
        AskCall complete = "complete";
    }
}
