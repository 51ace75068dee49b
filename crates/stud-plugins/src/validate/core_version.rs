//! Stage `requiredCoreVersion`: the running core lies in the range the plugin accepts.

use stud_contract_meta::{Manifest, Range};
use stud_diagnostics::{Diagnostic, Stage, codes};

use crate::contracts::CORE_VERSION;
use crate::provenance::Provenance;

/// The running core lies in the range the plugin accepts.
pub(crate) fn check(provenance: &Provenance, manifest: &Manifest) -> Result<(), Diagnostic> {
    let text = manifest.required_core_version.as_str();
    let mismatch = |message: String| {
        provenance
            .error(
                Stage::RequiredCoreVersion,
                &codes::REQUIRED_CORE_VERSION_MISMATCH,
                message,
            )
            .field("/requiredCoreVersion")
            .with("requiredRange", text)
            .with("coreVersion", CORE_VERSION.to_string())
    };
    match Range::parse(text) {
        None if text.trim().is_empty() => {
            Err(mismatch("the range of core versions is empty".to_owned())
                .help("author: write comparators such as `>=0.1.0 <1.0.0`"))
        }
        None => Err(mismatch(format!("`{text}` is not a range of versions"))
            .help("author: write comparators such as `>=0.1.0 <1.0.0`")),
        Some(range) if range.contains(CORE_VERSION) => Ok(()),
        Some(_) => Err(mismatch(format!(
            "the plugin needs core {text}, this is {CORE_VERSION}"
        ))
        .help("operator: use a stud in that range, or ask the author to widen it")),
    }
}
