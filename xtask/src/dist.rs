//! `dist`: a reproducible archive of the program: man pages, completions, licences, a bill of materials, checksums.

mod sbom;
mod licences;
mod man;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::cargo;
use crate::failure::{Failure, Outcome};
use crate::workspace::Workspace;

/// Shells and the place of their completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/stud"),
    ("zsh", "share/zsh/site-functions/_stud"),
    ("fish", "share/fish/vendor_completions.d/stud.fish"),
];

/// Builds the program and packs the archive.
pub(crate) fn run(args: &[String]) -> Outcome {
    let release = match args {
        [] => true,
        [arg] if arg == "--debug" => false,
        _ => return Err(Failure::usage("usage: cargo xtask dist [--debug]")),
    };
    let workspace = Workspace::read()?;
    let root = &workspace.root;
    let mut build = vec!["--package", "stud", "--bin", "stud", "--locked"];
    build.extend(release.then_some("--release"));
    let program = cargo::build(root, &build)?
        .into_iter()
        .find_map(|artifact| artifact.executable)
        .ok_or_else(|| Failure::failed("cargo built no program for the package `stud`"))?;
    let metadata = metadata(root)?;
    let stud = workspace
        .packages
        .iter()
        .find(|package| package.name == "stud");
    let version = stud.map_or("0.0.0", |package| package.version.as_str());
    let name = format!("stud-{version}-{}", host(root)?);
    let dist = workspace.target_dir.join("dist");
    let folder = dist.join(&name);
    let _ = fs::remove_dir_all(&folder);

    put(&folder, "bin/stud", &read(&program)?)?;
    for file in ["README.md", "SECURITY.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        put(&folder, file, &read(&root.join(file))?)?;
    }
    for (shell, place) in COMPLETIONS {
        put(&folder, place, &said(&program, &["completions", shell])?)?;
    }
    for (page, text) in man::pages(version, |words| {
        let help: Vec<&str> = words.iter().copied().chain(["--help"]).collect();
        said(&program, &help).map(|text| String::from_utf8_lossy(&text).into_owned())
    })? {
        put(
            &folder,
            &format!("share/man/man1/{page}.1"),
            text.as_bytes(),
        )?;
    }
    let packages = sbom::packages(&metadata, "stud");
    for (place, bytes) in licences::collect(&packages) {
        put(&folder, &place, &bytes)?;
    }
    let bill = format!("{:#}\n", sbom::document(&packages, version));
    put(&folder, "sbom.cdx.json", bill.as_bytes())?;
    let archive = pack(&dist, &name, &commit_time(root))?;
    let sums = checksum(&dist, &archive)?;
    println!("{}\n{}", archive.display(), sums.display());
    Ok(())
}

/// What cargo knows of every package that is built.
fn metadata(root: &Path) -> Result<Value, Failure> {
    let output = cargo::cargo(root)
        .args(["metadata", "--locked", "--format-version", "1"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failure::failed(format!("cannot start cargo: {error}")))?;
    serde_json::from_slice(&output.stdout)
        .map_err(|error| Failure::failed(format!("`cargo metadata` printed no JSON: {error}")))
}

/// The platform the program is built for.
fn host(root: &Path) -> Result<String, Failure> {
    let said = output(Command::new("rustc").arg("-vV").current_dir(root))?;
    let said = String::from_utf8_lossy(&said).into_owned();
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| Failure::failed("`rustc -vV` names no host"))
}

/// The time of the commit, which every file of the archive gets.
fn commit_time(root: &Path) -> String {
    let mut git = Command::new("git");
    git.args(["log", "-1", "--format=%ct"]).current_dir(root);
    let said = output(&mut git).unwrap_or_default();
    let time = String::from_utf8_lossy(&said).trim().to_owned();
    if time.is_empty() {
        "0".to_owned()
    } else {
        time
    }
}

/// The same files give the same bytes: in order of their names, with one time, no owner, and no time in the compression.
fn pack(dist: &Path, name: &str, time: &str) -> Result<PathBuf, Failure> {
    let plain = dist.join(format!("{name}.tar"));
    let archive = dist.join(format!("{name}.tar.gz"));
    let _ = fs::remove_file(&archive);
    output(
        Command::new("tar")
            .args([
                "--sort=name",
                "--owner=0",
                "--group=0",
                "--numeric-owner",
                "--format=gnu",
            ])
            .arg("--mode=u+rw,go+r-w,a+X")
            .arg(format!("--mtime=@{time}"))
            .arg("-cf")
            .arg(&plain)
            .arg("-C")
            .arg(dist)
            .arg(name),
    )?;
    output(Command::new("gzip").args(["-n", "-9"]).arg(&plain))?;
    Ok(archive)
}

/// A file of checksums beside the archive, as `sha256sum -c` reads it.
fn checksum(dist: &Path, archive: &Path) -> Result<PathBuf, Failure> {
    let name = archive.file_name().unwrap_or_default();
    let sums = output(Command::new("sha256sum").arg(name).current_dir(dist))?;
    put(dist, "SHA256SUMS", &sums)?;
    Ok(dist.join("SHA256SUMS"))
}

fn said(program: &Path, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
    // The width of the help must not depend on the terminal.
    output(Command::new(program).args(arguments).env("COLUMNS", "100"))
}

fn output(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failure::failed(format!("cannot run {name}: {error}")))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(Failure::failed(format!("{name} failed: {}", output.status)))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path)
        .map_err(|error| Failure::failed(format!("cannot read {}: {error}", path.display())))
}

/// Writes a file below `folder`; a program may be executed.
fn put(folder: &Path, place: &str, bytes: &[u8]) -> Result<(), Failure> {
    let path = folder.join(place);
    let failed = |error: std::io::Error| {
        Failure::failed(format!("cannot write {}: {error}", path.display()))
    };
    if let Some(above) = path.parent() {
        fs::create_dir_all(above).map_err(failed)?;
    }
    fs::write(&path, bytes).map_err(failed)?;
    #[cfg(unix)]
    if place.starts_with("bin/") {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{pack, put, read};
    use crate::scratch::Scratch;

    #[test]
    fn the_same_files_give_the_same_archive() {
        let archives = [["a", "b"], ["b", "a"]].map(|order| {
            let scratch = Scratch::with(&[]);
            for name in order {
                put(
                    &scratch.path().join("stud-1"),
                    &format!("bin/{name}"),
                    name.as_bytes(),
                )
                .unwrap();
            }
            read(&pack(scratch.path(), "stud-1", "1700000000").unwrap()).unwrap()
        });
        assert_eq!(archives[0], archives[1]);
        assert!(archives[0].len() > 50);
    }
}
