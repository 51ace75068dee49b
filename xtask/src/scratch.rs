//! A folder of its own for a test, gone when the test is over.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The folder; dropping it removes it.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// A new folder with these files in it.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("stud-xtask-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        for (file, text) in files {
            let file = path.join(file);
            let parent = file.parent().expect("the file is below the folder");
            std::fs::create_dir_all(parent).expect("a folder can be made");
            std::fs::write(file, text).expect("a file can be written");
        }
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path.join(file)).expect("the file was written")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left behind is in the system's temporary folder anyway.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
