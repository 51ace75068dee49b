//! The plugins the program carries.

use stud_core::environment::EmbeddedPlugin;

/// All of them, each as its own crate gives it.
pub(crate) fn plugins() -> Vec<EmbeddedPlugin> {
    let mut plugins = without_terminal();
    plugins.push(default_tui::stud_plugin());
    plugins.push(line_ui::stud_plugin());
    plugins
}

/// The ids of those that are for terminals alone.
pub(crate) const FOR_TERMINALS: &[&str] = &["default-tui", "line-ui"];

/// Those that need no terminal.
pub(crate) fn without_terminal() -> Vec<EmbeddedPlugin> {
    vec![
        // Providers.
        echo::stud_plugin(),
        anthropic::stud_plugin(),
        gemini::stud_plugin(),
        openai_compatible::stud_plugin(),
        // Tools.
        read_tool::stud_plugin(),
        write_tool::stud_plugin(),
        edit_tool::stud_plugin(),
        multi_edit_tool::stud_plugin(),
        list_tool::stud_plugin(),
        glob_tool::stud_plugin(),
        grep_tool::stud_plugin(),
        diff_tool::stud_plugin(),
        bash::stud_plugin(),
        web_fetch::stud_plugin(),
        ask_user::stud_plugin(),
        catalog::stud_plugin(),
        context_compaction::stud_plugin(),
        delegate::stud_plugin(),
        // Commands.
        model_command::stud_plugin(),
        provider_command::stud_plugin(),
        params_command::stud_plugin(),
        help_command::stud_plugin(),
        health_command::stud_plugin(),
        mode_command::stud_plugin(),
        tools_command::stud_plugin(),
        trust_command::stud_plugin(),
        network_policy_command::stud_plugin(),
        commands_command::stud_plugin(),
        sessions_command::stud_plugin(),
        compact_command::stud_plugin(),
        save_and_close_command::stud_plugin(),
        reload_command::stud_plugin(),
        sm_command::stud_plugin(),
        cancel_command::stud_plugin(),
        agents_command::stud_plugin(),
        exit_command::stud_plugin(),
        ui_command::stud_plugin(),
        // Disabled by default.
        guard_example::stud_plugin(),
        observer_example::stud_plugin(),
        transform_example::stud_plugin(),
        system_prompt_file::stud_plugin(),
        // State machines.
        plan_then_build::stud_plugin(),
        review::stud_plugin(),
        // Everything else.
        file_logger::stud_plugin(),
        filesystem_session_store::stud_plugin(),
    ]
}
