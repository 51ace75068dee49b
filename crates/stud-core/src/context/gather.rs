//! Asking context providers.

use std::sync::Arc;
use std::time::Duration;

use stud_contract_meta::{Error, Kind, Result};
use stud_diagnostics::{Diagnostic, codes};
use stud_host_api::ContextFragment;
use stud_host_api::context::FragmentKind;
use stud_host_api::events::ContextProviderFailed;

use super::budget;
use super::fragment::{self, Fragment};
use super::{refuse, unless_cancelled};
use crate::activate::Active;
use crate::executor;
use crate::ledger::closed;
use crate::session::Turn;
use crate::timeout::with_timeout;

/// Those that are asked: every active one that came back from the last time.
pub(super) fn providers(turn: &Turn) -> Vec<Arc<Active>> {
    let desk = turn.session().desk();
    let plugins = turn.plugins();
    let all = plugins.of_kind(Kind::ContextProvider).into_iter();
    all.filter(|plugin| {
        let identity = plugin.identity();
        let is_absent = desk.is_absent(identity.ext_id.as_str(), identity.generation);
        identity.life.word() == "active" && !is_absent
    })
    .cloned()
    .collect()
}

/// Asks one after the other. What they add is screened, and in order.
pub(super) async fn fragments(turn: &Turn, providers: &[Arc<Active>]) -> Result<Vec<Fragment>> {
    let mut all = Vec::new();
    for provider in providers {
        match fragments_of(turn, provider).await {
            Ok(fragments) => all.extend(fragments),
            Err(error) => tolerate(turn, provider, error)?,
        }
    }
    fragment::sort(&mut all);
    for conflict in fragment::settle_slots(&mut all) {
        turn.publish(&conflict);
    }
    Ok(all)
}

async fn fragments_of(turn: &Turn, provider: &Arc<Active>) -> Result<Vec<Fragment>> {
    let owner = provider.identity().ext_id.as_str();
    let desk = turn.session().desk();
    desk.open_for(owner);
    let returned = ask(turn, provider).await;
    let mut added = desk.close_for(owner);
    for fragment in returned.map_err(|error| error.with("ownerExtId", owner))? {
        // One that was handed in and is returned as well was meant once.
        if !added.contains(&fragment) {
            added.push(fragment);
        }
    }
    let mut fragments = Vec::with_capacity(added.len());
    for added in added {
        let mut fragment = Fragment::of(owner, added);
        if fragment.kind == FragmentKind::ResourceBinding {
            resolve(turn, &mut fragment).await?;
        }
        fragment.screen()?;
        fragments.push(fragment);
    }
    Ok(fragments)
}

/// Asks on a thread that can be left behind, because a plugin's code may block or never come back.
///
/// One that times out is cancelled, and is not asked again before it has returned.
async fn ask(turn: &Turn, provider: &Arc<Active>) -> Result<Vec<ContextFragment>> {
    let session = turn.session();
    let scope = turn.inner_scope();
    let voice = turn.voice();
    let cx = voice.call(scope.token(), None);
    let (asked, asking) = (provider.clone(), session.clone());
    let answer = executor::spawn_future(voice.session().within(None, async move {
        let answer = asked.provide(cx).await;
        let identity = asked.identity();
        let desk = asking.desk();
        desk.mark_returned(identity.ext_id.as_str(), identity.generation);
        answer
    }));
    let answer = async { answer.await.unwrap_or_else(|| Err(closed())) };
    let limit = session.limits().provide;
    let answer = with_timeout(&**session.timer(), limit, answer);
    let answer = async { Ok(answer.await) };
    let answer = unless_cancelled(session, &turn.cancelled(), answer).await?;
    answer.unwrap_or_else(|| {
        let identity = provider.identity();
        let desk = session.desk();
        desk.left(identity.ext_id.as_str(), identity.generation);
        scope.cancel();
        Err(late(limit))
    })
}

fn late(limit: Duration) -> Error {
    let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let message = format!("it gave nothing within {limit} ms");
    refuse(&codes::EXECUTION_TIMEOUT, message)
        .with("call", "provide")
        .with("timeoutMs", limit)
}

/// Puts the content of a resource in the place of its id. It is as long as its binding allows at most.
async fn resolve(turn: &Turn, fragment: &mut Fragment) -> Result<()> {
    let session = turn.session();
    let registry = session.resource_registry();
    let id = fragment.content.clone();
    let read = registry.read(&fragment.owner, &id);
    let resource = unless_cancelled(session, &turn.cancelled(), read).await?;
    fragment.content = String::from_utf8_lossy(&resource.bytes).into_owned();
    if let Some(cap) = registry.token_cap(&id) {
        budget::cut(&mut fragment.content, cap);
    }
    Ok(())
}

/// Tells that a provider failed. One that hangs is passed over, and so is one that the operator can do without; what is
/// wrong with a fragment, and a cancelled turn, are never ignored.
fn tolerate(turn: &Turn, provider: &Arc<Active>, error: Error) -> Result<()> {
    let is_forbidden = error.code() == codes::CONTEXT_CONTAINS_FORBIDDEN_SOURCE.name;
    if is_forbidden || error.class() == "Cancellation" {
        return Err(error);
    }
    let session = turn.session();
    let identity = provider.identity();
    let owner = identity.ext_id.as_str();
    let graceful = session.desk().terms.graceful.contains(owner);
    turn.publish(&ContextProviderFailed {
        code: error.code().to_owned(),
        graceful,
        owner_ext_id: owner.to_owned(),
    });
    if error.class() == "Validation" {
        return Err(error);
    }
    if graceful || session.desk().is_absent(owner, identity.generation) {
        let message = format!(
            "`{owner}` added nothing to the request: {}",
            error.message()
        );
        let problem = Diagnostic::warning(&codes::CONTEXT_PROVIDER_FAILED, message);
        session.report(&problem.of(owner));
        return Ok(());
    }
    let message = format!("the context provider `{owner}` failed: {}", error.message());
    Err(refuse(&codes::CONTEXT_PROVIDER_FAILED, message)
        .with("ownerExtId", owner)
        .with("cause", format!("{}/{}", error.class(), error.code())))
}
