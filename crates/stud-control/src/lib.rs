//! The control socket: other processes of the same person type text into a session, or interrupt it.
//!
//! ```text
//! bytes ─► server ─► envelope ─► message ─► receiver ─► session
//!            │        framing     fields     rights, duplicates, liveness, referenced files
//!            ◄──────── reply ◄──── ack ◄────────┘
//! ```
//!
//! A request is accepted at most once, however often it is sent and whatever process dies in between: the record that
//! accepts it is the input itself. Modules stand in the order in which they are used, and each uses only those before it.
#![forbid(unsafe_code)]

mod roster; // Who may send what.
mod policy; // The settings, as a receiver holds to them.
mod timestamp; // Times as the protocol writes them.
mod envelope; // The frame of every line: version, id, command, payload.
mod message; // A control message, in either of its two forms.
mod ack; // The answer to a control message.
mod content_ref; // Text that is sent as a reference to a file.
mod attach; // Screens of other processes.
mod sessions; // The sessions a receiver can reach.
mod trail; // What is put on record of each request.
mod receiver; // From one line to its reply.
mod run_dir; // Where sockets are, and who owns them.
mod server; // The socket and its connections.
mod sender; // The other side: sending with retries.
mod screen; // The other side of an attached screen.

pub use ack::{Ack, ResultCode};
pub use attach::ScreenHost;
pub use envelope::{ENVELOPE_VERSION, EnvelopeError};
pub use message::SCHEMA_VERSION;
pub use policy::Policy;
pub use receiver::Receiver;
pub use run_dir::{RunDir, SocketName};
pub use screen::{AttachedScreen, ScreenEnd};
pub use sender::{Delivery, LiveSession, Outgoing, Sender, SenderError, Text};
pub use server::ControlServer;
pub use sessions::{Found, MAIN_AGENT, OneSession, Sessions};
