//! Another provider, another model.

use serde_json::Value;
use stud_contract_meta::Result;

use super::{Site, not_ready};

/// Lets another provider or another model answer from the next turn on.
#[expect(
    clippy::unused_async,
    reason = "a switch brings a provider up, which takes its time"
)]
pub(super) async fn switch(
    _site: &Site,
    _provider: Option<String>,
    _model: Option<String>,
) -> Result<Value> {
    Err(not_ready())
}
