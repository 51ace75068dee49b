//! Notes how this crate is built: a plugin's manifest says it, and the host compares.
#![expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script everything through the environment"
)]
#![forbid(unsafe_code)]

use std::process::Command;

fn main() {
    let target = std::env::var("TARGET").unwrap_or_default();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    // `rustc 1.95.0 (59807616e 2026-04-14)`: the second word is what people compare.
    let version = version.split_whitespace().nth(1).unwrap_or("unknown");
    println!("cargo::rustc-env=STUD_TARGET={target}");
    println!("cargo::rustc-env=STUD_RUSTC={version}");
    println!("cargo::rerun-if-changed=build.rs");
}
