//! The state machine of the session.

use serde_json::{Value, json};
use stud_contract_meta::Result;

use super::Site;
use crate::workflow;

/// Attaches a state machine; its workflow begins with the next input.
pub(super) async fn attach(site: &Site, id: &str) -> Result<Value> {
    workflow::attach(&site.session, id, false).await?;
    Ok(status(site))
}

/// Detaches the state machine.
pub(super) async fn detach(site: &Site) -> Result<Value> {
    let detached = workflow::detach(&site.session).await?;
    Ok(json!({"detached": detached}))
}

/// How the session stands to its state machine.
pub(super) fn status(site: &Site) -> Value {
    json!(workflow::status(&site.session))
}
