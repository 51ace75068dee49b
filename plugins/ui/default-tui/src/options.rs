//! What can be set.

use stud_sdk::{Config, Schema};

/// How the screen looks and behaves.
#[derive(Config)]
pub(crate) struct Options {
    /// Which background the colors are for.
    #[stud(default)]
    #[expect(
        dead_code,
        reason = "the colors are those of the terminal on its own background"
    )]
    pub(crate) theme: Theme,
    /// When to use color: on a terminal that has not said `NO_COLOR`, always, or never.
    #[stud(default)]
    pub(crate) color: Color,
    /// How many rows the view of the transcript keeps in memory.
    #[stud(default = 2000, min = 1, max = 100_000)]
    pub(crate) max_log_lines: u32,
    /// Whether problems of the start are listed.
    #[stud(default = true)]
    pub(crate) startup_view_enabled: bool,
    /// The row below the composer.
    pub(crate) status_line: Option<StatusLine>,
    /// Whether prose is wrapped at words by the screen, or left to the terminal.
    #[stud(default)]
    pub(crate) wrap: Wrap,
    /// How much of a model's thinking is shown.
    #[stud(default)]
    pub(crate) thinking: Thinking,
    /// Whether anything on the screen moves without news.
    #[stud(default)]
    pub(crate) motion: Motion,
    /// How to call a person who looks elsewhere.
    #[stud(default)]
    pub(crate) notify: Notify,
    /// Whether the title of the window is set.
    #[stud(default = true)]
    pub(crate) title: bool,
    /// Whether addresses are made links of the terminal.
    #[stud(default)]
    #[expect(
        dead_code,
        reason = "addresses are shown in full, and marked by no terminal yet"
    )]
    pub(crate) hyperlinks: Hyperlinks,
    /// Which characters the terminal shows.
    #[stud(default)]
    pub(crate) charset: Charset,
    /// Whether the line screen is used instead, which only ever appends.
    #[stud(default)]
    #[expect(dead_code, reason = "the program reads it, before there is a screen")]
    pub(crate) accessible: bool,
}

/// Which background the colors are for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Schema)]
pub(crate) enum Theme {
    #[default]
    Auto,
    Dark,
    Light,
}

/// When to use color.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Schema)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// The row below the composer.
#[derive(Debug, Clone, Schema)]
pub(crate) struct StatusLine {
    /// Whether there is one.
    #[stud(default = true)]
    pub(crate) enabled: bool,
    /// Commands whose output stands in it.
    pub(crate) widgets: Option<Vec<Widget>>,
}

/// A command whose output stands in the status line.
#[derive(Debug, Clone, Schema)]
pub(crate) struct Widget {
    /// What it is called.
    pub(crate) id: String,
    /// The command, for `sh -c`.
    pub(crate) command: String,
    /// How often it runs at most, in milliseconds.
    #[stud(default = 5000, min = 1000)]
    pub(crate) interval_ms: u64,
}

/// How prose is wrapped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Schema)]
pub(crate) enum Wrap {
    #[default]
    Words,
    Terminal,
}

/// How much of a model's thinking is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Schema)]
pub(crate) enum Thinking {
    #[default]
    Short,
    Full,
    Off,
}

/// Whether anything moves without news.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Schema)]
pub(crate) enum Motion {
    #[default]
    Auto,
    Reduced,
}

/// How to call a person who looks elsewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Schema)]
pub(crate) enum Notify {
    #[default]
    Auto,
    Bell,
    Osc9,
    Off,
}

/// Whether addresses are made links of the terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Schema)]
pub(crate) enum Hyperlinks {
    #[default]
    Auto,
    On,
    Off,
}

/// Which characters the terminal shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Schema)]
pub(crate) enum Charset {
    #[default]
    Auto,
    Utf8,
    Ascii,
}

impl Options {
    /// Whether there is a status line.
    pub(crate) fn has_status_line(&self) -> bool {
        self.status_line.as_ref().is_none_or(|line| line.enabled)
    }

    /// The widgets of the status line.
    pub(crate) fn widgets(&self) -> &[Widget] {
        let line = self.status_line.as_ref();
        line.and_then(|line| line.widgets.as_deref())
            .unwrap_or_default()
    }
}

#[cfg(test)]
impl Default for Options {
    fn default() -> Self {
        Self {
            theme: Theme::Auto,
            color: Color::Auto,
            max_log_lines: 2000,
            startup_view_enabled: true,
            status_line: None,
            wrap: Wrap::Words,
            thinking: Thinking::Short,
            motion: Motion::Auto,
            notify: Notify::Auto,
            title: true,
            hyperlinks: Hyperlinks::Auto,
            charset: Charset::Auto,
            accessible: false,
        }
    }
}
