//! Attaching a machine to a session: one at a time, after it was activated and could read its slot.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use stud_abi::CallContext;
use stud_contract_meta::{Error, Kind, Phase, Result};
use stud_contract_state_machine::PhaseInput;
use stud_diagnostics::codes;
use stud_host_api::events::{SMAttached, SMDetached};
use stud_host_api::metrics::StateMachineSlice;

use crate::activate::{Active, Running};
use crate::did_you_mean::nearest;
use crate::executor;
use crate::ledger::closed;
use crate::provenance::told;
use crate::session::{Machine, NO_SLOT, Session, Slot, WorkflowProgress};
use crate::settings::{ActiveSettings, Settings};
use crate::timeout::with_timeout;
use crate::validate::Members;

/// How a session stands to its state machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineStatus {
    /// The machine that is attached.
    pub attached: Option<String>,
    /// `ready`, `running`, `cutOff`, `completed`, `failed` or `dropped`; nothing without a machine.
    pub state: Option<String>,
    /// The stage that runs.
    pub current_stage: Option<String>,
    /// The stages that led there, outermost first.
    pub stack: Vec<String>,
    /// The attempt at the stage, from 0, if a stage runs.
    pub turn_count: u64,
    /// How many requests the stage may take.
    pub turn_cap: Option<u64>,
    /// The stages it has.
    pub stages: Vec<String>,
    /// The machines that could be attached.
    pub known: Vec<String>,
}

/// How a session stands to its state machine.
pub fn status(session: &Session) -> MachineStatus {
    let machine = session.machine();
    let shown = session.metrics().snapshot().state_machine.clone();
    let shown = shown.unwrap_or_default();
    let state = match session.workflow_progress() {
        WorkflowProgress::Ready => "ready".to_owned(),
        WorkflowProgress::Running(walk)
            if !walk.entered.is_empty() && session.turn_id().is_none() =>
        {
            "cutOff".to_owned()
        }
        WorkflowProgress::Running(_) => "running".to_owned(),
        WorkflowProgress::Ended { status } => status,
    };
    MachineStatus {
        attached: machine.as_ref().map(|machine| machine.id().to_owned()),
        state: machine.as_ref().map(|_| state),
        current_stage: shown.current_stage,
        stack: shown.stack,
        turn_count: shown.turn_count,
        turn_cap: shown.turn_cap,
        stages: machine.map_or_else(Vec::new, |machine| {
            machine
                .stages
                .iter()
                .map(|stage| stage.id.clone())
                .collect()
        }),
        known: known(session),
    }
}

/// The ids of the machines that could be attached.
fn known(session: &Session) -> Vec<String> {
    let plugins = session.plugins();
    let machines = plugins.of_kind(Kind::StateMachine).into_iter();
    let mut ids: Vec<String> = machines
        .map(|machine| machine.identity().ext_id.as_str().to_owned())
        .collect();
    ids.sort_unstable();
    ids
}

/// Attaches a machine. The same one again changes nothing.
///
/// With `begins_by_itself` its workflow begins without an input.
///
/// # Errors
///
/// `Validation/SMAlreadyAttached` for another one, `Validation/ExtensionNotFound`, `ExtensionHost/LifecycleFailure` with
/// the phase, and what reading its slot fails with.
pub async fn attach(session: &Arc<Session>, id: &str, begins_by_itself: bool) -> Result<()> {
    if let Some(attached) = session.machine() {
        if attached.id() == id {
            return Ok(());
        }
        return Err(already_attached(attached.id(), id));
    }
    let machine = bring_up(session, id, false).await?;
    let progress = WorkflowProgress::Ready;
    session
        .seat_machine(Some(machine.machine.clone()), progress, begins_by_itself)
        .await?;
    machine.announce(session, false);
    Ok(())
}

/// Gives a resumed session the machine back that it was left with. Its workflow continues where it was.
async fn bring_back(session: &Arc<Session>, id: &str) -> Result<()> {
    let machine = bring_up(session, id, true).await?;
    session.reseat_machine(machine.machine.clone());
    machine.announce(session, true);
    Ok(())
}

