//! The plugins the program carries.

use stud_core::ground::EmbeddedPlugin;

/// All of them, each as its own crate gives it.
pub(crate) fn plugins() -> Vec<EmbeddedPlugin> {
    let mut plugins = without_terminal();
    plugins.push(line_ui::stud_plugin());
    plugins
}

/// Those that need no terminal.
pub(crate) fn without_terminal() -> Vec<EmbeddedPlugin> {
    vec![
        echo::stud_plugin(),
        file_logger::stud_plugin(),
        filesystem_session_store::stud_plugin(),
    ]
}
