use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::thread::ScopedJoinHandle;

use rustix::fs::{CWD, mkfifoat};
use stud_observed::campaign;
use stud_sdk::host::cancellation::Scope;
use stud_sdk::testing::FakeHost;
use tempfile::TempDir;

use super::*;
use crate::lock::lock;
use crate::swapping::while_swapping;
use crate::workspace::Workspace;

struct Ground {
    folder: TempDir,
    workspace: Workspace,
    host: FakeHost,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("w");
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(root.parent().unwrap().join("out")).unwrap();
        Self {
            workspace: Workspace::new(&root, None, Path::new("/nowhere")),
            folder,
            host: FakeHost::new(),
        }
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join("w").join(path)
    }

    fn target(&self, path: &str) -> Result<Target> {
        self.workspace.target(&self.workspace.place(path)?, false)
    }

    fn write(&self, path: &str, text: &str) -> Result<()> {
        let target = self.target(path)?;
        let cx = self.host.cx();
        let _held = lock([&target], &cx)?;
        replace_all(&[Change::overwrite(&target, text.to_owned())], &cx)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// The names in the workspace.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path("")).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

#[test]
fn a_file_is_written_whole_and_nothing_is_left_beside_it() {
    let ground = Ground::new();
    ground.write("new", "one").unwrap();
    assert_eq!(ground.text("new"), "one");
    ground.write("new", "two").unwrap();
    assert_eq!(ground.text("new"), "two");
    ground.write("new", "").unwrap();
    assert_eq!(ground.text("new"), "");
    assert_eq!(ground.names(), ["new"]);
}

#[test]
fn a_file_keeps_its_mode_and_a_new_one_has_that_of_any_new_one() {
    let ground = Ground::new();
    fs::write(ground.path("plain"), "").unwrap();
    let usual = fs::metadata(ground.path("plain")).unwrap().mode() & 0o777;
    for mode in [0o600, 0o755, 0o640] {
        fs::set_permissions(ground.path("plain"), fs::Permissions::from_mode(mode)).unwrap();
        ground.write("plain", "text").unwrap();
        assert_eq!(
            fs::metadata(ground.path("plain")).unwrap().mode() & 0o777,
            mode
        );
    }
    ground.write("fresh", "text").unwrap();
    assert_eq!(
        fs::metadata(ground.path("fresh")).unwrap().mode() & 0o777,
        usual
    );
}

#[test]
fn a_link_stays_and_what_it_leads_to_is_written() {
    let ground = Ground::new();
    fs::write(ground.path("real"), "old").unwrap();
    symlink("real", ground.path("link")).unwrap();
    ground.write("link", "new").unwrap();
    assert!(ground.path("link").is_symlink());
    assert_eq!(ground.text("real"), "new");
}

#[test]
fn a_link_that_leads_out_is_not_written_through() {
    let ground = Ground::new();
    fs::write(ground.folder.path().join("out/file"), "outside").unwrap();
    symlink("../out/file", ground.path("link")).unwrap();
    symlink("../out/new", ground.path("dangling")).unwrap();
    for path in ["link", "dangling"] {
        assert_eq!(
            ground.write(path, "x").unwrap_err().code(),
            "Forbidden",
            "{path}"
        );
    }
    assert_eq!(
        fs::read_to_string(ground.folder.path().join("out/file")).unwrap(),
        "outside"
    );
    assert!(!ground.folder.path().join("out/new").exists());
}

#[test]
fn what_is_no_plain_file_is_not_replaced() {
    let ground = Ground::new();
    fs::create_dir(ground.path("directory")).unwrap();
    mkfifoat(CWD, ground.path("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    for path in ["directory", "pipe", "."] {
        assert_eq!(
            ground.write(path, "x").unwrap_err().code(),
            "InputInvalid",
            "{path}"
        );
    }
    assert_eq!(ground.names(), ["directory", "pipe"]);
}

#[test]
fn a_file_that_is_write_protected_stays_as_it_is() {
    let ground = Ground::new();
    fs::write(ground.path("file"), "old").unwrap();
    fs::set_permissions(ground.path("file"), fs::Permissions::from_mode(0o444)).unwrap();
    let allowed = fs::OpenOptions::new()
        .write(true)
        .open(ground.path("file"))
        .is_ok();
    if !allowed {
        assert_eq!(ground.write("file", "new").unwrap_err().code(), "Forbidden");
        assert_eq!(ground.text("file"), "old");
    }
}

#[test]
fn a_change_by_somebody_else_is_not_lost() {
    let ground = Ground::new();
    fs::write(ground.path("file"), "old").unwrap();
    let target = ground.target("file").unwrap();
    let cx = ground.host.cx();
    let mut change = Change::begin(&target, 100, &cx).unwrap();
    fs::write(ground.path("file"), "somebody's").unwrap();
    change.set("mine".to_owned());
    let error = replace_all(&[change], &cx).unwrap_err();
    stud_observed::covers!(RESOURCE_BUSY, error);
    assert_eq!(ground.text("file"), "somebody's");
    assert_eq!(ground.names(), ["file"]);
}

#[test]
fn a_file_that_was_removed_meanwhile_does_not_come_back() {
    let ground = Ground::new();
    fs::write(ground.path("file"), "old").unwrap();
    let target = ground.target("file").unwrap();
    let cx = ground.host.cx();
    let change = Change::begin(&target, 100, &cx).unwrap();
    fs::remove_file(ground.path("file")).unwrap();
    assert_eq!(
        replace_all(&[change], &cx).unwrap_err().code(),
        "ResourceBusy"
    );
    assert!(ground.names().is_empty());
}

#[test]
fn if_one_cannot_be_replaced_none_is() {
    let ground = Ground::new();
    let cx = ground.host.cx();
    for name in ["a", "b", "c"] {
        fs::write(ground.path(name), name).unwrap();
        fs::set_permissions(ground.path(name), fs::Permissions::from_mode(0o640)).unwrap();
    }
    let targets = ["a", "b", "c"].map(|name| ground.target(name).unwrap());
    let mut drafts = Vec::new();
    let mut changes = Vec::new();
    for target in &targets {
        let mut change = Change::begin(target, 100, &cx).unwrap();
        change.set("changed".to_owned());
        drafts.push(Draft::write(target, b"changed", None, None).unwrap());
        changes.push(change);
    }
    // The third is a directory by now, and a file cannot take its place.
    fs::remove_file(ground.path("c")).unwrap();
    fs::create_dir(ground.path("c")).unwrap();
    drafts[0].put_in_place().unwrap();
    drafts[1].put_in_place().unwrap();
    let error = drafts[2].put_in_place().unwrap_err();
    let error = put_back(&changes[..2], error);
    assert_eq!(error.context()["restored"], stud_sdk::json!(["a", "b"]));
    drop(drafts);
    assert_eq!(
        (ground.text("a"), ground.text("b")),
        ("a".into(), "b".into())
    );
    assert_eq!(
        fs::metadata(ground.path("a")).unwrap().mode() & 0o777,
        0o640
    );
    assert_eq!(ground.names(), ["a", "b", "c"]);
}

#[test]
fn a_call_that_is_called_off_changes_nothing() {
    let ground = Ground::new();
    fs::write(ground.path("file"), "old").unwrap();
    let target = ground.target("file").unwrap();
    ground.host.cancel(Scope::Turn);
    let change = Change::overwrite(&target, "new".to_owned());
    let error = replace_all(&[change], &ground.host.cx()).unwrap_err();
    assert_eq!(error.code(), "ToolCancelled");
    assert_eq!(ground.text("file"), "old");
    assert_eq!(ground.names(), ["file"]);
}

#[test]
fn a_draft_that_a_crash_left_is_in_nobodys_way() {
    let ground = Ground::new();
    for number in 0..200 {
        fs::write(
            ground.path(&format!(".stud-{}-{number}.tmp", process::id())),
            "",
        )
        .unwrap();
    }
    ground.write("file", "text").unwrap();
    assert_eq!(ground.text("file"), "text");
}

#[test]
fn many_writers_leave_one_whole_version() {
    let ground = Ground::new();
    let versions: Vec<_> = (0..4_u8)
        .map(|version| char::from(b'a' + version).to_string().repeat(50_000))
        .collect();
    fs::write(ground.path("file"), &versions[0]).unwrap();
    std::thread::scope(|scope| {
        let write = |version: &str| (0..5).for_each(|_| ground.write("file", version).unwrap());
        let writers: Vec<_> = versions
            .iter()
            .map(|version| scope.spawn(move || write(version)))
            .collect();
        while !writers.iter().all(ScopedJoinHandle::is_finished) {
            assert!(versions.contains(&ground.text("file")));
        }
    });
    assert!(versions.contains(&ground.text("file")));
    assert_eq!(ground.names(), ["file"]);
}

#[test]
fn a_directory_that_keeps_becoming_a_link_is_never_written_through() {
    let ground = Ground::new();
    let here = ground.path("swap");
    fs::create_dir(&here).unwrap();
    symlink("../out", ground.path("way-out")).unwrap();
    while_swapping(&here, &ground.path("way-out"), || {
        let races = campaign::times(300, 3_000, 30_000);
        campaign::figure("writes while a directory became a link", races);
        for _ in 0..races {
            if let Err(error) = ground.write("swap/file", "mine") {
                let expected = ["Forbidden", "NotFound", "ResourceBusy"];
                assert!(expected.contains(&error.code()), "{error}");
            }
        }
    });
    ground.write("swap/file", "mine").unwrap();
    let out = ground.folder.path().join("out");
    assert_eq!(fs::read_dir(out).unwrap().count(), 0);
}
