//! Names on the wire, made from names in the source.

/// `line_count` or `LineCount` as `line-count`.
pub(crate) fn kebab(name: &str) -> String {
    words(name).join("-")
}

/// `max_lines` or `MaxLines` as `maxLines`.
pub(crate) fn camel(name: &str) -> String {
    let mut camel = String::new();
    for (index, word) in words(name).into_iter().enumerate() {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if index > 0 => camel.extend(first.to_uppercase()),
            Some(first) => camel.push(first),
            None => {}
        }
        camel.push_str(letters.as_str());
    }
    camel
}

/// Whether `id` may name an extension.
pub(crate) fn is_ext_id(id: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=64).contains(&id.len())
        && id.bytes().all(|byte| allowed(byte) || byte == b'-')
        && id.bytes().next().is_some_and(allowed)
}

/// A name without the `r#` that keeps a keyword apart.
pub(crate) fn plain(ident: &syn::Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").unwrap_or(&name).to_owned()
}

fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut after_lower = false;
    let mut fresh = true;
    for letter in name.chars() {
        if letter == '_' || letter == '-' {
            fresh = true;
            continue;
        }
        if fresh || (letter.is_uppercase() && after_lower) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
        after_lower = !letter.is_uppercase();
        fresh = false;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_cases_from_both_sources() {
        for name in ["line_count", "LineCount", "line-count", "_line__count"] {
            assert_eq!(
                (kebab(name), camel(name)),
                ("line-count".to_owned(), "lineCount".to_owned())
            );
        }
        assert_eq!(camel("targetUI"), "targetUi");
        assert_eq!(kebab("x1"), "x1");
    }

    #[test]
    fn ids_are_short_kebab_case() {
        assert!(is_ext_id("line-count") && is_ext_id("0") && is_ext_id(&"x".repeat(64)));
        for wrong in ["", "-a", "Line", "a_b", "é", &"x".repeat(65)] {
            assert!(!is_ext_id(wrong), "{wrong}");
        }
    }
}
