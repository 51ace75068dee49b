use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use stud_sdk::host::cancellation::Scope;
use stud_sdk::testing::FakeHost;
use tempfile::TempDir;

use super::*;
use crate::swapping::while_swapping;

const ALL: Look = Look {
    max_depth: usize::MAX,
    hidden: true,
    project_rules: false,
};

fn ground(files: &[&str]) -> (TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, *file).unwrap();
    }
    let root = folder.path().canonicalize().unwrap();
    let workspace = Workspace::new(&root, None, Path::new("/nowhere"));
    (folder, workspace)
}

fn look(workspace: &Workspace, path: &str, look: Look) -> Vec<String> {
    let place = workspace.place(path).unwrap();
    let mut seen = Vec::new();
    let tree = workspace.tree(&place).unwrap();
    let looked = tree.look(look, &FakeHost::new().cx(), |entry| {
        seen.push(shown(entry.path.as_os_str()).0);
        Ok(ControlFlow::Continue(()))
    });
    assert!(looked.unwrap().faults.is_empty());
    seen
}

#[test]
fn paths_come_in_the_order_of_their_bytes() {
    let (_folder, workspace) = ground(&["a/x", "a-b", "a.c", "a/y/z", "a0", "B", "é", ".h/i"]);
    let seen = look(&workspace, ".", ALL);
    let mut sorted = seen.clone();
    sorted.sort();
    assert_eq!(seen, sorted);
    assert_eq!(
        seen,
        [
            ".h", ".h/i", "B", "a", "a-b", "a.c", "a/x", "a/y", "a/y/z", "a0", "é"
        ]
    );
}

#[test]
fn looking_goes_as_deep_as_it_should() {
    let (_folder, workspace) = ground(&["a/b/c/d", "e"]);
    let depth = |max_depth| look(&workspace, ".", Look { max_depth, ..ALL });
    assert!(depth(0).is_empty());
    assert_eq!(depth(1), ["a", "e"]);
    assert_eq!(depth(2), ["a", "a/b", "e"]);
    assert_eq!(depth(9), ["a", "a/b", "a/b/c", "a/b/c/d", "e"]);
}

#[test]
fn hidden_names_are_left_out_unless_asked_for() {
    let (_folder, workspace) = ground(&[".a", ".b/c", "d/.e", "d/f"]);
    assert_eq!(
        look(
            &workspace,
            ".",
            Look {
                hidden: false,
                ..ALL
            }
        ),
        ["d", "d/f"]
    );
    assert_eq!(
        look(&workspace, ".", ALL),
        [".a", ".b", ".b/c", "d", "d/.e", "d/f"]
    );
}

#[test]
fn what_stud_keeps_is_seen_and_not_looked_into() {
    let (folder, workspace) = ground(&[".stud/settings.json", "a/.stud/x"]);
    symlink(".stud", folder.path().join("link")).unwrap();
    assert_eq!(
        look(&workspace, ".", ALL),
        [".stud", "a", "a/.stud", "link"]
    );
    let rules = Look {
        project_rules: true,
        ..ALL
    };
    assert_eq!(look(&workspace, ".", rules), ["a", "link"]);
    let through = workspace
        .tree(&workspace.place("link").unwrap())
        .unwrap_err();
    assert_eq!(through.code(), "Forbidden");
}

#[test]
fn links_are_seen_and_not_followed() {
    let (folder, workspace) = ground(&["real/file"]);
    symlink("real", folder.path().join("link")).unwrap();
    symlink("..", folder.path().join("real/up")).unwrap();
    assert_eq!(
        look(&workspace, ".", ALL),
        ["link", "real", "real/file", "real/up"]
    );
    assert_eq!(look(&workspace, "link", ALL), ["file", "up"]);
}

