//! Parameters of the provider, for this session.

use serde_json::Value;
use stud_contract_meta::Result;
use stud_host_api::commands::ParamChange;

use super::{Site, not_ready};

/// Tells what the parameters are, and where each comes from.
pub(super) fn show(_site: &Site) -> Result<Value> {
    Err(not_ready())
}

/// Sets parameters, all or none.
#[expect(
    clippy::unused_async,
    reason = "a change goes on record before it counts"
)]
pub(super) async fn set(_site: &Site, _set: Vec<ParamChange>) -> Result<Value> {
    Err(not_ready())
}
