//! The control socket of a process that runs one session.

use std::sync::Arc;

use stud_control::{ControlServer, OneSession, Policy, Receiver, RunDir, SocketName};
use stud_core::environment::Environment;
use stud_core::launch::Launched;

use crate::output::Output;

/// Listens for other processes of this user. Without the socket the session continues, and the person is told.
pub(super) fn listen(
    policy: Policy,
    launched: &Launched,
    ground: &Environment,
    output: &Output,
) -> Option<ControlServer> {
    if !policy.enabled {
        return None;
    }
    let global_root = &ground.places.global_root;
    let sessions = OneSession::new(&launched.session, launched.reloader(ground));
    let receiver = Receiver::new(policy, Arc::new(sessions), global_root.clone());
    match ControlServer::start(receiver, &RunDir::of(global_root), SocketName::Process) {
        Ok(server) => Some(server),
        Err(problem) => {
            let problem = problem.downgraded();
            output.warn(&problem);
            None
        }
    }
}
