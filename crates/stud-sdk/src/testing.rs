//! A host made for tests, and a harness that runs a plugin in it.
//!
//! [`Harness`] goes through the plugin's real entry, table and JSON, in the test's own process: what works here works
//! behind the boundary. [`FakeHost`] offers all thirteen services, answers questions as scripted and writes down what
//! the plugin did.
//!
//! Enable the feature `testing` among the dev-dependencies:
//!
//! ```toml
//! [dev-dependencies]
//! stud-sdk = { version = "0.1", features = ["testing"] }
//! ```
//!
//! ```
//! use stud_sdk::prelude::*;
//! use stud_sdk::testing::{FakeHost, Harness};
//!
//! #[derive(Args)]
//! struct Input {
//!     /// Whom to greet.
//!     name: String,
//! }
//!
//! /// Greets someone.
//! #[tool]
//! fn greet(input: Input) -> String {
//!     format!("Hello {}", input.name)
//! }
//!
//! # fn main() -> Result<()> {
//! let output = Harness::new(stud_plugin(), FakeHost::new()).tool("greet", json!({"name": "Ada"}))?;
//! assert_eq!(output, Output::text("Hello Ada"));
//! # Ok(())
//! # }
//! ```

mod clock;
mod script;
mod record;
mod services;
mod fake_host;
mod bound;
mod harness;
mod conformance;

pub use crate::block_on::block_on;
pub use conformance::{Conforming, assert_conforms};
pub use fake_host::FakeHost;
pub use harness::{Acted, ActingStage, Harness, Walked};
