//! A home and a project of their own, and the program run in them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::fixtures::stud_program;
use crate::neutral::neutral;

/// A place where nothing is shared with the machine or with other tests.
#[derive(Debug)]
pub struct World {
    folder: TempDir,
    env: Vec<(String, String)>,
}

/// What the program said.
#[derive(Debug)]
pub struct Answer {
    /// Its exit status.
    pub status: i32,
    /// What it wrote for programs or people.
    pub stdout: String,
    /// What it wrote on the side.
    pub stderr: String,
}

impl World {
    /// An empty home and an empty project.
    #[expect(clippy::new_without_default, reason = "making one touches the disk")]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| fail(&error.to_string()));
        let world = Self {
            folder,
            env: Vec::new(),
        };
        for path in [world.home(), world.project()] {
            std::fs::create_dir_all(path).unwrap_or_else(|error| fail(&error.to_string()));
        }
        world
    }

    /// A place in the world, such as `home/tools`.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Sets a variable for every run of the program.
    pub fn set(&mut self, variable: &str, value: &str) {
        self.env.push((variable.to_owned(), value.to_owned()));
    }

    /// The global root.
    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// The working directory.
    pub fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// Writes a file below the world's folder, making folders as needed.
    pub fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(path);
        let folder = path.parent().unwrap_or(Path::new("/"));
        // What a link leads to belongs to others too.
        if path.is_symlink() {
            let _ = std::fs::remove_file(&path);
        }
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, bytes))
            .unwrap_or_else(|error| fail(&format!("{}: {error}", path.display())));
        path
    }

    /// Puts a link to a file or folder of this machine below the world's folder, making folders as needed.
    pub fn link(&self, path: impl AsRef<Path>, target: &Path) {
        let path = self.path(path);
        let folder = path.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(folder)
            .and_then(|()| std::os::unix::fs::symlink(target, &path))
            .unwrap_or_else(|error| fail(&format!("{}: {error}", path.display())));
    }

    /// The program, ready to be given arguments.
    pub fn command(&self) -> Command {
        let mut command = Command::new(stud_program());
        command
            .env_clear()
            .env("STUD_HOME", self.home())
            .env("HOME", self.folder.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.env.iter().map(|(variable, value)| (variable, value)))
            .current_dir(self.project())
            .stdin(Stdio::null());
        command
    }

    /// Runs the program. What differs from run to run is written the same in what it said.
    pub fn stud(&self, arguments: &[&str]) -> Answer {
        let output = self
            .command()
            .args(arguments)
            .output()
            .unwrap_or_else(|error| fail(&error.to_string()));
        Answer {
            status: output.status.code().unwrap_or(-1),
            stdout: neutral(self.folder.path(), &output.stdout),
            stderr: neutral(self.folder.path(), &output.stderr),
        }
    }
}

impl Answer {
    /// Standard output as one JSON document.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| fail(&format!("{error} in {self:#?}")))
    }
}

#[expect(
    clippy::panic,
    reason = "a test that cannot set itself up must say so and end"
)]
pub(crate) fn fail(why: &str) -> ! {
    panic!("{why}")
}
