//! What a first start finds missing: a system prompt, and a provider that is more than a stand-in.

use std::io;

use serde_json::json;
use stud_core::audit::bootstrap::{self, Deed};
use stud_core::context::default_system_prompt;
use stud_core::model::ProviderChoice;
use stud_core::platform::{self, Durability, Places};
use stud_core::plugin_scope::Scope;
use stud_core::settings::Settings;
use stud_diagnostics::{Diagnostic, codes};

use crate::ask::{Choice, Person, say};
use crate::output::told;
use crate::provider_setup;

/// Writes `system.md` with what a model is told first, once: a file that is there stays as it is, even an empty one.
pub(crate) fn scaffold_system_prompt(places: &Places) -> Result<(), Diagnostic> {
    let path = places.global_root.join("system.md");
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        // An existing entry is never replaced.
        _ => return Ok(()),
    }
    let shown = path.display().to_string();
    let deed = Deed::new("SystemPromptScaffolded", json!({"path": shown}));
    bootstrap::note(&places.global_root, &[deed], Durability::Written).map_err(told)?;
    let text = default_system_prompt();
    platform::replace_file(&path, text.as_bytes(), 0o600, Durability::Written).map_err(|error| {
        let message = format!("the system prompt cannot be written: {error}");
        Diagnostic::error(&codes::STARTUP_FAILURE, message)
            .file(&path)
            .help("check who owns the folder and whether the disk is full")
    })
}

/// Whether there is a person to offer it to, and no provider.
pub(crate) fn will_offer_provider(places: &Places) -> Result<bool, Diagnostic> {
    Ok(Person::present().is_at_terminal() && !has_provider(places)?)
}

/// Offers to set a provider up where none is. Silent if one is configured, and without a terminal.
///
/// Going on without one is a choice too: `echo` answers then.
pub(crate) fn offer_provider(places: &Places) -> Result<(), Diagnostic> {
    let person = Person::present();
    if !will_offer_provider(places)? {
        return Ok(());
    }
    say(
        "No model is set up yet. Without one `echo` answers: a stand-in that repeats what you say.\n",
    );
    let choices = [
        Choice {
            word: "setup",
            meaning: "set up a provider now",
        },
        Choice {
            word: "echo",
            meaning: "continue with the stand-in; `stud setup` asks again at any time",
        },
    ];
    if person.choose("What would you like?", &choices, 1)? == 0 {
        let registered = provider_setup::register(places, &person)?;
        say(&format!("{}\n", registered.told()));
    }
    Ok(())
}

/// Whether the person has named or configured a provider. A project cannot speak for them: it is not read before it is trusted.
fn has_provider(places: &Places) -> Result<bool, Diagnostic> {
    let mut settings = Settings::default();
    settings.layer(Scope::Global, &places.global_root)?;
    Ok(ProviderChoice::of(&settings) != ProviderChoice::StandIn)
}
