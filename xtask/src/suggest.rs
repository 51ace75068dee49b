//! "Did you mean": the nearest known name to one that is not known.

/// The nearest of `known` to `word`, if one is near enough to be meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3 + 1).min(3);
    known
        .into_iter()
        .map(|name| (distance(word, name), name))
        .filter(|(distance, name)| *distance <= limit || starts_either(word, name))
        .min()
        .map(|(_, name)| name)
}

/// `; did you mean …?` for the end of a message, or nothing.
pub(crate) fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// A shortened word is meant even though many letters are missing.
fn starts_either(word: &str, name: &str) -> bool {
    word.len() >= 2 && (name.starts_with(word) || word.starts_with(name))
}

/// How many letters must change to turn one word into the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (column, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    const TASKS: [&str; 4] = ["run", "test", "check", "fixtures"];

    #[test]
    fn a_typo_is_recognized() {
        assert_eq!(nearest("tset", TASKS), Some("test"));
        assert_eq!(nearest("chek", TASKS), Some("check"));
    }

    #[test]
    fn a_shortened_word_is_recognized() {
        assert_eq!(nearest("fix", TASKS), Some("fixtures"));
        assert_eq!(nearest("tests", TASKS), Some("test"));
    }

    #[test]
    fn an_unrelated_word_gets_no_suggestion() {
        assert_eq!(nearest("deployment", TASKS), None);
    }

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
