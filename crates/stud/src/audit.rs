//! `stud audit`: what sessions put on record. No plugin is loaded for any of it.

mod index;
mod show;
mod verify;

use crate::cli::AuditVerb;
use crate::output::{Output, Verdict};

pub(crate) fn run(verb: &AuditVerb, output: &Output) -> Verdict {
    match verb {
        AuditVerb::Verify(asked) => verify::run(asked, output),
        AuditVerb::Show(asked) => show::run(asked, output),
    }
}