/// Detaches the machine. Its workflow ends where it is.
///
/// Gives which one it was; nothing if there was none.
pub async fn detach(session: &Arc<Session>) -> Result<Option<String>> {
    let Some(machine) = session.machine() else {
        return Ok(None);
    };
    session
        .seat_machine(None, WorkflowProgress::Ready, false)
        .await?;
    let id = machine.id().to_owned();
    let correlation_id = session.correlation_id();
    let event = SMDetached { sm_id: id.clone() };
    let books = session.books();
    books.audit(
        "SMAttached",
        Some("SMDetached"),
        &correlation_id,
        json!(event),
    );
    books.publish(&correlation_id, &event);
    session
        .metrics()
        .update(|picture| picture.state_machine = None);
    if let Err(problem) = machine.plugin.step(Phase::Deactivate, session.limits()) {
        session.report(&problem);
    }
    Ok(Some(id))
}

/// Attaches the machine that a session begins with: the one it was left with, that of the command line, that of the
/// settings, or the one that attaches itself.
pub(crate) async fn choose(
    session: &Arc<Session>,
    settings: &Settings,
    asked_for: Option<&str>,
) -> Result<()> {
    if let Some(recorded) = session.machine_on_record() {
        let id = recorded.sm_ext_id.as_str();
        if session.plugins().get(id).is_some() {
            bring_back(session, id).await?;
        }
        return match asked_for {
            Some(asked) if asked != id => Err(already_attached(id, asked)),
            _ => Ok(()),
        };
    }
    if let Some(id) = asked_for {
        return attach(session, id, true).await;
    }
    if let Some(id) = ActiveSettings::of(settings).attached_state_machine.value {
        return attach(session, id, false).await;
    }
    let plugins = session.plugins();
    let mut willing = plugins
        .of_kind(Kind::StateMachine)
        .into_iter()
        .filter(|plugin| plugin.identity().setting("autoAttach") == Some(&Value::Bool(true)));
    let Some(first) = willing.next() else {
        return Ok(());
    };
    let first = first.identity().ext_id.as_str();
    if let Some(second) = willing.next() {
        return Err(already_attached(first, second.identity().ext_id.as_str()));
    }
    attach(session, first, false).await
}

/// The machine that is attached, as the session has it now: a reload puts another build in its place.
pub(super) fn current(session: &Session) -> Result<Arc<Machine>> {
    let machine = session.machine().ok_or_else(closed)?;
    let plugins = session.plugins();
    match plugins.get(machine.id()) {
        Some(plugin) if Arc::ptr_eq(plugin, &machine.plugin) => Ok(machine),
        Some(plugin) => {
            let machine = Arc::new(machine_of(plugin)?);
            session.reseat_machine(machine.clone());
            Ok(machine)
        }
        None => Err(unknown(machine.id(), &known(session))),
    }
}

/// A machine that is active and has its slot.
struct BroughtUp {
    machine: Arc<Machine>,
    saw_slot: bool,
}

async fn bring_up(session: &Arc<Session>, id: &str, resumed: bool) -> Result<BroughtUp> {
    let plugins = session.plugins();
    let plugin = plugins
        .get(id)
        .filter(|plugin| plugin.identity().kind == Kind::StateMachine);
    let Some(plugin) = plugin else {
        return Err(unknown(id, &known(session)));
    };
    let machine = machine_of(plugin)?;
    plugin
        .step(Phase::Activate, session.limits())
        .map_err(|problem| told(&problem))?;
    match deliver(session, plugin, resumed).await {
        Ok(saw_slot) => Ok(BroughtUp {
            machine: Arc::new(machine),
            saw_slot,
        }),
        Err(error) => {
            if let Err(problem) = plugin.step(Phase::Deactivate, session.limits()) {
                session.report(&problem);
            }
            Err(error)
        }
    }
}

fn machine_of(plugin: &Arc<Active>) -> Result<Machine> {
    let identity = plugin.identity();
    let Members::StateMachine(members) = &*identity.members else {
        return Err(plugin.lacks("phase"));
    };
    let entry = identity.setting("entry").and_then(Value::as_str);
    let entry = entry.unwrap_or(&members.entry_stage).to_owned();
    if members.stages.iter().all(|stage| stage.id != entry) {
        let code = &codes::STAGE_DEFINITION_INVALID;
        let ids: Vec<&str> = members.stages.iter().map(|stage| &*stage.id).collect();
        let message = format!(
            "the config of `{}` begins with the stage `{entry}`, and its stages are `{}`",
            identity.ext_id.as_str(),
            ids.join("`, `")
        );
        return Err(Error::new(code.class, code.name, message).with("entry", entry));
    }
    Ok(Machine {
        plugin: plugin.clone(),
        stages: members.stages.clone(),
        entry,
    })
}

