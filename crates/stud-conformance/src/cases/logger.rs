//! Loggers.

use super::calls::record;
use crate::case::{Context, Running, Verdict};
use crate::subject::Call;

pub(super) fn takes_records(context: &Context) -> Verdict {
    let subject = context.instance();
    for kind in ["event", "audit", "diagnostic"] {
        match Running::start(&subject, Call::Record(record(kind))).result() {
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                return Verdict::fail(format!(
                    "a record of the kind `{kind}` was refused: {error}"
                ));
            }
            None => {
                return Verdict::fail(format!(
                    "a record of the kind `{kind}` was not taken within three seconds"
                ));
            }
        }
    }
    Verdict::Pass
}
