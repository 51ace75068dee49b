//! What would take effect if a project were trusted: every name in its folder, what runs first. Nothing is opened.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use stud_diagnostics::printable_exact;

/// How deep the folder of a project is looked into: a library lies in the folder of its plugin, in that of its category.
const DEEPEST: usize = 8;

/// The names in a project's folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    /// What runs, or says what runs, by itself.
    pub(crate) executable: Vec<String>,
    /// Everything else.
    pub(crate) others: Vec<String>,
    /// Folders that could not be looked into.
    pub(crate) unreadable: Vec<String>,
}

impl Listing {
    /// Of a project's `.stud` folder.
    pub(crate) fn of(project_root: &Path) -> Self {
        let mut listing = Self::default();
        listing.add(project_root, &PathBuf::new(), DEEPEST);
        for names in [
            &mut listing.executable,
            &mut listing.others,
            &mut listing.unreadable,
        ] {
            names.sort();
        }
        listing
    }

    fn add(&mut self, folder: &Path, below: &Path, deeper: usize) {
        let Ok(entries) = fs::read_dir(folder) else {
            self.unreadable.push(name_of(below));
            return;
        };
        for entry in entries.filter_map(Result::ok) {
            let named = below.join(entry.file_name());
            let path = entry.path();
            let is_link = path.is_symlink();
            if path.is_dir() && !is_link && deeper > 0 {
                self.add(&path, &named, deeper - 1);
                continue;
            }
            let mut shown = name_of(&named);
            if let Ok(target) = fs::read_link(&path) {
                shown = format!("{shown} -> {}", target.to_string_lossy());
            }
            if is_executable(&path, &named, is_link) {
                self.executable.push(shown);
            } else {
                self.others.push(shown);
            }
        }
    }

    /// For the prompt: what runs first, and the numbers once more at the end, where they are seen however long it is.
    pub(crate) fn text(&self) -> String {
        let mut lines = Vec::new();
        for (title, names) in [
            ("runs code, or says what is run:", &self.executable),
            ("everything else in it:", &self.others),
            ("cannot be looked into:", &self.unreadable),
        ] {
            if !names.is_empty() {
                lines.push(format!("  {title}"));
                lines.extend(
                    names
                        .iter()
                        .map(|name| format!("    {}", printable_exact(name))),
                );
            }
        }
        let (run, others) = (self.executable.len(), self.others.len());
        lines.push(format!(
            "  {run} that run code or say what is run, {others} others"
        ));
        lines.join("\n") + "\n"
    }
}

fn name_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Libraries, programs, and the files that name programs. A link may lead to any of them.
fn is_executable(path: &Path, named: &Path, is_link: bool) -> bool {
    let name = named.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_lowercase();
    let is_library = [".so", ".dylib", ".dll"]
        .iter()
        .any(|ending| name.ends_with(ending) || name.contains(&format!("{ending}.")));
    let names_programs = named.components().count() == 1
        && ["mcp.json", "mcp-trust.json", "settings.json"].contains(&&*name);
    let is_program = || {
        let found = fs::metadata(path);
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    is_link || is_library || names_programs || is_program()
}
