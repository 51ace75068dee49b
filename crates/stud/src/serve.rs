//! `stud serve`: sessions for browsers and programs.

mod control; // The control socket of the sessions that are served.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::json;
use stud_control::Policy;
use stud_core::plugin_scope::Scope;
use stud_core::settings::Settings;
use stud_diagnostics::{Diagnostic, codes};
use stud_gateway::{Ground, Listening, Options, serve};

use crate::bundled;
use crate::cli::Serve;
use crate::output::{Outcome, Output, Verdict};
use crate::setup;

pub(crate) fn run(arguments: &Serve, output: &Output) -> Verdict {
    let places = setup::places()?;
    let state_dir = arguments
        .state_dir
        .clone()
        .unwrap_or_else(|| places.global_root.clone());
    let state_dir = std::path::absolute(&state_dir).unwrap_or(state_dir);
    let control_socket = run_folder(&state_dir)?.join("control.sock");
    let mut settings = Settings::default();
    // A project has no say in who may type into sessions of others.
    settings.layer(Scope::Global, &places.global_root)?;
    let policy = Policy::of(&settings, &state_dir)?;
    let of_control = places.clone();
    let options = Options {
        listen: arguments.listen,
        token_file: arguments.token_file.clone(),
        tls: arguments.tls_cert.clone().zip(arguments.tls_key.clone()),
    };
    let ground = Ground {
        places,
        bundled: bundled::without_terminal(),
        left_out: bundled::FOR_TERMINALS,
        connector: Arc::new(stud_mcp::Client::default()),
    };
    serve(options, ground, |listening| {
        let control = control::listen(policy, listening, &of_control, &state_dir)?;
        announce(listening, &control_socket, arguments, output)?;
        Ok(control)
    })?;
    Ok(Outcome::Done)
}

/// Says where the server is, in one line.
fn announce(
    listening: &Listening,
    control_socket: &Path,
    arguments: &Serve,
    output: &Output,
) -> Result<(), Diagnostic> {
    let mut line = json!({
        "listening": listening.address,
        "controlSocket": control_socket,
    });
    if arguments.token_file.is_none() {
        line["token"] = listening.token.as_str().into();
    }
    let mut stdout = io::stdout().lock();
    let written = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    written.map_err(|error| {
        let message = format!("the address cannot be told: {error}");
        Diagnostic::error(&codes::STARTUP_FAILURE, message)
    })?;
    if arguments.open {
        open(listening, output);
    }
    Ok(())
}

/// The folder of the sockets of running processes, which is for its owner alone.
fn run_folder(state_dir: &Path) -> Result<PathBuf, Diagnostic> {
    let folder = state_dir.join("run");
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(&folder).map_err(|error| {
        let message = format!("the folder `{}` cannot be made: {error}", folder.display());
        Diagnostic::error(&codes::STARTUP_FAILURE, message)
    })?;
    Ok(folder)
}

/// Opens the page in the person's browser.
fn open(listening: &Listening, output: &Output) {
    // Other people of the machine may see the arguments of a program.
    let address = format!("{}/?token={}", listening.address, listening.ticket);
    let programs = if cfg!(target_os = "macos") {
        &["open"][..]
    } else {
        &["xdg-open", "sensible-browser", "x-www-browser"][..]
    };
    let opened = programs.iter().any(|program| {
        let mut browser = Command::new(program);
        browser
            .arg(&address)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        browser.spawn().is_ok()
    });
    if !opened {
        let message = "no browser could be started";
        let problem = Diagnostic::error(&codes::STARTUP_FAILURE, message).downgraded();
        output.warn(
            &problem.help("open the address that was printed, with the token after `/?token=`"),
        );
    }
}
