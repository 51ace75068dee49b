//! `strace`, with which a test sees what the program asks of the system.

use std::process::{Command, Stdio};

/// Sees to it that `strace` is there, as far as that is possible without a prompt.
///
/// Where it cannot, the test that needs it fails and says so; everything else still runs.
pub(crate) fn provide() {
    if works("strace", "-V") || !works("apt-get", "--version") {
        return;
    }
    println!("strace is not installed; `apt-get install strace` is tried");
    for args in [&["update"][..], &["install", "--yes", "strace"]] {
        let status = Command::new("apt-get")
            .args(args)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        if !status.is_ok_and(|status| status.success()) {
            println!("`apt-get {}` failed", args.join(" "));
        }
    }
}

fn works(program: &str, flag: &str) -> bool {
    Command::new(program)
        .arg(flag)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
