//! Parameters of the provider, for this session.

use serde_json::{Value, json};
use stud_contract_meta::Result;
use stud_host_api::commands::ParamChange;

use super::Site;
use crate::model_switch::{ParamsOutcome, set_params};
use crate::params::{Problem, Setting};

/// Tells what the parameters are, and where each comes from.
#[expect(
    clippy::unnecessary_wraps,
    reason = "a deed may fail, and this one does not"
)]
pub(super) fn show(site: &Site) -> Result<Value> {
    Ok(json!({"params": site.session.params().bag().view()}))
}

/// Sets parameters, all or none.
#[expect(
    clippy::unused_async,
    reason = "every deed is waited for, and this one is done at once"
)]
pub(super) async fn set(site: &Site, set: Vec<ParamChange>) -> Result<Value> {
    let set = set.into_iter();
    let settings = set.map(|change| Setting::new(&change.path, change.value));
    let outcome = set_params(&site.session, settings.collect::<Result<_>>()?)?;
    let listed = |problems: &[Problem]| problems.iter().map(Problem::to_json).collect::<Vec<_>>();
    Ok(match outcome {
        ParamsOutcome::Changed(unheeded) => json!({
            "status": "changed",
            "params": site.session.params().bag().view(),
            "diagnostics": listed(&unheeded),
        }),
        ParamsOutcome::Rejected(problems) => json!({
            "status": "rejected",
            "reason": "ParamValidationFailed",
            "diagnostics": listed(&problems),
        }),
    })
}
