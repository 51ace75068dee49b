use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, Mode, mkfifoat};
use stud_sdk::host::cancellation::Scope;
use stud_sdk::testing::FakeHost;
use tempfile::TempDir;

use super::*;

fn ground() -> (TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(folder.path(), None, Path::new("/nowhere"));
    (folder, workspace)
}

fn open(workspace: &Workspace, path: &str) -> Result<Contents> {
    workspace.open(&workspace.place(path).unwrap())
}

fn excerpt(bytes: &[u8], most: usize) -> Result<Excerpt> {
    let (folder, workspace) = ground();
    fs::write(folder.path().join("f"), bytes).unwrap();
    open(&workspace, "f")?.excerpt(most, &FakeHost::new().cx())
}

fn whole(bytes: &[u8], most: u64) -> Result<String> {
    let (folder, workspace) = ground();
    fs::write(folder.path().join("f"), bytes).unwrap();
    open(&workspace, "f")?.whole(most, &FakeHost::new().cx())
}

#[test]
fn a_text_is_read_as_it_is() {
    for text in [
        "",
        "a",
        "no end",
        "a\r\nb\r\n",
        "\u{feff}bom",
        "\0",
        &"é€😀".repeat(50_000),
    ] {
        let read = excerpt(text.as_bytes(), 1 << 20).unwrap();
        assert!(read.text == text && !read.truncated, "{}", text.len());
        assert_eq!(read.size, text.len() as u64);
        assert!(whole(text.as_bytes(), 1 << 20).unwrap() == text);
    }
}

#[test]
fn a_long_text_is_cut_between_characters() {
    let text = "é".repeat(100_000);
    for (most, kept) in [
        (0, 0),
        (1, 0),
        (2, 2),
        (3, 2),
        (65_537, 65_536),
        (199_999, 199_998),
    ] {
        let read = excerpt(text.as_bytes(), most).unwrap();
        assert!(read.truncated);
        assert_eq!((read.text.len(), read.size), (kept, 200_000), "{most}");
    }
    assert!(!excerpt(text.as_bytes(), 200_000).unwrap().truncated);
}

#[test]
fn what_is_no_text_is_found_after_the_cut_too() {
    let mut bytes = vec![b'a'; 200_000];
    bytes.push(0xff);
    let error = excerpt(&bytes, 10).unwrap_err();
    assert_eq!(
        (error.code(), &error.context()["byteOffset"]),
        ("OutputMalformed", &200_000.into())
    );
    let error = whole(&bytes, 1 << 20).unwrap_err();
    assert_eq!(
        (error.code(), &error.context()["byteOffset"]),
        ("OutputMalformed", &200_000.into())
    );
    assert_eq!(excerpt(b"ab\xc3", 2).unwrap_err().code(), "OutputMalformed");
}

#[test]
fn a_file_that_is_too_large_as_a_whole_is_refused() {
    let error = whole(&[b'a'; 11], 10).unwrap_err();
    assert_eq!(error.code(), "InputInvalid");
    assert_eq!(error.context()["sizeBytes"], 11);
    assert!(whole(&[b'a'; 10], 10).is_ok());
}

#[test]
fn a_file_of_terabytes_is_refused_at_once() {
    let (folder, workspace) = ground();
    let file = File::create(folder.path().join("huge")).unwrap();
    file.set_len(1 << 40).unwrap();
    let cx = FakeHost::new().cx();
    assert_eq!(
        open(&workspace, "huge")
            .unwrap()
            .excerpt(10, &cx)
            .unwrap_err()
            .code(),
        "InputInvalid"
    );
    assert_eq!(
        open(&workspace, "huge")
            .unwrap()
            .whole(10, &cx)
            .unwrap_err()
            .code(),
        "InputInvalid"
    );
}

#[test]
fn a_sparse_file_is_read_to_its_end() {
    let (folder, workspace) = ground();
    let file = File::create(folder.path().join("sparse")).unwrap();
    file.set_len(64 << 20).unwrap();
    let read = open(&workspace, "sparse")
        .unwrap()
        .excerpt(10, &FakeHost::new().cx())
        .unwrap();
    assert_eq!(
        (read.text.as_str(), read.size),
        ("\0\0\0\0\0\0\0\0\0\0", 64 << 20)
    );
}

#[test]
fn what_is_no_plain_file_is_refused_and_never_waited_for() {
    let (folder, workspace) = ground();
    fs::create_dir(folder.path().join("directory")).unwrap();
    mkfifoat(CWD, folder.path().join("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    let _socket = UnixListener::bind(folder.path().join("socket")).unwrap();
    for path in ["directory", "pipe", "socket", "."] {
        assert_eq!(
            open(&workspace, path).unwrap_err().code(),
            "InputInvalid",
            "{path}"
        );
    }
    let devices = Workspace::new(Path::new("/dev"), None, Path::new("/nowhere"));
    for path in ["null", "zero"] {
        assert_eq!(
            open(&devices, path).unwrap_err().code(),
            "InputInvalid",
            "{path}"
        );
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    let (folder, workspace) = ground();
    fs::write(folder.path().join("file"), "").unwrap();
    for path in ["none", "none/none", "file/none"] {
        assert_eq!(
            open(&workspace, path).unwrap_err().code(),
            "NotFound",
            "{path}"
        );
    }
}

#[test]
fn what_may_not_be_read_is_forbidden() {
    let (folder, workspace) = ground();
    let file = folder.path().join("locked");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    // Nothing is kept from the superuser.
    if File::open(&file).is_err() {
        assert_eq!(open(&workspace, "locked").unwrap_err().code(), "Forbidden");
    }
}

#[test]
fn reading_stops_when_it_is_called_off() {
    let (folder, workspace) = ground();
    fs::write(folder.path().join("f"), "text").unwrap();
    let host = FakeHost::new();
    let contents = || open(&workspace, "f").unwrap();
    let mut reader = contents().into_reader(&host.cx());
    host.cancel(Scope::Turn);
    let cx = host.cx();
    assert_eq!(
        contents().whole(10, &cx).unwrap_err().code(),
        "ToolCancelled"
    );
    assert_eq!(
        contents().excerpt(10, &cx).unwrap_err().code(),
        "ToolCancelled"
    );
    assert!(reader.read(&mut [0; 4]).is_err());
}