/// The slot first, then `attach`, which may read it. Gives whether the slot holds something.
async fn deliver(session: &Arc<Session>, plugin: &Arc<Active>, resumed: bool) -> Result<bool> {
    let slot = Slot {
        session: session.clone(),
        owner: plugin.identity().clone(),
    };
    let id = plugin.identity().ext_id.as_str();
    let is_missing = slot.read()?.is_none();
    if resumed && is_missing {
        let recorded = session.machine_on_record();
        if recorded.is_some_and(|recorded| recorded.state_slot_ref != NO_SLOT) {
            let code = &codes::RESUME_MISMATCH;
            let message = format!("what the state machine `{id}` kept with this session is gone");
            return Err(Error::new(code.class, code.name, message).with("smId", id));
        }
    }
    call_attach(session, plugin).await?;
    Ok(!is_missing)
}

/// Lets the machine prepare. One that was built before there was such a call has nothing to say.
async fn call_attach(session: &Arc<Session>, plugin: &Arc<Active>) -> Result<()> {
    let id = plugin.identity().ext_id.as_str();
    let failed = |message: String| {
        let code = &codes::LIFECYCLE_FAILURE;
        Error::new(code.class, code.name, message)
            .with("smId", id)
            .with("phase", "attach")
    };
    let payload = serde_json::to_string(&PhaseInput::default()).unwrap_or_default();
    let called = plugin.clone();
    let calling = executor::spawn_future(async move {
        let Running::StateMachine(instance) = called.running() else {
            return Err(called.lacks("phase"));
        };
        let reply = instance
            .phase("attach", payload, CallContext::detached())
            .await;
        reply.map_err(|fault| called.blame("phase", fault))
    });
    let limit = session.limits().lifecycle;
    match with_timeout(&**session.timer(), limit, calling).await {
        None | Some(None) => Err(failed(format!(
            "`{id}` did not return from `attach` within {} ms",
            limit.as_millis()
        ))),
        Some(Some(Ok(_))) => Ok(()),
        Some(Some(Err(error)))
            if error.is(codes::NOT_IMPLEMENTED.class, codes::NOT_IMPLEMENTED.name) =>
        {
            Ok(())
        }
        Some(Some(Err(error))) => {
            let cause = format!("{}/{}", error.class(), error.code());
            let message = format!("`attach` of `{id}` failed: {}", error.message());
            Err(failed(message).with("cause", cause))
        }
    }
}

impl BroughtUp {
    fn announce(&self, session: &Session, resumed: bool) {
        let event = SMAttached {
            resumed,
            saw_slot: self.saw_slot,
            sm_id: self.machine.id().to_owned(),
        };
        let correlation_id = session.correlation_id();
        let books = session.books();
        books.audit(
            "SMAttached",
            Some("SMAttached"),
            &correlation_id,
            json!(event),
        );
        books.publish(&correlation_id, &event);
        session.metrics().update(|picture| {
            picture.state_machine = Some(StateMachineSlice {
                id: self.machine.id().to_owned(),
                attached: true,
                ..StateMachineSlice::default()
            });
        });
    }
}

fn already_attached(attached: &str, asked: &str) -> Error {
    let code = &codes::SM_ALREADY_ATTACHED;
    let message = format!(
        "the state machine `{attached}` is attached, and `{asked}` cannot be attached beside it"
    );
    Error::new(code.class, code.name, message)
        .with("attached", attached)
        .with("requested", asked)
}

fn unknown(id: &str, known: &[String]) -> Error {
    let code = &codes::EXTENSION_NOT_FOUND;
    let near = match nearest(id, known.iter().map(String::as_str)) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    let there = match known {
        [] => "no state machine is installed".to_owned(),
        known => format!("there are `{}`", known.join("`, `")),
    };
    let message = format!("there is no state machine `{id}`{near} ({there})");
    Error::new(code.class, code.name, message)
        .with("extId", id)
        .with("known", known.to_vec())
}
