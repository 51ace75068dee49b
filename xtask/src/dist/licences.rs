//! The licences of every package that is built into the program.

use std::fmt::Write as _;

use super::sbom::Component;

/// How the names of licence files begin, in capitals.
const NAMES: [&str; 6] = [
    "LICENSE",
    "LICENCE",
    "COPYING",
    "NOTICE",
    "UNLICENSE",
    "COPYRIGHT",
];

/// The licence files of each package from the registry, and an index that names the licence of every one.
pub(super) fn collect(components: &[Component]) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut index = String::new();
    for component in components.iter().filter(|component| component.is_foreign) {
        let folder = format!("{}-{}", component.name, component.version);
        let licence = component.licence.as_deref().unwrap_or("see its files");
        let mut found = 0;
        for entry in std::fs::read_dir(&component.folder)
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_licence = NAMES
                .iter()
                .any(|start| name.to_uppercase().starts_with(start));
            if let (true, Ok(bytes)) = (is_licence, std::fs::read(entry.path())) {
                files.push((format!("licences/{folder}/{name}"), bytes));
                found += 1;
            }
        }
        let note = if found == 0 {
            ", without a file of its own"
        } else {
            ""
        };
        // Writing to a `String` cannot fail.
        let _ = writeln!(index, "{folder}: {licence}{note}");
    }
    files.push(("licences/INDEX.txt".to_owned(), index.into_bytes()));
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::collect;
    use crate::dist::sbom::Component;
    use crate::scratch::Scratch;

    #[test]
    fn every_package_is_in_the_index() {
        let scratch = Scratch::with(&[
            ("a/LICENSE-MIT", "words"),
            ("a/src/lib.rs", ""),
            ("b/Cargo.toml", ""),
        ]);
        let component = |name: &str, is_foreign| Component {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: Some("MIT".to_owned()),
            folder: scratch.path().join(name),
            is_foreign,
        };
        let files = collect(&[
            component("a", true),
            component("b", true),
            component("own", false),
        ]);
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["licences/INDEX.txt", "licences/a-1.0.0/LICENSE-MIT"]
        );
        let index = String::from_utf8(files[0].1.clone()).unwrap();
        assert_eq!(
            index,
            "a-1.0.0: MIT\nb-1.0.0: MIT, without a file of its own\n"
        );
    }
}
