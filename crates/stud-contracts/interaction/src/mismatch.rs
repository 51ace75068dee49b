//! The one error of a payload or an answer that does not fit its kind.

use stud_contract_meta::Error;
use stud_diagnostics::codes;

use crate::InteractionKind;

/// `Validation/InteractionPayloadMismatch`.
///
/// It names the field and what belongs there, never what was found: that may be a secret.
pub(crate) fn mismatch(kind: InteractionKind, field: &str, expected: &str) -> Error {
    Error::new(
        codes::INTERACTION_PAYLOAD_MISMATCH.class,
        codes::INTERACTION_PAYLOAD_MISMATCH.name,
        format!("this does not fit `{kind}`: `{field}` should be {expected}"),
    )
    .with("kind", kind.as_str())
    .with("field", field)
    .with("expected", expected)
}
