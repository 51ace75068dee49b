//! order: [`Layered`] → [`Ordered`]. Dependencies first; cycles, conflicts and gaps are refused before anything is opened.

use std::collections::{BTreeMap, BTreeSet};

use stud_contract_meta::{ExtId, Kind, Reference};
use stud_diagnostics::{Diagnostic, Stage, codes};

use crate::layer::Layered;
use crate::provenance::Refused;
use crate::validate::Validated;

/// The plugin to use for an id, with those it shadows as fallbacks.
#[derive(Debug)]
pub struct Candidate {
    chosen: Validated,
    shadowed: Vec<Validated>,
}

/// What may be loaded, in order, and what may not.
#[derive(Debug, Default)]
pub struct Ordered {
    pub(crate) plan: Vec<Candidate>,
    /// Switched off by their config.
    pub(crate) disabled: Vec<Candidate>,
    pub(crate) refused: Vec<Refused>,
}

/// Puts dependencies before their dependents.
pub fn order(layered: Layered) -> Ordered {
    let (layered, refused) = layered.into_parts();
    let mut ordered = Ordered {
        refused,
        ..Ordered::default()
    };
    let mut chains = BTreeMap::new();
    for (id, chain) in layered {
        let candidate = Candidate::new(chain);
        match candidate {
            Some(candidate) if candidate.chosen.is_enabled() => {
                chains.insert(id, candidate);
            }
            Some(candidate) => ordered.disabled.push(candidate),
            None => {}
        }
    }
    loop {
        let problems = problems_of(&chains);
        if problems.is_empty() {
            break;
        }
        for (id, why) in problems {
            let Some(candidate) = chains.remove(&id) else {
                continue;
            };
            let Candidate { chosen, shadowed } = candidate;
            // The shadowed one may depend on other things, so it gets its own chance in the next round.
            let fallback =
                Candidate::new(shadowed).filter(|candidate| candidate.chosen.is_enabled());
            ordered.refused.push(chosen.refuse(why));
            if let Some(fallback) = fallback {
                chains.insert(id, fallback);
            }
        }
    }
    ordered.plan = sorted(chains);
    for candidate in &mut ordered.plan {
        candidate.chosen.pass(Stage::Order);
    }
    ordered
}

impl Candidate {
    /// The plugin to use.
    pub(crate) fn chosen(&self) -> &Validated {
        &self.chosen
    }

    /// The plugin to use, and those it shadows, best first.
    pub(crate) fn into_parts(self) -> (Validated, Vec<Validated>) {
        (self.chosen, self.shadowed)
    }

    pub(crate) fn is_store(&self) -> bool {
        self.chosen.manifest().kind == Kind::SessionStore
    }

    fn new(mut chain: Vec<Validated>) -> Option<Self> {
        if chain.is_empty() {
            return None;
        }
        let chosen = chain.remove(0);
        Some(Self {
            chosen,
            shadowed: chain,
        })
    }
}

type Chains = BTreeMap<ExtId, Candidate>;

/// What is wrong, in the order it is decided: cycles, then conflicts, then gaps.
fn problems_of(chains: &Chains) -> Vec<(ExtId, Diagnostic)> {
    let cycles = cycles(chains);
    if !cycles.is_empty() {
        return cycles;
    }
    let conflicts = conflicts(chains);
    if !conflicts.is_empty() {
        return conflicts;
    }
    gaps(chains)
}

/// The ids a reference points at.
fn targets<'a>(
    chains: &'a Chains,
    from: &'a ExtId,
    reference: &'a Reference,
) -> impl Iterator<Item = &'a ExtId> {
    chains.iter().filter_map(move |(id, candidate)| {
        let manifest = candidate.chosen.manifest();
        let capable = matches!(reference, Reference::Capable { .. });
        // A capability reference does not match the plugin itself; a reference by name does.
        let other = !capable || id != from;
        (other && reference.matches(id, manifest.kind, &manifest.provides)).then_some(id)
    })
}

fn needs<'a>(chains: &'a Chains, id: &'a ExtId) -> BTreeSet<&'a ExtId> {
    chains[id]
        .chosen
        .manifest()
        .depends_on
        .iter()
        .flat_map(|reference| targets(chains, id, reference))
        .collect()
}

fn cycles(chains: &Chains) -> Vec<(ExtId, Diagnostic)> {
    let needs: BTreeMap<&ExtId, BTreeSet<&ExtId>> =
        chains.keys().map(|id| (id, needs(chains, id))).collect();
    let mut problems = Vec::new();
    for id in chains.keys() {
        let Some(path) = path_back(&needs, id) else {
            continue;
        };
        let names: Vec<String> = path.iter().map(ToString::to_string).collect();
        let why = chains[id]
            .chosen
            .provenance()
            .error(
                Stage::Order,
                &codes::DEPENDENCY_CYCLE,
                format!("depends on itself: {}", names.join(" → ")),
            )
            .field("/dependsOn")
            .with("cycle", names)
            .help("authors: drop one of these dependencies");
        problems.push((id.clone(), why));
    }
    problems
}