#[test]
fn rules_of_the_project_count_from_the_workspace_down() {
    let (folder, workspace) = ground(&[
        ".git/config",
        ".gitignore",
        "keep.rs",
        "target/debug/x",
        "a/skip.log",
        "a/deep/skip.log",
        "a/deep/keep.log",
        "a/deep/.gitignore",
    ]);
    fs::write(folder.path().join(".gitignore"), "target\n*.log\n").unwrap();
    fs::write(folder.path().join("a/deep/.gitignore"), "!keep.log\n").unwrap();
    let rules = Look {
        project_rules: true,
        ..ALL
    };
    assert_eq!(
        look(&workspace, ".", rules),
        [
            ".gitignore",
            "a",
            "a/deep",
            "a/deep/.gitignore",
            "a/deep/keep.log",
            "keep.rs"
        ]
    );
    assert_eq!(
        look(&workspace, "a/deep", rules),
        [".gitignore", "keep.log"]
    );
    // Who names a directory wants what is in it.
    assert_eq!(look(&workspace, "target", rules), ["debug", "debug/x"]);
    symlink("a/deep", folder.path().join("link")).unwrap();
    assert_eq!(look(&workspace, "link", rules), [".gitignore", "keep.log"]);
}

#[test]
fn what_is_no_directory_is_not_found() {
    let (_folder, workspace) = ground(&["file"]);
    for path in ["file", "none", "file/x", "none/x"] {
        let error = workspace.tree(&workspace.place(path).unwrap()).unwrap_err();
        assert_eq!(error.code(), "NotFound", "{path}");
    }
}

#[test]
fn a_directory_that_may_not_be_read_is_told_of() {
    let (folder, workspace) = ground(&["a/x", "b/y"]);
    fs::set_permissions(folder.path().join("a"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(folder.path().join("a")).is_err() {
        let tree = workspace.tree(&workspace.place(".").unwrap()).unwrap();
        let mut seen = 0;
        let looked = tree.look(ALL, &FakeHost::new().cx(), |_| {
            seen += 1;
            Ok(ControlFlow::Continue(()))
        });
        let faults = looked.unwrap().faults;
        assert_eq!((faults.len(), faults[0].code(), seen), (1, "Forbidden", 3));
        assert_eq!(faults[0].context()["path"], "a");
    }
    fs::set_permissions(folder.path().join("a"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_well_of_directories_has_a_bottom() {
    let (_folder, workspace) = ground(&[&format!("{}x", "d/".repeat(300))]);
    let tree = workspace.tree(&workspace.place(".").unwrap()).unwrap();
    let mut deepest = 0;
    let looked = tree.look(ALL, &FakeHost::new().cx(), |entry| {
        deepest = deepest.max(entry.path.iter().count());
        Ok(ControlFlow::Continue(()))
    });
    assert!(looked.unwrap().too_deep);
    assert_eq!(deepest, DEEPEST);
}

#[test]
fn looking_stops_when_it_has_seen_enough_or_is_called_off() {
    let (_folder, workspace) = ground(&["a/b/c", "d", "e"]);
    let host = FakeHost::new();
    let tree = workspace.tree(&workspace.place(".").unwrap()).unwrap();
    let mut seen = Vec::new();
    tree.look(ALL, &host.cx(), |entry| {
        seen.push(entry.path.to_path_buf());
        Ok(if seen.len() == 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })
    .unwrap();
    assert_eq!(seen, [Path::new("a"), Path::new("a/b")]);
    let cx = host.cx();
    let stopped = tree.look(ALL, &cx, |_| {
        host.cancel(Scope::Turn);
        Ok(ControlFlow::Continue(()))
    });
    assert_eq!(stopped.unwrap_err().code(), "ToolCancelled");
}

#[test]
fn a_directory_that_keeps_becoming_a_link_is_never_looked_into_outside() {
    let (_folder, workspace) = ground(&["w/swap/inside", "out/secret"]);
    let root = workspace.root().join("w");
    let workspace = Workspace::new(&root, None, Path::new("/nowhere"));
    let link = root.join("way-out");
    symlink("../out", &link).unwrap();
    while_swapping(&root.join("swap"), &link, || {
        for path in [".", "swap"].repeat(3000) {
            let Ok(tree) = workspace.tree(&workspace.place(path).unwrap()) else {
                continue;
            };
            tree.look(ALL, &FakeHost::new().cx(), |entry| {
                assert_ne!(entry.name(), "secret");
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        }
    });
    assert_eq!(
        look(&workspace, ".", ALL),
        ["swap", "swap/inside", "way-out"]
    );
}
