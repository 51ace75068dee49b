//! How many columns text takes.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// The grapheme clusters of a text.
pub(crate) fn clusters(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.graphemes(true)
}

/// How many columns one cluster takes: two for a wide one, none for a lone combining mark.
pub(crate) fn of_cluster(cluster: &str) -> usize {
    if cluster.len() == 1 {
        return usize::from(cluster.as_bytes()[0] >= b' ');
    }
    cluster.width().min(2)
}

/// How many columns a text takes.
pub(crate) fn of(text: &str) -> usize {
    if text.is_ascii() {
        return text.bytes().filter(|byte| *byte >= b' ').count();
    }
    clusters(text).map(of_cluster).sum()
}

/// Whether terminals disagree about the width of this cluster, so that the column after it has to be set.
pub(crate) fn is_disputed(cluster: &str) -> bool {
    let mut characters = cluster.chars();
    let first = characters.next();
    let is_flag = first.is_some_and(|c| matches!(c, '\u{1f1e6}'..='\u{1f1ff}'));
    let has_more = characters.clone().next().is_some();
    is_flag
        || (has_more
            && cluster.chars().any(|c| {
                matches!(c, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{900}'..='\u{dff}')
            }))
}

/// As much of the text as fits into so many columns, with `…` where something was left out.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if of(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for cluster in clusters(text) {
        let width = of_cluster(cluster);
        if used + width + 1 > columns {
            break;
        }
        kept.push_str(cluster);
        used += width;
    }
    if columns > 0 {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tui_22_widths_are_counted_by_cluster() {
        for (text, width) in [
            ("abc", 3),
            ("工具", 4),
            ("e\u{301}", 1),
            ("🦀", 2),
            ("👩\u{200d}👩\u{200d}👧", 2),
            ("🇩🇪", 2),
            ("§", 1),
        ] {
            assert_eq!(of(text), width, "{text}");
        }
        assert!(is_disputed("👩\u{200d}👩\u{200d}👧"));
        assert!(is_disputed("🇩🇪"));
        assert!(!is_disputed("工"));
    }

    #[test]
    fn no_wide_character_is_cut_in_half() {
        assert_eq!(cut("工具工具", 5), "工具…");
        assert_eq!(cut("工具工具", 4), "工…");
        assert_eq!(cut("ab", 2), "ab");
    }
}
