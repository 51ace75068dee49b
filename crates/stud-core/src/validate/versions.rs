//! Stages `contractVersion` and `requiredCoreVersion`: both sides of a version refusal, and who should act.

use stud_contract_meta::{Manifest, Range, SemVer};
use stud_diagnostics::{Diagnostic, Stage, codes};

use crate::contracts::{self, CORE_VERSION};
use crate::provenance::Provenance;

/// Same major, and a minor this core has reached.
pub(crate) fn check_contract(track: &Provenance, manifest: &Manifest) -> Result<(), Diagnostic> {
    let (kind, text) = (manifest.kind, manifest.contract_version.as_str());
    let ours = contracts::version_of(kind);
    let mismatch = |message: String| {
        track
            .error(
                Stage::ContractVersion,
                &codes::CONTRACT_VERSION_MISMATCH,
                message,
            )
            .field("/contractVersion")
            .with("contractVersion", text)
            .with("implemented", ours.to_string())
    };
    let Some(theirs) = SemVer::parse(text) else {
        return Err(mismatch(format!("`{text}` is not a version of three plain numbers"))
            .help("author: build against a released contract; pre-release and build text are not accepted"));
    };
    if theirs.is_served_by(ours) {
        return Ok(());
    }
    let spoken = match ours.minor {
        0 => format!("{}.0", ours.major),
        minor => format!("{0}.0 to {0}.{minor}", ours.major),
    };
    let refused = mismatch(format!(
        "built for the {kind} contract {theirs}, this stud speaks {spoken}"
    ));
    let newer = (theirs.major, theirs.minor) > (ours.major, ours.minor);
    Err(if newer {
        refused.help(format!(
            "operator: update stud, or ask the author for a build for {spoken}"
        ))
    } else {
        refused.help(format!(
            "author: rebuild against the {kind} contract {spoken}"
        ))
    })
}

/// The running core lies in the range the plugin accepts.
pub(crate) fn check_core(track: &Provenance, manifest: &Manifest) -> Result<(), Diagnostic> {
    let text = manifest.required_core_version.as_str();
    let mismatch = |message: String| {
        track
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
