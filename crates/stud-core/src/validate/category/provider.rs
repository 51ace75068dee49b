//! A Provider: a protocol and what it claims its models can do.

use stud_diagnostics::Diagnostic;

use super::{Members, read};
use crate::validate::document::Document;

pub(super) fn check(document: &Document<'_>) -> Result<Members, Diagnostic> {
    document.words("protocol", "the key of the adapter")?;
    let claims = document.object("capabilities", "an object with the seven claims")?;
    let levels = ["hard", "preferred", "probed", "absent"];
    for claim in [
        "streaming",
        "toolCalling",
        "structuredOutput",
        "multimodal",
        "reasoning",
        "promptCaching",
    ] {
        claims.word(claim, &levels, |word| levels.contains(&word).then_some(()))?;
    }
    let expected = "a number of tokens, or `probed`";
    let window = claims.required("contextWindow", expected)?;
    if !(window.is_u64() || window == "probed") {
        return Err(claims.invalid("contextWindow", expected));
    }
    read(document).map(Members::Provider)
}
