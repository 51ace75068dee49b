//! The names in the source of a new plugin, made from its id.

use stud_contract_meta::ExtId;

/// What the crate and the items in it are called.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Names {
    /// The package, in kebab-case.
    pub(super) package: String,
    /// A function, in snake case.
    pub(super) function: String,
    /// A type, in camel case.
    pub(super) ty: String,
}

/// Every word that is or may become a keyword.
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "union", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Crates that are always there.
const TAKEN: [&str; 6] = ["std", "core", "alloc", "test", "proc_macro", "stud_sdk"];

/// The longest name a tool may have.
const LONGEST_TOOL: usize = 64;

impl Names {
    /// Names for the plugin `id` whose source is `template`.
    ///
    /// A name that Rust, cargo or the template has another use for is put behind `plugin`.
    pub(super) fn of(id: &ExtId, template: &str) -> Self {
        let words: Vec<&str> = id
            .as_str()
            .split('-')
            .filter(|word| !word.is_empty())
            .collect();
        let names = Self::from_words(&words);
        if names.are_free(template) {
            return names;
        }
        let longer: Vec<&str> = ["plugin"].into_iter().chain(words).collect();
        Self::from_words(&longer)
    }

    fn from_words(words: &[&str]) -> Self {
        let mut function = words.join("_");
        function.truncate(LONGEST_TOOL);
        Self {
            package: words.join("-"),
            function,
            ty: words.iter().map(|word| capitalized(word)).collect(),
        }
    }

    fn are_free(&self, template: &str) -> bool {
        let starts_well = self
            .function
            .starts_with(|first: char| first.is_ascii_alphabetic());
        let function = self.function.as_str();
        let is_word = KEYWORDS.contains(&function) || TAKEN.contains(&function);
        let mut used = identifiers(template);
        starts_well && !is_word && !used.any(|used| used == function || used == self.ty)
    }
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// What a template itself gives names to or refers to; its comments and placeholders do neither.
fn identifiers(template: &str) -> impl Iterator<Item = &str> {
    template
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| {
            line.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '{' | '}'))
        })
        .filter(|word| !word.contains("{{"))
        .map(|word| word.trim_matches(['{', '}']))
}

/// The id that was probably meant.
pub(super) fn nearest_id(text: &str) -> Option<ExtId> {
    let mut id = String::new();
    for letter in text.chars() {
        match letter {
            'A'..='Z' if id.ends_with(|c: char| c.is_ascii_lowercase()) => {
                id.push('-');
                id.push(letter.to_ascii_lowercase());
            }
            'a'..='z' | 'A'..='Z' | '0'..='9' => id.push(letter.to_ascii_lowercase()),
            _ if id.is_empty() || id.ends_with('-') => {}
            _ => id.push('-'),
        }
    }
    ExtId::parse(id.trim_end_matches('-')).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str = "//! about words\nuse std::Result;\nstruct {{Type}};\nfn {{function}}(text: Vec<u8>) {}\nmod tests {}";

    fn check(id: &str, package: &str, function: &str, ty: &str) {
        let names = Names::of(&ExtId::parse(id).unwrap(), TEMPLATE);
        let wanted = Names {
            package: package.to_owned(),
            function: function.to_owned(),
            ty: ty.to_owned(),
        };
        assert_eq!(names, wanted, "{id}");
    }

    #[test]
    fn an_id_becomes_names_in_three_styles() {
        check("line-count", "line-count", "line_count", "LineCount");
        check("a--b-", "a-b", "a_b", "AB");
        check("v2-x", "v2-x", "v2_x", "V2X");
        check("words", "words", "words", "Words");
        check("function", "function", "function", "Function");
    }

    #[test]
    fn a_name_with_another_use_is_put_behind_plugin() {
        check("type", "plugin-type", "plugin_type", "PluginType");
        check("self", "plugin-self", "plugin_self", "PluginSelf");
        check(
            "3d-view",
            "plugin-3d-view",
            "plugin_3d_view",
            "Plugin3dView",
        );
        check("result", "plugin-result", "plugin_result", "PluginResult");
        check("tests", "plugin-tests", "plugin_tests", "PluginTests");
        check("vec", "plugin-vec", "plugin_vec", "PluginVec");
        check(
            "stud-sdk",
            "plugin-stud-sdk",
            "plugin_stud_sdk",
            "PluginStudSdk",
        );
    }

    #[test]
    fn a_long_id_still_names_a_tool() {
        let id = ExtId::parse(&"3".repeat(64)).unwrap();
        assert_eq!(Names::of(&id, TEMPLATE).function.len(), LONGEST_TOOL);
    }

    #[test]
    fn a_wrong_id_suggests_a_right_one() {
        let near = |text| nearest_id(text).map(String::from);
        assert_eq!(near("LineCount").as_deref(), Some("line-count"));
        assert_eq!(near("line_count").as_deref(), Some("line-count"));
        assert_eq!(near("../Über x!").as_deref(), Some("ber-x"));
        assert_eq!(near("-").as_deref(), None);
        assert_eq!(near(&"x".repeat(65)), None);
    }
}
