//! Cutting what is longer than it said it would be.

use std::collections::BTreeMap;

use stud_host_api::events::FragmentTruncated;

use super::fragment::Fragment;

/// Cuts fragments to their owners' budgets.
///
/// An owner's allowance is the budget of its first fragment, and all of its fragments share it; one for which nothing is
/// left stays, emptied. A character counts as a token here, which is more than it takes up: so a budget holds whatever
/// tokenizer the model has, and keeping it needs none.
pub(super) fn enforce(
    mut fragments: Vec<Fragment>,
    mut told: impl FnMut(FragmentTruncated),
) -> Vec<Fragment> {
    let mut left: BTreeMap<String, u64> = BTreeMap::new();
    for fragment in &mut fragments {
        let left = left
            .entry(fragment.owner.clone())
            .or_insert(fragment.budget);
        let before = fragment.content.chars().count() as u64;
        let after = before.min(*left);
        *left -= after;
        if after == before {
            continue;
        }
        cut(&mut fragment.content, after);
        told(FragmentTruncated {
            owner_ext_id: fragment.owner.clone(),
            before_tokens: before,
            after_tokens: after,
        });
    }
    fragments
}

/// Cuts a text to so many characters.
pub(super) fn cut(text: &mut String, chars: u64) {
    let chars = usize::try_from(chars).unwrap_or(usize::MAX);
    if let Some((end, _)) = text.char_indices().nth(chars) {
        text.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stud_host_api::context::FragmentKind;

    fn fragment(owner: &str, content: &str, budget: u64) -> Fragment {
        Fragment {
            owner: owner.to_owned(),
            kind: FragmentKind::SystemMessage,
            content: content.to_owned(),
            budget,
            priority: 0,
            exclusive_slot: None,
        }
    }

    #[test]
    fn the_first_budget_is_the_allowance_of_all() {
        let fragments = vec![
            fragment("a", "12345", 8),
            fragment("b", "12345", 5),
            fragment("a", "éèüöß", 100),
            fragment("a", "12345", 100),
        ];
        let mut cuts = Vec::new();
        let cut = enforce(fragments, |cut| cuts.push(cut));
        let contents: Vec<&str> = cut.iter().map(|fragment| &*fragment.content).collect();
        assert_eq!(contents, ["12345", "12345", "éèü", ""]);
        let told = |before, after| FragmentTruncated {
            owner_ext_id: "a".to_owned(),
            before_tokens: before,
            after_tokens: after,
        };
        assert_eq!(cuts, [told(5, 3), told(5, 0)]);
    }

    #[test]
    fn no_budget_is_no_content() {
        let cut = enforce(vec![fragment("a", "1", 0), fragment("b", "", 0)], |_| {});
        assert!(cut.iter().all(|fragment| fragment.content.is_empty()));
    }
}
