//! The row below the composer, and who answers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stud_sdk::host::metrics::RuntimeSnapshot;

use crate::text::escape;
use crate::text::row::{Look, Piece, Row, joined, piece};
use crate::text::width;

/// From here on the use of the window is a warning.
const FULL: f64 = 85.0;

/// What the status line knows besides the snapshot.
#[derive(Debug, Default)]
pub(crate) struct Status {
    folder: PathBuf,
    branch: Option<String>,
    /// What the commands of the status line said last, by their ids.
    widgets: BTreeMap<String, String>,
}

impl Status {
    /// Looks at the repository of a folder from now on.
    pub(crate) fn look_at(&mut self, folder: &str) {
        self.folder = PathBuf::from(folder);
        self.refresh();
    }

    /// Reads which branch is checked out.
    pub(crate) fn refresh(&mut self) {
        self.branch = branch(&self.folder);
    }

    /// Takes what a command of the status line said.
    pub(crate) fn take_widget(&mut self, id: &str, text: &str) {
        self.widgets
            .insert(id.to_owned(), escape::line(text).into_owned());
    }

    /// The row. Items that do not fit are left out whole, from the right.
    pub(crate) fn row(&self, snapshot: &RuntimeSnapshot, elapsed: Duration, columns: usize) -> Row {
        let mut items: Vec<Piece> = Vec::new();
        if let Some(branch) = &self.branch {
            items.push(piece(escape::line(branch).into_owned(), Look::Dim));
        }
        items.push(context(snapshot));
        let tokens = &snapshot.tokens;
        items.push(piece(
            format!("in {}", short(tokens.input_total)),
            Look::Dim,
        ));
        items.push(piece(
            format!("out {}", short(tokens.output_total)),
            Look::Dim,
        ));
        let tools = &snapshot.tools;
        items.push(piece(
            format!("tools {}/{}", tools.active_count, tools.total_count),
            Look::Dim,
        ));
        let mcp = &snapshot.mcp;
        let down = mcp.configured_count.saturating_sub(mcp.connected_count);
        let (word, look) = match down {
            0 => (String::new(), Look::Dim),
            down => (format!(" ({down} down)"), Look::Warn),
        };
        items.push(piece(
            format!("mcp {}/{}{word}", mcp.connected_count, mcp.configured_count),
            look,
        ));
        let seconds = elapsed.as_secs();
        let time = format!(
            "{:02}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        );
        items.push(piece(time, Look::Dim));
        let problems = snapshot.diagnostics.error + snapshot.diagnostics.warning;
        if problems > 0 {
            let word = if problems == 1 {
                "diagnostic"
            } else {
                "diagnostics"
            };
            items.push(piece(format!("{problems} {word}"), Look::Warn));
        }
        items.extend(
            self.widgets
                .values()
                .map(|text| piece(text.clone(), Look::Dim)),
        );
        let mut shown: Vec<Piece> = Vec::new();
        let mut used = 0;
        for item in items {
            let gap = if shown.is_empty() { 0 } else { 2 };
            let width = width::of(&item.content);
            if used + gap + width >= columns {
                break;
            }
            if gap > 0 {
                shown.push(piece("  ", Look::Plain));
            }
            used += gap + width;
            shown.push(item);
        }
        joined(shown)
    }
}

/// Provider, model, mode and whether the provider is reachable.
pub(crate) fn facts(snapshot: &RuntimeSnapshot) -> String {
    let provider = &snapshot.provider.current;
    let mode = stud_sdk::json!(snapshot.session.mode);
    let online = if snapshot.session.online {
        "online"
    } else {
        "offline"
    };
    format!(
        "{} · {} · mode {} · {online}",
        escape::line(&provider.id),
        escape::line(&provider.model_id),
        mode.as_str().unwrap_or_default()
    )
}

fn context(snapshot: &RuntimeSnapshot) -> Piece {
    let context = &snapshot.context;
    match context.percent {
        Some(percent) if percent >= FULL => {
            piece(format!("ctx {percent:.0}% (nearly full)"), Look::Warn)
        }
        Some(percent) => piece(format!("ctx {percent:.0}%"), Look::Dim),
        None => piece(format!("ctx {}/?", short(context.used_tokens)), Look::Dim),
    }
}

/// A count in few characters.
fn short(count: u64) -> String {
    match count {
        0..1000 => count.to_string(),
        1000..1_000_000 => format!("{}.{}k", count / 1000, count % 1000 / 100),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// The branch that is checked out in the repository around a folder.
fn branch(folder: &Path) -> Option<String> {
    let git = folder
        .ancestors()
        .map(|folder| folder.join(".git"))
        .find(|git| git.exists())?;
    let git = if git.is_file() {
        let text = fs::read_to_string(&git).ok()?;
        let target = text.strip_prefix("gitdir:")?.trim().to_owned();
        git.parent()?.join(target)
    } else {
        git
    };
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let head = head.trim();
    Some(match head.strip_prefix("ref: refs/heads/") {
        Some(branch) => branch.to_owned(),
        None => head.chars().take(8).collect(),
    })
}

#[cfg(test)]
mod tests {
    use stud_sdk::host::metrics::{ContextSlice, McpSlice};

    use super::*;
    use crate::text::row::plain;

    #[test]
    fn tui_90_items_stand_in_order_and_are_left_out_whole() {
        let status = Status {
            branch: Some("main".to_owned()),
            ..Status::default()
        };
        let mut snapshot = RuntimeSnapshot::default();
        snapshot.context.percent = Some(4.2);
        snapshot.tokens.input_total = 2140;
        let elapsed = Duration::from_secs(74);
        let whole = "main  ctx 4%  in 2.1k  out 0  tools 0/0  mcp 0/0  00:01:14";
        assert_eq!(plain(&status.row(&snapshot, elapsed, 80)), whole);
        assert_eq!(
            plain(&status.row(&snapshot, elapsed, 30)),
            "main  ctx 4%  in 2.1k  out 0"
        );
        assert_eq!(
            plain(&status.row(&snapshot, elapsed, 28)),
            "main  ctx 4%  in 2.1k"
        );
    }

    #[test]
    fn tui_91_and_92_warnings_are_said_in_words() {
        let snapshot = RuntimeSnapshot {
            context: ContextSlice {
                percent: Some(85.0),
                ..ContextSlice::default()
            },
            mcp: McpSlice {
                connected_count: 2,
                configured_count: 3,
                ..McpSlice::default()
            },
            ..RuntimeSnapshot::default()
        };
        let row = plain(&Status::default().row(&snapshot, Duration::ZERO, 100));
        assert!(
            row.contains("ctx 85% (nearly full)") && row.contains("mcp 2/3 (1 down)"),
            "{row}"
        );
        let unknown = RuntimeSnapshot {
            context: ContextSlice {
                used_tokens: 12_345,
                ..ContextSlice::default()
            },
            ..RuntimeSnapshot::default()
        };
        assert!(
            plain(&Status::default().row(&unknown, Duration::ZERO, 100)).contains("ctx 12.3k/?")
        );
    }

    #[test]
    fn the_branch_is_read_from_the_repository_around() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git")).unwrap();
        fs::write(folder.path().join(".git/HEAD"), "ref: refs/heads/topic/x\n").unwrap();
        let inner = folder.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(branch(&inner).as_deref(), Some("topic/x"));
    }
}
