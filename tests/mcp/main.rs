//! The MCP client against real servers: both eras of the protocol, both transports, and servers that break the rules.
#![forbid(unsafe_code)]
#![cfg(test)]

mod bench;
mod client;
mod hostile;
mod reference;
