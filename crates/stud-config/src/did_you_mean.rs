//! The known word a mistyped one was probably meant to be.

/// The known word nearest to `word`, if any is near enough to suggest.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| {
            (
                strsim::jaro_winkler(&lower, &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(score, _)| *score > 0.8)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, candidate)| candidate)
}

/// The known word that `word` is but for a slip of the finger: one letter missing, wrong, too many or in the wrong order,
/// or two in a long word.
pub fn slip<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// From here on a word is long.
    const LONG: usize = 8;
    let near = known.into_iter().filter_map(|candidate| {
        let slips = strsim::osa_distance(word, candidate);
        let most = if candidate.len() < LONG { 1 } else { 2 };
        (1..=most).contains(&slips).then_some((slips, candidate))
    });
    near.min().map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_small() {
        let known = ["audit", "completions", "doctor", "explain", "sessions"];
        for (word, meant) in [
            ("docotr", Some("doctor")),
            ("session", Some("sessions")),
            ("sesions", Some("sessions")),
            ("completon", Some("completions")),
            ("doctor", None),
            ("dctr", None),
            ("explained", None),
            ("auditor", None),
        ] {
            assert_eq!(slip(word, known), meant, "{word}");
        }
    }
}
