use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use stud_observed::campaign;
use tempfile::TempDir;

use super::*;
use crate::swapping::while_swapping;

/// A workspace `w` beside a folder `out` that nothing may come from.
struct Ground {
    folder: TempDir,
    workspace: Workspace,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for directory in ["w/src/deep", "w/.stud", "w/home", "out"] {
            fs::create_dir_all(folder.path().join(directory)).unwrap();
        }
        for file in [
            "w/a",
            "w/src/b",
            "w/src/deep/c",
            "w/.stud/settings.json",
            "w/home/secrets.json",
            "out/secret",
        ] {
            fs::write(folder.path().join(file), file).unwrap();
        }
        let root = folder.path().canonicalize().unwrap().join("w");
        let workspace = Workspace::new(&root, None, &root.join("home"));
        Self { folder, workspace }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn link(&self, target: impl AsRef<Path>, at: &str) {
        symlink(target, self.path("w").join(at)).unwrap();
    }

    /// What is read by these names, without a look at the path before.
    fn read(&self, names: &str) -> Result<String, Trouble> {
        let parts: Vec<_> = names.split('/').map(OsString::from).collect();
        let root = Root::open(&self.workspace)?;
        let file = root.locate(&parts, Absent::Refuse)?.open_file(&root)?;
        let mut text = String::new();
        fs::File::from(file)
            .read_to_string(&mut text)
            .map_err(|_| Trouble::Os(Errno::IO))?;
        Ok(text)
    }

    fn enter(&self, names: &str) -> Result<OwnedFd, Trouble> {
        let parts: Vec<_> = names.split('/').map(OsString::from).collect();
        let root = Root::open(&self.workspace)?;
        root.locate(&parts, Absent::Refuse)?.open_directory(&root)
    }
}

#[test]
fn names_lead_to_files() {
    let ground = Ground::new();
    assert_eq!(ground.read("a").unwrap(), "w/a");
    assert_eq!(ground.read("src/deep/c").unwrap(), "w/src/deep/c");
    assert_eq!(ground.read("src/none"), Err(Trouble::Os(Errno::NOENT)));
    assert_eq!(ground.read("none/b"), Err(Trouble::Os(Errno::NOENT)));
    assert_eq!(ground.read("a/b"), Err(Trouble::Os(Errno::NOTDIR)));
    assert_eq!(ground.read("a/b/c"), Err(Trouble::Os(Errno::NOTDIR)));
    assert_eq!(
        ground.read(&"x".repeat(300)),
        Err(Trouble::Os(Errno::NAMETOOLONG))
    );
}

#[test]
fn links_that_stay_inside_are_followed() {
    let ground = Ground::new();
    ground.link("a", "to-a");
    ground.link("to-a", "to-to-a");
    ground.link("src", "to-src");
    ground.link("../a", "src/up");
    ground.link("../../a", "src/deep/up-up");
    ground.link(ground.path("w/src/b"), "absolute");
    ground.link("./src/./deep/../b", "winding");
    ground.link(".", "self");
    for (names, expected) in [
        ("to-a", "w/a"),
        ("to-to-a", "w/a"),
        ("to-src/b", "w/src/b"),
        ("src/up", "w/a"),
        ("to-src/deep/up-up", "w/a"),
        ("absolute", "w/src/b"),
        ("winding", "w/src/b"),
        ("self/self/a", "w/a"),
    ] {
        assert_eq!(ground.read(names).as_deref(), Ok(expected), "{names}");
    }
    assert!(ground.enter("to-src").is_ok());
    assert!(ground.enter("self").is_ok());
}

#[test]
fn links_that_lead_out_are_refused_wherever_they_are() {
    let ground = Ground::new();
    ground.link("../out/secret", "file");
    ground.link("../out", "directory");
    ground.link("..", "parent");
    ground.link(ground.path("out/secret"), "absolute");
    ground.link("/etc/passwd", "system");
    ground.link("/", "top");
    ground.link("src/../../out/secret", "winding");
    ground.link("file", "twice");
    ground.link("../w/a", "out-and-in");
    ground.link(ground.path("w").join("../out/secret"), "absolute-and-out");
    ground.link("/proc/self/root/etc/passwd", "magic");
    for names in [
        "file",
        "directory/secret",
        "parent/out/secret",
        "parent/w/a",
        "absolute",
        "system",
        "top/etc/passwd",
        "winding",
        "twice",
        "out-and-in",
        "absolute-and-out",
        "magic",
        "..",
        "../out/secret",
        "src/../../out/secret",
    ] {
        assert_eq!(ground.read(names), Err(Trouble::Outside), "{names}");
    }
    for names in ["directory", "parent", "top", ".."] {
        assert_eq!(
            ground.enter(names).unwrap_err(),
            Trouble::Outside,
            "{names}"
        );
    }
}

