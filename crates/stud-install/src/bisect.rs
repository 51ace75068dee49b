//! The smallest set of plugins with which a command fails, found by halves.

use std::collections::{BTreeMap, BTreeSet};

/// Plugins to choose from, and what each of them needs.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    /// Every id, with the ids it depends on.
    pub needs: BTreeMap<String, Vec<String>>,
}

/// What a search found.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// The command passes with every plugin.
    NeverFails,
    /// The command fails without any of the plugins.
    FailsWithoutAny,
    /// The command fails with these, and passes without any one of them.
    Cause(Vec<String>),
}

/// Searches for the plugins that make `fails` true. It is given the ids that take part.
///
/// One cause is found in about two runs for each halving. A cause of several plugins together takes more runs.
pub fn find<E>(
    candidates: &Candidates,
    mut fails: impl FnMut(&BTreeSet<String>) -> Result<bool, E>,
) -> Result<Found, E> {
    let all: Vec<String> = candidates.needs.keys().cloned().collect();
    if !fails(&candidates.with_needs(&all))? {
        return Ok(Found::NeverFails);
    }
    if fails(&BTreeSet::new())? {
        return Ok(Found::FailsWithoutAny);
    }
    let mut suspects = all;
    let mut pieces = 2;
    while suspects.len() > 1 {
        let parts = split(&suspects, pieces);
        let without = |part: &[String]| -> Vec<String> {
            suspects
                .iter()
                .filter(|id| !part.contains(id))
                .cloned()
                .collect()
        };
        let rests: Vec<Vec<String>> = match pieces {
            // With two pieces the rest of one is the other.
            2 => Vec::new(),
            _ => parts.iter().map(|part| without(part)).collect(),
        };
        let mut smaller = None;
        for (index, attempt) in parts.iter().chain(&rests).enumerate() {
            if attempt.len() < suspects.len() && fails(&candidates.with_needs(attempt))? {
                smaller = Some((attempt.clone(), index < parts.len()));
                break;
            }
        }
        match smaller {
            Some((part, is_piece)) => {
                pieces = if is_piece { 2 } else { (pieces - 1).max(2) };
                suspects = part;
            }
            None if pieces >= suspects.len() => break,
            None => pieces = (pieces * 2).min(suspects.len()),
        }
    }
    Ok(Found::Cause(suspects))
}

impl Candidates {
    /// The ids together with everything they depend on.
    fn with_needs(&self, ids: &[String]) -> BTreeSet<String> {
        let mut closed = BTreeSet::new();
        let mut open: Vec<&String> = ids.iter().collect();
        while let Some(id) = open.pop() {
            if closed.insert(id.clone()) {
                open.extend(self.needs.get(id).into_iter().flatten());
            }
        }
        closed.retain(|id| self.needs.contains_key(id));
        closed
    }
}

fn split(ids: &[String], pieces: usize) -> Vec<Vec<String>> {
    let size = ids.len().div_ceil(pieces.max(1)).max(1);
    ids.chunks(size).map(<[String]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn candidates(count: usize) -> Candidates {
        let needs = (0..count).map(|number| (format!("p{number:02}"), Vec::new()));
        Candidates {
            needs: needs.collect(),
        }
    }

    fn search(candidates: &Candidates, cause: &[&str]) -> (Found, usize) {
        let mut runs = 0;
        let found = find(candidates, |ids| {
            runs += 1;
            Ok::<_, Infallible>(cause.iter().all(|id| ids.contains(*id)))
        });
        let Ok(found) = found;
        (found, runs)
    }

    #[test]
    fn one_cause_is_found_in_logarithmic_time() {
        let candidates = candidates(64);
        for cause in ["p00", "p31", "p63"] {
            let (found, runs) = search(&candidates, &[cause]);
            assert_eq!(found, Found::Cause(vec![cause.to_owned()]));
            assert!(runs <= 2 + 2 * 6, "{runs} runs for 64 plugins");
        }
    }

    #[test]
    fn plugins_that_fail_only_together_are_found() {
        for cause in [["p00", "p01"], ["p00", "p06"], ["p03", "p04"]] {
            let (found, _) = search(&candidates(7), &cause);
            assert_eq!(found, Found::Cause(cause.map(str::to_owned).to_vec()));
        }
    }

    #[test]
    fn a_command_that_passes_or_always_fails_has_no_cause() {
        let never = find(&candidates(3), |_| Ok::<_, Infallible>(false));
        assert_eq!(never, Ok(Found::NeverFails));
        assert_eq!(search(&candidates(3), &[]).0, Found::FailsWithoutAny);
    }

    #[test]
    fn a_plugin_takes_part_with_what_it_needs() {
        let mut candidates = candidates(4);
        candidates
            .needs
            .insert("p03".to_owned(), vec!["p00".to_owned()]);
        let found = find(&candidates, |ids| {
            assert!(!ids.contains("p03") || ids.contains("p00"), "{ids:?}");
            Ok::<_, Infallible>(ids.contains("p03"))
        });
        assert_eq!(found, Ok(Found::Cause(vec!["p03".to_owned()])));
    }
}
