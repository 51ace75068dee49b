//! From a folder of plugins to a registry, at growing numbers.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use stud_core::activate::Means;
use stud_core::discover::discover;
use stud_core::ground::Ground;
use stud_core::host::DetachedHosts;
use stud_core::inspect::inspect;
use stud_core::platform::Places;
use stud_core::startup::{Started, start};
use stud_core::validate::validate;
use stud_core::watch::Limits;
use stud_tests::{Elf, fixture};
use tempfile::TempDir;

use crate::measure::once;
use crate::table::Row;

/// A home with plugins in it.
pub(crate) struct Home {
    root: PathBuf,
    _folder: Option<TempDir>,
}

impl Home {
    /// The named plugins as they were built.
    pub(crate) fn with(packages: &[(&str, &str)]) -> Self {
        let home = Self::empty();
        for (kind, package) in packages {
            home.put(kind, package, &Elf::read(&fixture(package)).bytes);
        }
        home
    }

    /// So many tools, each with an id and a tool name of its own.
    fn of(count: usize, library: &Path) -> Self {
        let home = Self::empty();
        let original = Elf::read(library);
        for index in 0..count {
            let id = format!("tool-{index:03}");
            let library = original.clone().with_manifest(|manifest| {
                manifest["extId"] = id.as_str().into();
                manifest["tools"][0]["name"] = format!("repeat_{index}").into();
            });
            home.put("tools", &id, &library.bytes);
        }
        home
    }

    fn empty() -> Self {
        match tempfile::tempdir() {
            Ok(folder) => Self {
                root: folder.path().to_owned(),
                _folder: Some(folder),
            },
            Err(error) => fail(&error.to_string()),
        }
    }

    fn put(&self, kind: &str, id: &str, bytes: &[u8]) {
        let folder = self.root.join(kind).join(id);
        let written = std::fs::create_dir_all(&folder).and_then(|()| {
            std::fs::write(
                folder.join(format!("lib{}.so", id.replace('-', "_"))),
                bytes,
            )
        });
        if let Err(error) = written {
            fail(&error.to_string());
        }
    }

    fn ground(&self) -> Ground {
        let places = Places {
            global_root: self.root.clone(),
            project_root: self.root.join("no-project"),
        };
        match Ground::survey(places, Vec::new()) {
            Ok(ground) => ground,
            Err(why) => fail(&why.to_string()),
        }
    }

    pub(crate) fn start(&self) -> Started {
        let ground = self.ground();
        let means = Means {
            hosts: Arc::new(DetachedHosts::new(&ground)),
            limits: Limits::default(),
        };
        start(&ground, &means)
    }
}

#[expect(
    clippy::panic,
    reason = "a benchmark that cannot set itself up must say so and end"
)]
fn fail(why: &str) -> ! {
    panic!("{why}")
}

pub(crate) fn rows(library: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut growth = Vec::new();
    for count in [10, 50, 100, 200] {
        let home = Home::of(count, library);
        let judged = (0..5).map(|_| judge(&home)).fold(f64::INFINITY, f64::min);
        // The first start fills the cache; the ones after it are what a person waits for every time.
        let first = start_elsewhere(&home, count);
        let later = (0..5)
            .map(|_| start_elsewhere(&home, count))
            .fold(f64::INFINITY, f64::min);
        growth.push(format!("{count}: {later:.2} ms"));
        if count == 100 {
            rows.push(Row::limit(
                "inspect + validate, per plugin of 100",
                judged / 100.0,
                0.3,
                "ms",
            ));
            rows.push(Row::limit(
                "everything to active, per plugin of 100",
                later,
                1.5,
                "ms",
            ));
            rows.push(Row::fact(
                "the same, the first time these libraries are seen",
                format!("{first:.2} ms"),
            ));
        }
    }
    rows.push(Row::fact(
        "everything to active, per plugin, as the number grows",
        growth.join(", "),
    ));
    rows
}

/// Starts everything below `root` and prints how many milliseconds each plugin took.
pub(crate) fn start_here(root: &str, count: &str) -> ExitCode {
    let home = Home {
        root: root.into(),
        _folder: None,
    };
    let (started, took) = once(|| home.start());
    let count: u32 = count.parse().unwrap_or(0);
    let active = started.registry.iter().count();
    println!("{}", took.as_secs_f64() * 1000.0 / f64::from(count));
    if active == count as usize {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Milliseconds per plugin in a process of its own: a library this one has open would cost nothing.
fn start_elsewhere(home: &Home, count: usize) -> f64 {
    let program = std::env::current_exe().unwrap_or_default();
    let output = Command::new(program)
        .arg("start")
        .arg(&home.root)
        .arg(count.to_string())
        .output();
    match output {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout)
            .trim()
            .parse()
            .unwrap_or(f64::INFINITY),
        other => fail(&format!(
            "not every plugin of the benchmark loaded: {other:?}"
        )),
    }
}

/// Milliseconds to inspect and validate everything in a home.
fn judge(home: &Home) -> f64 {
    let ground = home.ground();
    let ((), took) = once(|| {
        for found in discover(&ground).found {
            let validated = inspect(found).map(|inspected| validate(inspected, &ground.settings));
            assert!(
                matches!(validated, Ok(Ok(_))),
                "every plugin of the benchmark must pass"
            );
        }
    });
    took.as_secs_f64() * 1000.0
}
