//! Stage `contractVersion`: this core implements the contract version the plugin was built against.

use stud_contract_meta::{Manifest, SemVer};
use stud_diagnostics::{Diagnostic, Stage, codes};

use crate::contracts;
use crate::provenance::Provenance;

/// Same major, and a minor this core has reached.
pub(crate) fn check(provenance: &Provenance, manifest: &Manifest) -> Result<(), Diagnostic> {
    let (kind, text) = (manifest.kind, manifest.contract_version.as_str());
    let ours = contracts::version_of(kind);
    let mismatch = |message: String| {
        provenance
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