#[test]
fn circles_of_links_end() {
    let ground = Ground::new();
    ground.link("two", "one");
    ground.link("one", "two");
    ground.link("round/x", "round");
    for names in ["one", "two", "one/x", "round", "round/y"] {
        assert_eq!(ground.read(names), Err(Trouble::TooManyLinks), "{names}");
    }
}

#[test]
fn what_stud_keeps_is_known_by_whatever_name() {
    let ground = Ground::new();
    ground.link(".stud", "mine");
    ground.link(".stud/settings.json", "settings");
    ground.link("src/../.stud", "winding");
    ground.link(ground.path("w/.stud"), "absolute");
    ground.link("home", "global");
    for names in [
        ".stud",
        ".stud/settings.json",
        ".Stud/settings.json",
        "src/../.stud/settings.json",
        "mine",
        "mine/settings.json",
        "settings",
        "winding/settings.json",
        "absolute/settings.json",
        "home/secrets.json",
        "global/secrets.json",
    ] {
        assert_eq!(ground.read(names), Err(Trouble::Private), "{names}");
    }
    for names in [".stud", "mine", "winding", "absolute", "home", "global"] {
        assert_eq!(
            ground.enter(names).unwrap_err(),
            Trouble::Private,
            "{names}"
        );
    }
}

#[test]
fn what_stud_keeps_is_known_even_if_it_is_elsewhere() {
    let ground = Ground::new();
    fs::rename(ground.path("w/.stud"), ground.path("w/src/kept")).unwrap();
    ground.link("src/kept", ".stud");
    assert_eq!(ground.read("src/kept/settings.json"), Err(Trouble::Private));
    assert_eq!(ground.read("src/b").as_deref(), Ok("w/src/b"));
}

#[test]
fn the_home_is_known_by_whatever_path_it_is_named() {
    let mut ground = Ground::new();
    symlink(ground.path("w/home"), ground.path("elsewhere")).unwrap();
    let root = ground.path("w");
    ground.workspace = Workspace::new(&root, None, &ground.path("elsewhere"));
    for names in ["home/secrets.json", "src/../home/secrets.json"] {
        assert_eq!(ground.read(names), Err(Trouble::Private), "{names}");
    }
    assert_eq!(ground.enter("home").unwrap_err(), Trouble::Private);
    assert_eq!(ground.read("a").as_deref(), Ok("w/a"));
}

#[test]
fn a_nested_projects_folder_is_private_at_any_depth() {
    let ground = Ground::new();
    fs::create_dir_all(ground.path("w/src/deep/.stud")).unwrap();
    fs::write(ground.path("w/src/deep/.stud/mcp.json"), "{}").unwrap();
    ground.link("src/deep/.stud", "nested");
    for names in [
        "src/deep/.stud",
        "src/deep/.stud/mcp.json",
        "src/deep/.STUD/mcp.json",
        "nested/mcp.json",
        "src/.stud/new",
    ] {
        assert_eq!(ground.read(names), Err(Trouble::Private), "{names}");
    }
}

#[test]
fn the_folder_of_a_nested_project_is_private_wherever_its_link_leads() {
    let ground = Ground::new();
    fs::create_dir_all(ground.path("w/src/deep/config")).unwrap();
    fs::write(ground.path("w/src/deep/config/mcp.json"), "{}").unwrap();
    ground.link("config", "src/deep/.stud");
    assert_eq!(ground.read("src/deep/config/mcp.json").as_deref(), Ok("{}"));
    let decided = ground.path("w/src/deep/config").canonicalize().unwrap();
    let entry =
        stud_sdk::json!({"canonicalPath": decided, "decision": "trusted", "schemaVersion": 1});
    for list in [
        stud_sdk::json!({"entries": [entry]}),
        stud_sdk::json!([decided]),
    ] {
        fs::write(ground.path("w/home/trust.json"), list.to_string()).unwrap();
        for names in ["src/deep/config/mcp.json", "src/deep/config/mcp-trust.json"] {
            assert_eq!(ground.read(names), Err(Trouble::Private), "{names}");
        }
    }
    assert_eq!(ground.read("src/b").as_deref(), Ok("w/src/b"));
}

