//! The browser for the tests of the page, and the checker of its accessibility.
//!
//! Where they are not there and cannot be installed, those tests say `NOT TESTED`.

use std::path::Path;
use std::process::{Command, Stdio};

/// The packages of Debian that hold the browser and its driver.
const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];

/// Where the driver lies then.
const DRIVER: &str = "/usr/bin/chromedriver";

/// The checker from npm, and its file.
const AXE: (&str, &str) = ("axe-core@4.11.0", "node_modules/axe-core/axe.min.js");

/// Installs what is not there yet and may be installed.
pub(crate) fn install(target: &Path) {
    if !Path::new(DRIVER).exists() {
        // A new machine has no list of packages yet, or an old one.
        runs(Command::new("apt-get").arg("update"));
        let mut apt = Command::new("apt-get");
        apt.args(["install", "--yes", "--no-install-recommends"])
            .args(PACKAGES);
        if !runs(&mut apt) {
            println!(
                "NOT TESTED: the page, because `chromium` and `chromium-driver` cannot be installed here"
            );
        }
    }
    let folder = target.join("axe");
    let (package, file) = AXE;
    if folder.join(file).exists() || std::fs::create_dir_all(&folder).is_err() {
        return;
    }
    let mut npm = Command::new("npm");
    npm.args([
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--prefix",
        ".",
    ])
    .args(["--fetch-retries=0", "--fetch-timeout=20000", package])
    .current_dir(&folder);
    if !runs(&mut npm) {
        println!("NOT TESTED: accessibility, because `{package}` cannot be installed here");
    }
}

fn runs(command: &mut Command) -> bool {
    let done = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    done.is_ok_and(|status| status.success())
}