/// The shortest way from `start` back to itself, with `start` at both ends.
fn path_back<'a>(
    needs: &BTreeMap<&'a ExtId, BTreeSet<&'a ExtId>>,
    start: &'a ExtId,
) -> Option<Vec<&'a ExtId>> {
    let mut came_from: BTreeMap<&ExtId, &ExtId> = BTreeMap::new();
    let mut frontier = vec![start];
    while !frontier.is_empty() {
        let mut next = Vec::new();
        for id in frontier {
            for needed in needs.get(id).into_iter().flatten() {
                if *needed == start {
                    let mut path = vec![start];
                    let mut at = id;
                    while at != start {
                        path.push(at);
                        at = came_from[at];
                    }
                    path.push(start);
                    path.reverse();
                    return Some(path);
                }
                if !came_from.contains_key(needed) {
                    came_from.insert(needed, id);
                    next.push(*needed);
                }
            }
        }
        frontier = next;
    }
    None
}

fn conflicts(chains: &Chains) -> Vec<(ExtId, Diagnostic)> {
    let mut pairs: BTreeMap<&ExtId, BTreeSet<&ExtId>> = BTreeMap::new();
    for (id, candidate) in chains {
        for reference in &candidate.chosen.manifest().conflicts_with {
            for other in targets(chains, id, reference).filter(|other| *other != id) {
                pairs.entry(id).or_default().insert(other);
                pairs.entry(other).or_default().insert(id);
            }
        }
    }
    pairs
        .into_iter()
        .map(|(id, others)| {
            let names: Vec<String> = others.iter().map(|other| format!("`{other}`")).collect();
            let chosen = &chains[id].chosen;
            let why = chosen
                .provenance()
                .error(
                    Stage::Order,
                    &codes::DEPENDENCY_CONFLICT,
                    format!("cannot be loaded together with {}", names.join(", ")),
                )
                .with(
                    "conflictsWith",
                    others.iter().map(ToString::to_string).collect::<Vec<_>>(),
                )
                .help("operator: disable one side");
            // The other side may have said so, and then there is no place in this manifest to point at.
            let said_here = !chosen.manifest().conflicts_with.is_empty();
            let why = if said_here {
                why.field("/conflictsWith")
            } else {
                why.note("the other side says so")
            };
            (id.clone(), why)
        })
        .collect()
}

fn gaps(chains: &Chains) -> Vec<(ExtId, Diagnostic)> {
    chains
        .iter()
        .filter_map(|(id, candidate)| {
            let (index, reference) = candidate
                .chosen
                .manifest()
                .depends_on
                .iter()
                .enumerate()
                .find(|(_, reference)| targets(chains, id, reference).next().is_none())?;
            Some((id.clone(), missing(&candidate.chosen, index, reference)))
        })
        .collect()
}

/// A dependency that is not there.
pub(crate) fn missing(plugin: &Validated, index: usize, reference: &Reference) -> Diagnostic {
    let diagnostic = plugin
        .provenance()
        .error(
            Stage::Order,
            &codes::DEPENDENCY_MISSING,
            match reference {
                Reference::Named { .. } => format!("needs the {reference}, which is not available"),
                Reference::Capable { .. } => format!("needs {reference}, and there is none"),
            },
        )
        .field(format!("/dependsOn/{index}"))
        .with("dependentId", plugin.manifest().ext_id.as_str())
        .help("operator: install it, or look why it was refused");
    match reference {
        Reference::Named { name, .. } => diagnostic.with("missingId", name.as_str()),
        Reference::Capable { kind, capability } => diagnostic
            .with("missingCategory", kind.as_str())
            .with("missingCapability", capability.as_str()),
    }
}

/// Dependencies first; among those that could be next, the first in byte order of its id.
fn sorted(mut chains: Chains) -> Vec<Candidate> {
    let mut waiting: BTreeMap<ExtId, BTreeSet<ExtId>> = chains
        .keys()
        .map(|id| {
            (
                id.clone(),
                needs(&chains, id).into_iter().cloned().collect(),
            )
        })
        .collect();
    let mut plan = Vec::with_capacity(chains.len());
    while let Some(next) = next(&waiting, &chains) {
        waiting.remove(&next);
        for needed in waiting.values_mut() {
            needed.remove(&next);
        }
        plan.extend(chains.remove(&next));
    }
    plan
}

/// The next plugins without unmet dependencies, by id. UIs come last, when there is something to show and a session to
/// answer what is typed.
fn next(waiting: &BTreeMap<ExtId, BTreeSet<ExtId>>, chains: &Chains) -> Option<ExtId> {
    let ready = || {
        let ready = waiting.iter().filter(|(_, needed)| needed.is_empty());
        ready.map(|(id, _)| id)
    };
    let is_screen = |id: &ExtId| {
        let candidate = chains.get(id);
        candidate.is_some_and(|candidate| candidate.chosen.manifest().kind == Kind::Ui)
    };
    let next = ready().find(|id| !is_screen(id)).or_else(|| ready().next());
    next.cloned()
}
