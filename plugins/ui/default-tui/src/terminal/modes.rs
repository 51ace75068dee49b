//! The modes that the screen switches on, and what switches them off again.

/// Bracketed paste and reports of the focus.
pub(crate) const ENTER: &str = "\x1b[?2004h\x1b[?1004h";

/// The title is saved before it is changed for the first time.
pub(crate) const SAVE_TITLE: &str = "\x1b[22;2t";
pub(crate) const RESTORE_TITLE: &str = "\x1b[23;2t";

/// All questions, the one that every terminal answers last: the color behind the text, the keyboard protocol,
/// synchronized output, and what the terminal is.
pub(crate) const QUESTIONS: &str = "\x1b]11;?\x1b\\\x1b[?u\x1b[?2026$p\x1b[c";

/// The keyboard protocol, with keys told apart that were the same byte before.
pub(crate) const PUSH_KEYBOARD: &str = "\x1b[>1u";
pub(crate) const POP_KEYBOARD: &str = "\x1b[<u";

/// Paste and focus off, colors reset, cursor shown.
pub(crate) const LEAVE: &str = "\x1b[?2004l\x1b[?1004l\x1b[0m\x1b[?25h";

/// Around a frame, where the terminal knows it.
pub(crate) const BEGIN_FRAME: &str = "\x1b[?2026h";
pub(crate) const END_FRAME: &str = "\x1b[?2026l";

/// The view of the transcript, on a screen of its own.
pub(crate) const ENTER_PAGER: &str = "\x1b[?1049h";
pub(crate) const LEAVE_PAGER: &str = "\x1b[?1049l";

/// Asks for the size in band: far beyond the last cell, and where the cursor is then. The cursor comes back.
pub(crate) const ASK_SIZE: &str = "\x1b7\x1b[999;999H\x1b[6n\x1b8";
