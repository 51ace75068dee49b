//! State machines.

use std::collections::BTreeSet;

use crate::case::{Context, Running, Verdict};
use crate::subject::Call;

fn ids(context: &Context) -> Vec<&str> {
    let stages = context.list("stages").iter();
    stages
        .map(|stage| stage["id"].as_str().unwrap_or_default())
        .collect()
}

pub(super) fn stages(context: &Context) -> Verdict {
    let ids = ids(context);
    let distinct: BTreeSet<&str> = ids.iter().copied().collect();
    if distinct.len() != ids.len() || ids.is_empty() {
        return Verdict::fail("stage ids are missing or repeated");
    }
    let entry = context.manifest["entryStage"].as_str().unwrap_or_default();
    if !distinct.contains(entry) {
        return Verdict::fail(format!("the entry stage `{entry}` is not declared"));
    }
    Verdict::of(
        !context.manifest["stateSlot"].is_null(),
        "`stateSlot` is null: a machine has to keep how far it is",
    )
}

pub(super) fn next(context: &Context) -> Verdict {
    let ids = ids(context);
    for id in &ids {
        let subject = context.instance();
        let result = Running::start(&subject, Call::Next((*id).to_owned())).result();
        subject.cancel();
        let next = match result {
            None => return Verdict::fail(format!("`next` of the stage `{id}` did not return")),
            // It may need a context that only a session has.
            Some(Err(_)) => continue,
            Some(Ok(next)) => next,
        };
        let stages = next["nextStages"].as_array().into_iter().flatten();
        let named = stages.chain(next.get("join"));
        let mut named = named.filter_map(|stage| stage.as_str());
        if let Some(foreign) = named.find(|stage| !ids.contains(stage)) {
            return Verdict::fail(format!(
                "`{id}` is followed by `{foreign}`, which is not declared"
            ));
        }
    }
    Verdict::Pass
}
