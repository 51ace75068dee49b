//! The control socket: what is sent to it, and what comes of it. Tests are named after the requirements they hold.
#![forbid(unsafe_code)]
#![cfg(test)]

mod bench;
mod framing;
mod validation;
mod limits;
mod references;
mod rights;
mod duplicates;
mod interrupting;
mod delivery;
mod records;
mod hostile;
mod sending;
mod killing;
