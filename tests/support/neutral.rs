//! What differs between runs and machines, written the same.

use std::path::Path;
use std::sync::OnceLock;

use crate::fixtures::fixture;
use crate::patch::Elf;

/// Paths of the world, hashes, the platform and the compiler become words that say what they are.
pub(crate) fn neutral(world: &Path, said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said).replace(&world.display().to_string(), "<world>");
    let (target, rustc) = build();
    let text = text.replace(target, "<target>").replace(rustc, "<rustc>");
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        // How many plugins are bundled is no concern of a test about another plugin.
        let columns: Vec<&str> = line.split_whitespace().collect();
        if columns.get(4) != Some(&"bundled") {
            kept.push_str(&without_places(&without_hashes(line)));
        }
    }
    kept
}

/// The platform and the compiler of the fixtures, as their manifests say.
fn build() -> &'static (String, String) {
    static BUILD: OnceLock<(String, String)> = OnceLock::new();
    BUILD.get_or_init(|| {
        let manifest = Elf::read(&fixture("good-tool")).manifest();
        let text = |member: &str| manifest[member].as_str().unwrap_or("?").to_owned();
        (text("target"), text("rustcVersion"))
    })
}

/// Which thread panicked, and on which line of a fixture, is not what a test is about.
fn without_places(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let is_thread =
            words.first().is_some_and(|first| first == "thread") && word.starts_with('(');
        words.push(match word.split_once(".rs:") {
            Some((file, _)) => format!(
                "{file}.rs:<line>:{}",
                if word.ends_with('\n') { "\n" } else { "" }
            ),
            None if is_thread => "(<id>)".to_owned(),
            None => word.to_owned(),
        });
    }
    words.join(" ")
}

/// `<hash>` for every run of 64 hexadecimal digits, and for one of 16 that is a fingerprint.
fn without_hashes(line: &str) -> String {
    let mut rest = line;
    let mut kept = String::new();
    while let Some(start) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        let (before, from) = rest.split_at(start);
        let len = from
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(from.len());
        kept.push_str(before);
        kept.push_str(if matches!(len, 16 | 64) {
            "<hash>"
        } else {
            &from[..len]
        });
        rest = &from[len..];
    }
    kept.push_str(rest);
    kept
}
