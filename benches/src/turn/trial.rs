//! One run of a program: a home, a folder to work in, and what it took.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use stud_tests::target_folder;

use super::model::{Model, Script};
use crate::home::{Home, fail};

/// Who has the exchange with the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Stud,
    /// The least client.
    Floor,
}

/// What a run took, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    /// From start to end.
    pub(super) wall: f64,
    /// From a call of a tool to the request with its result, in the middle.
    pub(super) gap: f64,
}

/// Where runs take place. Sessions are kept, as they are for everyone.
pub(super) struct Trial {
    home: Home,
    place: Home,
    port: u16,
    stud: PathBuf,
}

impl Trial {
    pub(super) fn new(port: u16) -> Self {
        let (home, place) = (Home::empty(), Home::empty());
        let settings = json!({
            "active": {"provider": "openai-compatible"},
            "providers": {"openai-compatible": {
                "baseURL": format!("http://127.0.0.1:{port}/v1"),
                "apiKeyRef": {"kind": "env", "name": "BENCH_KEY"},
                "models": ["script"],
            }},
        });
        let written = std::fs::write(home.root().join("settings.json"), settings.to_string());
        let files = (0..64).map(|number| {
            let file = place.root().join(format!("file-{number:02}.txt"));
            std::fs::write(file, format!("line of file {number}\n"))
        });
        if let Err(error) = files.fold(written, Result::and) {
            fail(&error.to_string());
        }
        Self {
            home,
            place,
            port,
            stud: target_folder().with_file_name("release").join("stud"),
        }
    }

    /// Milliseconds until the program has said which it is.
    pub(super) fn version(&self) -> f64 {
        let mut command = self.command(Who::Stud);
        command.arg("--version");
        timed(&mut command)
    }

    /// Has one exchange.
    pub(super) fn run(&self, who: Who, model: &Model, script: &Script) -> Figures {
        model.follow(script);
        let wall = timed(self.command(who).args(self.arguments(who)));
        let gap = super::median(model.gaps());
        Figures { wall, gap }
    }

    /// The most memory the program had at any time of an exchange, in mebibytes.
    pub(super) fn peak_memory(&self, model: &Model, script: &Script) -> f64 {
        model.follow(script);
        let mut child = started(self.command(Who::Stud).args(self.arguments(Who::Stud)));
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0.0_f64;
        // The system says how much it was so far, and stops saying it when the process ends.
        while let Ok(None) = child.try_wait() {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
            peak = peak.max(kib.unwrap_or(0.0) / 1024.0);
            std::thread::sleep(Duration::from_micros(200));
        }
        peak
    }

    fn command(&self, who: Who) -> Command {
        let mut command = match who {
            Who::Stud => Command::new(&self.stud),
            Who::Floor => Command::new(std::env::current_exe().unwrap_or_default()),
        };
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("STUD_HOME", self.home.root())
            .env("BENCH_KEY", "a key of no service")
            .current_dir(self.place.root())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn arguments(&self, who: Who) -> Vec<String> {
        match who {
            Who::Stud => ["--headless", "--yolo", "go"].map(str::to_owned).into(),
            Who::Floor => vec!["floor".to_owned(), self.port.to_string()],
        }
    }
}

fn started(command: &mut Command) -> Child {
    command
        .spawn()
        .unwrap_or_else(|error| fail(&format!("{command:?}: {error}")))
}

fn timed(command: &mut Command) -> f64 {
    let began = Instant::now();
    match started(command).wait() {
        Ok(status) if status.success() => began.elapsed().as_secs_f64() * 1e3,
        ended => fail(&format!("{command:?}: {ended:?}")),
    }
}
