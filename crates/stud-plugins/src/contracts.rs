//! The contract versions this core serves, and how the tables of each must look.

use stud_abi::{Category as _, tables};
use stud_contract_meta::{Kind, SemVer};

/// The newest version of a category's contract that this core implements.
pub fn version_of(kind: Kind) -> SemVer {
    match kind {
        Kind::Provider => stud_contract_provider::CONTRACT_VERSION,
        Kind::Tool => stud_contract_tool::CONTRACT_VERSION,
        Kind::Hook => stud_contract_hook::CONTRACT_VERSION,
        Kind::Ui => stud_contract_ui::CONTRACT_VERSION,
        Kind::Logger => stud_contract_logger::CONTRACT_VERSION,
        Kind::StateMachine => stud_contract_state_machine::CONTRACT_VERSION,
        Kind::Command => stud_contract_command::CONTRACT_VERSION,
        Kind::SessionStore => stud_contract_session_store::CONTRACT_VERSION,
        Kind::ContextProvider => stud_contract_context_provider::CONTRACT_VERSION,
    }
}

/// The manifest members a category adds to those of all.
pub(crate) fn members_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Provider => stud_contract_provider::MEMBERS,
        Kind::Tool => stud_contract_tool::MEMBERS,
        Kind::Hook => stud_contract_hook::MEMBERS,
        Kind::Ui => stud_contract_ui::MEMBERS,
        Kind::Logger => stud_contract_logger::MEMBERS,
        Kind::StateMachine => stud_contract_state_machine::MEMBERS,
        Kind::Command => stud_contract_command::MEMBERS,
        Kind::SessionStore => stud_contract_session_store::MEMBERS,
        Kind::ContextProvider => stud_contract_context_provider::MEMBERS,
    }
}

/// The fingerprint of a category's table as of this core.
///
/// Every minor so far has had the same table; when one grows, the older fingerprints are listed here by minor.
pub(crate) fn fingerprint_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Provider => tables::provider::Provider::FINGERPRINT,
        Kind::Tool => tables::tool::Tool::FINGERPRINT,
        Kind::Hook => tables::hook::Hook::FINGERPRINT,
        Kind::Ui => tables::ui::Ui::FINGERPRINT,
        Kind::Logger => tables::logger::Logger::FINGERPRINT,
        Kind::StateMachine => tables::state_machine::StateMachine::FINGERPRINT,
        Kind::Command => tables::command::Command::FINGERPRINT,
        Kind::SessionStore => tables::session_store::SessionStore::FINGERPRINT,
        Kind::ContextProvider => tables::context_provider::ContextProvider::FINGERPRINT,
    }
}

/// The version of this core; plugins name the range they accept.
pub const CORE_VERSION: SemVer = SemVer::new(0, 1, 0);
