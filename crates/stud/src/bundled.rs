//! The plugins the program carries.

use stud_core::ground::EmbeddedPlugin;

/// All of them, each as its own crate gives it.
pub(crate) fn plugins() -> Vec<EmbeddedPlugin> {
    vec![echo::stud_plugin()]
}
