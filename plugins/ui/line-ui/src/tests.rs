//! The plugin as the host runs it, with pipes, pseudo-terminals and paper in place of the real devices.

pub(crate) mod rig;

mod answering;
mod ending;
mod hearing;
mod reading;
mod settling;
mod terminal;
