//! Which provider serves a settings entry that is not a plugin: the one that speaks its protocol.

use stud_contract_meta::{ExtId, Kind};

use crate::bind::Bound;
use crate::validate::Members;

/// The API that a provider speaks; its id if it declares none.
pub fn protocol<'a>(ext_id: &'a ExtId, members: &'a Members) -> &'a str {
    match members {
        Members::Provider(members) => &members.protocol,
        _ => ext_id.as_str(),
    }
}

/// Whether an entry that asks for `wanted` can be an instance of this provider.
pub fn speaks(ext_id: &ExtId, members: &Members, wanted: &str) -> bool {
    ext_id.as_str() == wanted || protocol(ext_id, members) == wanted
}

/// The provider with the id `wanted`, or else the first that speaks it.
pub fn speaker<'a>(
    plugins: impl Iterator<Item = &'a Bound> + Clone,
    wanted: &str,
) -> Option<&'a Bound> {
    let providers = plugins.filter(|bound| bound.plugin().manifest().kind == Kind::Provider);
    let has_id = |bound: &&Bound| bound.plugin().manifest().ext_id.as_str() == wanted;
    let speaks_it = |bound: &&Bound| {
        let plugin = bound.plugin();
        speaks(&plugin.manifest().ext_id, plugin.members(), wanted)
    };
    let mut of_id = providers.clone().filter(has_id);
    of_id.next().or_else(|| providers.clone().find(speaks_it))
}

/// Why an entry cannot have an id: a plugin of another category has it.
pub fn taken(id: &str, holder: Kind) -> String {
    format!("`{id}` is the id of a {holder}, so no entry can have it")
}
