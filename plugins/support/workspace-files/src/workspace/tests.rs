use stud_sdk::Class;

use super::*;

fn workspace() -> Workspace {
    Workspace::new(
        Path::new("/users/ada/site"),
        Some("/users/ada".into()),
        Path::new("/users/ada/.stud"),
    )
}

#[test]
fn every_way_to_write_a_place_gives_the_same_key() {
    for path in [
        "src/a.rs",
        "./src/a.rs",
        "src//a.rs",
        "src/./a.rs",
        "src/x/../a.rs",
        "x/../src/a.rs",
        "../site/src/a.rs",
        "/users/ada/site/src/a.rs",
        "/users/ada/../ada/site/src/a.rs",
        "~/site/src/a.rs",
        "~//site/src/a.rs",
        "src/a.rs/",
    ] {
        assert_eq!(workspace().file_key(path).unwrap(), "src", "{path}");
        assert_eq!(
            workspace().directory_key(path).unwrap(),
            "src/a.rs",
            "{path}"
        );
        assert_eq!(workspace().place(path).unwrap().key(), "src/a.rs", "{path}");
    }
}

#[test]
fn the_workspace_is_a_dot() {
    for path in [".", "./", "a/..", "/users/ada/site", "~/site"] {
        assert_eq!(workspace().directory_key(path).unwrap(), ".", "{path}");
        assert_eq!(workspace().file_key(path).unwrap(), ".", "{path}");
    }
    assert_eq!(workspace().file_key("a.rs").unwrap(), ".");
}

#[test]
fn what_is_outside_is_forbidden_and_has_no_key() {
    for path in [
        "..",
        "../x",
        "a/../../x",
        "a/b/../../../x",
        "/etc/passwd",
        "/",
        "/users/ada",
        "/users/ada/site2/x",
        "/users/ada/site/../x",
        "~",
        "~/x",
        "~/../bob",
        "../site2/a",
    ] {
        let error = workspace().place(path).unwrap_err();
        assert!(
            error.is(Class::ToolTerminal, "Forbidden"),
            "{path}: {error}"
        );
        assert_eq!(error.context()["path"], path);
        assert_eq!(error.context()["root"], "/users/ada/site");
        assert_eq!(workspace().file_key(path).unwrap_err(), error);
        assert_eq!(workspace().directory_key(path).unwrap_err(), error);
    }
}

#[test]
fn a_tilde_is_only_home_where_it_stands_alone() {
    assert_eq!(workspace().directory_key("~ada/x").unwrap(), "~ada/x");
    assert_eq!(workspace().directory_key("a/~").unwrap(), "a/~");
    assert_eq!(workspace().directory_key("./~").unwrap(), "~");
    let homeless = Workspace::new(Path::new("/w"), None, Path::new("/g"));
    assert_eq!(homeless.place("~/x").unwrap_err().code(), "InputInvalid");
}

#[test]
fn what_is_no_path_is_invalid() {
    let long = "a/".repeat(2049);
    for path in ["", "a\0b", "\0", &long] {
        assert_eq!(
            workspace().place(path).unwrap_err().code(),
            "InputInvalid",
            "{path:?}"
        );
        assert_eq!(
            workspace().file_key(path).unwrap_err().code(),
            "InputInvalid",
            "{path:?}"
        );
    }
    assert!(workspace().place(&"a/".repeat(2048)).is_ok());
}

#[test]
fn what_stud_keeps_is_forbidden() {
    for path in [
        ".stud",
        ".stud/settings.json",
        "a/../.stud/x",
        "a/.stud",
        "a/b/.STUD/x",
        ".STUD/x",
        "/users/ada/site/.stud",
    ] {
        let error = workspace().place(path).unwrap_err();
        assert!(
            error.is(Class::ToolTerminal, "Forbidden"),
            "{path}: {error}"
        );
        assert_eq!(error.context()["reason"], "private");
    }
    for path in [".studio", "a/.stud-x/y", "stud"] {
        assert!(workspace().place(path).is_ok(), "{path}");
    }
}

#[test]
fn directories_of_several_files_are_each_there_once() {
    let key = |paths: &[&str]| workspace().files_key(paths.iter().copied()).unwrap();
    assert_eq!(key(&["b/x", "a/y", "b/z"]), "a|b");
    assert_eq!(key(&["x"]), ".");
    assert_eq!(key(&["x", "a/b/c"]), ".|a/b");
    assert_eq!(key(&["a/x", "./a/../a/y"]), "a");
}

#[test]
fn a_bar_in_a_name_is_not_two_directories() {
    let key = |path: &str| workspace().files_key([path].into_iter()).unwrap();
    let names = [
        "a|b/x",
        "a%7Cb/x",
        "a%257Cb/x",
        "a%25b/x",
        "a%b/x",
        "a%2525b/x",
        "a/x",
    ];
    let keys: Vec<_> = names.iter().map(|name| key(name)).collect();
    assert_eq!(keys[0], "a%7Cb");
    assert_eq!(keys[4], "a%b");
    for (index, one) in keys.iter().enumerate() {
        assert!(!one.contains('|'), "{one}");
        assert!(!keys[..index].contains(one), "{one}");
    }
}

#[test]
fn a_workspace_that_is_reached_through_a_link_is_itself() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap().join("real");
    fs::create_dir(&real).unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let workspace = Workspace::new(&link, None, Path::new("/g"));
    for root in [&real, &link] {
        let path = root.join("src/a.rs");
        assert_eq!(workspace.file_key(path.to_str().unwrap()).unwrap(), "src");
    }
}
