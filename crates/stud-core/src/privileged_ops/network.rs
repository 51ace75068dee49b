//! Which hosts tools may reach, from now on.

use serde_json::{Map, Value, json};
use stud_contract_meta::Result;

use super::Site;
use crate::network_policy::{Rule, invalid};
use crate::provenance::told;
use crate::settings;

/// A list of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Allow,
    Deny,
}

impl List {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// The policy as it is now, of all scopes together.
pub(super) fn show(site: &Site) -> Value {
    site.session.rules().network.now().shown()
}

/// Puts a host on a list in the person's own settings. It counts from now on, for every tool that asks.
///
/// Allowing a denied host removes the denial, since a denial would win.
pub(super) async fn add(site: &Site, list: List, host: &str) -> Result<Value> {
    let entry = Value::from(host);
    Rule::read(&entry).map_err(|flaw| told(&invalid(&flaw).with("host", host)))?;
    let payload = json!({"action": list.as_str(), "host": host});
    let act = async { change(site, list, &entry) };
    site.on_record("NetworkPolicyChange", payload, act).await?;
    Ok(json!({"added": true, "host": host}))
}

fn change(site: &Site, list: List, entry: &Value) -> Result<()> {
    let changed = settings::change(&site.ground.places.global_root, |document| {
        let network = member(document, "network", Map::new().into());
        if let Some(network) = network.as_object_mut() {
            let entries = member(network, list.as_str(), Vec::<Value>::new().into());
            if let Some(entries) = entries.as_array_mut()
                && !entries.contains(entry)
            {
                entries.push(entry.clone());
            }
            let denied = network.get_mut("deny").and_then(Value::as_array_mut);
            if let (List::Allow, Some(denied)) = (list, denied) {
                denied.retain(|denied| denied != entry);
            }
        }
        Ok(())
    });
    changed.map_err(|why| told(&why))?;
    apply(site)
}

fn member<'a>(object: &'a mut Map<String, Value>, name: &str, otherwise: Value) -> &'a mut Value {
    object.entry(name).or_insert(otherwise)
}

fn apply(site: &Site) -> Result<()> {
    let ground = site.ground.with_settings_of_now();
    let ground = ground.map_err(|why| told(&why))?;
    site.session.rules().network.change(&ground.settings);
    Ok(())
}