#[test]
fn what_a_link_in_studs_folders_leads_to_is_studs_own() {
    let ground = Ground::new();
    for (folder, name) in [("home", "dotfiles"), (".stud", "shared")] {
        let place = ground.path(&format!("w/{name}"));
        fs::create_dir_all(place.join("tools")).unwrap();
        fs::write(place.join("settings.json"), "{}").unwrap();
        fs::write(place.join("tools/libx.so"), "x").unwrap();
        fs::write(place.join("other"), "other").unwrap();
        for link in ["settings.json", "tools"] {
            let at = ground.path(&format!("w/{folder}/{link}"));
            let _ = fs::remove_file(&at);
            symlink(place.join(link), at).unwrap();
        }
        for names in ["settings.json", "tools/libx.so", "tools/new.so"] {
            let names = format!("{name}/{names}");
            assert_eq!(ground.read(&names), Err(Trouble::Private), "{names}");
        }
        assert_eq!(
            ground.read(&format!("{name}/other")).as_deref(),
            Ok("other")
        );
    }
}

#[test]
fn a_second_name_of_a_kept_file_does_not_help() {
    let ground = Ground::new();
    for (kept, name) in [("home/secrets.json", "one"), (".stud/settings.json", "two")] {
        let root = ground.path("w");
        fs::hard_link(root.join(kept), root.join(name)).unwrap();
        assert_eq!(ground.read(name), Err(Trouble::Private), "{name}");
    }
    fs::hard_link(ground.path("w/a"), ground.path("w/three")).unwrap();
    assert_eq!(ground.read("three").as_deref(), Ok("w/a"));
}

#[test]
fn a_workspace_inside_a_private_folder_has_nothing_for_tools() {
    let mut ground = Ground::new();
    fs::create_dir_all(ground.path("w/home/below")).unwrap();
    for (root, global) in [
        ("w/home", "w/home"),
        ("w/home/below", "w/home"),
        ("w/.stud", "w/home"),
    ] {
        ground.workspace = Workspace::new(&ground.path(root), None, &ground.path(global));
        assert_eq!(ground.read("secrets.json"), Err(Trouble::Private), "{root}");
    }
}

#[test]
fn directories_are_made_on_the_way_and_nowhere_else() {
    let ground = Ground::new();
    ground.link("../out", "way-out");
    ground.link("src/fresh", "dangling");
    let locate = |names: &str| {
        let parts: Vec<_> = names.split('/').map(OsString::from).collect();
        let root = Root::open(&ground.workspace).unwrap();
        root.locate(&parts, Absent::Create).map(|spot| spot.name)
    };
    assert_eq!(locate("new/newer/file").unwrap(), Some("file".into()));
    assert!(ground.path("w/new/newer").is_dir());
    assert_eq!(locate("way-out/new/file"), Err(Trouble::Outside));
    assert_eq!(locate(".stud/new/file"), Err(Trouble::Private));
    assert_eq!(locate("a/new/file"), Err(Trouble::Os(Errno::NOTDIR)));
    assert_eq!(locate("dangling/file").unwrap(), Some("file".into()));
    assert!(ground.path("w/src/fresh").is_dir());
    assert!(!ground.path("out/new").exists() && !ground.path("w/.stud/new").exists());
}

#[test]
fn the_last_name_may_be_free() {
    let ground = Ground::new();
    ground.link("src/none-yet", "dangling");
    let root = Root::open(&ground.workspace).unwrap();
    let spot = root.locate(&["dangling".into()], Absent::Refuse).unwrap();
    assert_eq!(spot.name, Some("none-yet".into()));
    let names: Vec<_> = spot.trail.iter().map(|step| step.name.clone()).collect();
    assert_eq!(names, ["", "src"]);
}

/// Reads a path again and again while it is swapped for a link, and once more when that is over.
fn read_often(ground: &Ground, names: &str, here: &Path) {
    while_swapping(here, &ground.path("w/way-out"), || {
        let races = campaign::times(20_000, 200_000, 2_000_000);
        campaign::figure("reads while a directory became a link", races);
        for _ in 0..races {
            match ground.read(names) {
                Ok(text) => assert_eq!(text, "inside"),
                Err(
                    Trouble::Outside | Trouble::Changed | Trouble::Os(Errno::NOENT | Errno::NOTDIR),
                ) => {}
                Err(trouble) => panic!("{trouble:?}"),
            }
        }
    });
    assert_eq!(ground.read(names).as_deref(), Ok("inside"));
}

#[test]
fn a_directory_that_keeps_becoming_a_link_never_leads_out() {
    let ground = Ground::new();
    let here = ground.path("w/swap");
    fs::create_dir(&here).unwrap();
    fs::write(here.join("secret"), "inside").unwrap();
    ground.link("../out", "way-out");
    read_often(&ground, "swap/secret", &here);
}

#[test]
fn a_file_that_keeps_becoming_a_link_never_leads_out() {
    let ground = Ground::new();
    let here = ground.path("w/file");
    fs::write(&here, "inside").unwrap();
    ground.link("../out/secret", "way-out");
    read_often(&ground, "file", &here);
}
