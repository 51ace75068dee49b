//! `path-or-extId: error[Class/Code] headline`, always one line.

use std::fmt;

use super::TEXT_LIMIT;
use crate::{Diagnostic, printable_within};

/// One stable line that can be searched for.
///
/// With neither a file nor a plugin to name, the line starts at the severity.
pub fn concise(diagnostic: &Diagnostic) -> String {
    let path = diagnostic.path.as_ref().map(|path| path.to_string_lossy());
    let place = path.as_deref().or(diagnostic.ext_id.as_deref());
    let place = place.map_or_else(String::new, |place| {
        format!("{}: ", printable_within(place, TEXT_LIMIT))
    });
    format!(
        "{place}{}[{}] {}",
        diagnostic.severity,
        diagnostic.code,
        printable_within(&diagnostic.message, TEXT_LIMIT)
    )
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&concise(self))
    }
}

#[cfg(test)]
mod tests {
    use super::concise;
    use crate::{Diagnostic, codes};

    #[test]
    fn the_file_goes_before_the_plugin() {
        let named = Diagnostic::error(&codes::MANIFEST_EMPTY, "the manifest is empty");
        assert_eq!(
            concise(&named),
            "error[Validation/ManifestEmpty] the manifest is empty"
        );
        let named = named.of("ask-line").downgraded();
        assert_eq!(
            named.to_string(),
            "ask-line: warning[Validation/ManifestEmpty] the manifest is empty"
        );
        assert_eq!(
            concise(&named.file("ui/libask_line.so")),
            "ui/libask_line.so: warning[Validation/ManifestEmpty] the manifest is empty"
        );
    }

    #[test]
    fn hostile_text_stays_on_one_line() {
        let diagnostic = Diagnostic::error(&codes::SHAPE_INVALID, "a\nerror: b\u{1b}[2J")
            .file("x\n\u{202e}y.so");
        assert_eq!(
            concise(&diagnostic),
            "x\\n\\u{202e}y.so: error[Validation/ShapeInvalid] a\\nerror: b\\u{1b}[2J"
        );
    }

    #[test]
    fn a_flood_is_cut() {
        let diagnostic = Diagnostic::error(&codes::SHAPE_INVALID, "x".repeat(1_000_000));
        assert!(concise(&diagnostic).len() < 1100);
    }
}
