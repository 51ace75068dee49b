//! The sessions of one server: those that run here, and those that are kept in the store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use serde_json::Value;
use stud_contract_meta::Error;
use stud_core::environment::{EmbeddedPlugin, Environment};
use stud_core::events::{Event, Service, Subscriber};
use stud_core::identity::Identity;
use stud_core::launch::{Launch, LaunchObserver, Resume, launch_with};
use stud_core::limits::Limits;
use stud_core::mcp::Connector;
use stud_core::platform::Places;
use stud_core::session::{Session, archive};
use stud_core::startup;
use stud_core::stored_sessions::StoredSessions;
use stud_diagnostics::Diagnostic;
use stud_host_api::HostApi;
use tokio::runtime::Handle;

use crate::event_log::EventLog;
use crate::frame::Create;
use crate::live_session::{Life, LiveSession};
use crate::refusal::Refusal;

/// What every session begins with.
pub struct Ground {
    /// Where things are.
    pub places: Places,
    /// The plugins that the program carries.
    pub bundled: Vec<EmbeddedPlugin>,
    /// The ids of plugins that need a terminal.
    pub left_out: &'static [&'static str],
    /// Speaks to MCP servers.
    pub connector: Arc<dyn Connector>,
}

/// The sessions of a server.
pub struct Hosting {
    ground: Ground,
    /// Whether a person who types something leaves the prompts of tools.
    cancel_on_text: bool,
    live: Mutex<BTreeMap<String, Arc<LiveSession>>>,
    /// Held while a session opens or ends, so that no session is opened twice.
    changing: tokio::sync::Mutex<()>,
    runtime: Handle,
}

impl Hosting {
    pub(crate) fn new(ground: Ground, cancel_on_text: bool) -> Arc<Self> {
        Arc::new(Self {
            ground,
            cancel_on_text,
            live: Mutex::default(),
            changing: tokio::sync::Mutex::default(),
            runtime: Handle::current(),
        })
    }

    pub(crate) fn cancels_on_text(&self) -> bool {
        self.cancel_on_text
    }

    /// A session that runs here.
    pub fn session(&self, session_id: &str) -> Option<Arc<Session>> {
        self.live(session_id).ok().map(|live| live.session.clone())
    }

    /// Loads what is now in the place of a plugin of a session that runs here; nothing if it does not.
    pub fn reload(&self, session_id: &str, ext_id: &str) -> Option<Result<Value, Error>> {
        let live = self.sessions().get(session_id).cloned();
        live.map(|live| live.reload(ext_id))
    }

    /// The host in a session for a plugin whose instance runs in another process. A session that is kept and does not
    /// run is opened.
    ///
    /// It waits for the session to open, so it is not for threads of the server.
    pub fn host_elsewhere(
        self: &Arc<Self>,
        session_id: &str,
        plugin: &Arc<Identity>,
    ) -> Result<(Arc<Session>, Arc<dyn HostApi>), String> {
        let create = Create {
            session_id: Some(session_id.to_owned()),
            mode: None,
            cwd: None,
        };
        let opened = self.runtime.block_on(self.create(create));
        let live = opened.map_err(|refusal| refusal.message)?;
        Ok((live.session.clone(), live.hosts().host_for(plugin)))
    }

    /// The store of all sessions, without any of them.
    pub fn store(&self) -> Result<StoredSessions, Diagnostic> {
        let bundled = self.ground.bundled.clone();
        let ground = Environment::survey(self.ground.places.clone(), bundled)?;
        let ground = ground.leaving_out(self.ground.left_out);
        StoredSessions::open(&ground, &Limits::default())
    }

    /// The ids of the sessions that run here.
    pub fn running(&self) -> Vec<String> {
        self.sessions().keys().cloned().collect()
    }

    pub(crate) fn live(&self, session_id: &str) -> Result<Arc<LiveSession>, Refusal> {
        let live = self.sessions().get(session_id).cloned();
        live.ok_or_else(|| {
            Refusal::invalid_session(session_id, "no session of this id is open here")
        })
    }

    /// Begins a session, or opens one that was closed.
    pub(crate) async fn create(
        self: &Arc<Self>,
        create: Create,
    ) -> Result<Arc<LiveSession>, Refusal> {
        let _alone = self.changing.lock().await;
        if let Some(id) = &create.session_id
            && let Ok(live) = self.live(id)
        {
            return Ok(live);
        }
        let hosting = self.clone();
        let opened = tokio::task::spawn_blocking(move || hosting.open(create)).await;
        let live = opened.map_err(|error| internal(&error))??;
        tokio::spawn(live.clone().answer_inputs());
        Ok(live)
    }

    fn open(self: &Arc<Self>, create: Create) -> Result<Arc<LiveSession>, Refusal> {
        let (ground, resume) = match create.session_id {
            Some(id) => (self.ground_of(&id)?, Some(Resume::Session(id))),
            None => (self.ground_at(create.cwd.as_deref())?, None),
        };
        let limits = Limits::default();
        let plugins = startup::prepare(&ground, &limits);
        let how = Launch {
            mode: create.mode.filter(|_| resume.is_none()),
            resume,
            limits,
            connector: Some(self.ground.connector.clone()),
            ..Launch::default()
        };
        let log = Mutex::new(None);
        let opened = |session: &Arc<Session>| {
            let followed = EventLog::follow(session.id(), &session.books().ledger);
            *lock(&log) = Some(followed);
        };
        let onlooker = LaunchObserver {
            opened: &opened,
            ..LaunchObserver::default()
        };
        let launched = launch_with(&ground, &plugins, &how, &onlooker)?;
        let session = launched.session.clone();
        let log = lock(&log).take();
        let log = log.ok_or_else(|| Refusal::new("internal_error", "the session never opened"))?;
        log.load(&session.books().ledger)?;
        let live = LiveSession::new(&launched, &ground, log);
        let exit = Arc::new(ExitRequests {
            hosting: Arc::downgrade(self),
            session_id: session.id().to_owned(),
            runtime: Handle::current(),
        });
        session.books().bus.subscribe(exit, Service::Shared);
        self.sessions()
            .insert(session.id().to_owned(), live.clone());
        Ok(live)
    }

    /// Ends a session that runs here. It can be opened again.
    pub(crate) async fn close(&self, session_id: &str, patience: Duration) -> Result<(), Refusal> {
        let _alone = self.changing.lock().await;
        self.close_alone(session_id, patience).await
    }

    async fn close_alone(&self, session_id: &str, patience: Duration) -> Result<(), Refusal> {
        let live = self.live(session_id)?;
        let ended = live.end(patience).await;
        self.sessions().remove(session_id);
        live.set_life(Life::Closed);
        ended.map_err(Refusal::from)
    }

    /// Removes a session for good, whether it runs here or not.
    pub(crate) async fn delete(self: &Arc<Self>, session_id: &str) -> Result<(), Refusal> {
        let _alone = self.changing.lock().await;
        let live = self.live(session_id).ok();
        if let Some(live) = &live {
            // What could not be saved is not wanted.
            let _ = live.end(Duration::ZERO).await;
            self.sessions().remove(session_id);
        }
        let (hosting, id) = (self.clone(), session_id.to_owned());
        let was_open = live.is_some();
        let removed = tokio::task::spawn_blocking(move || hosting.remove(&id, was_open)).await;
        let removed = removed.unwrap_or_else(|error| Err(internal(&error)));
        if let Some(live) = live {
            live.set_life(if removed.is_ok() {
                Life::Deleted
            } else {
                Life::Closed
            });
        }
        removed
    }

    /// Ends every session, each after its turn has ended if that does not take longer than `patience`.
    pub(crate) async fn close_all(self: &Arc<Self>, patience: Duration) {
        let _alone = self.changing.lock().await;
        let live: Vec<_> = std::mem::take(&mut *self.sessions())
            .into_values()
            .collect();
        let ending = live.into_iter().map(|live| async move {
            if let Err(error) = live.end(patience).await {
                tell(live.id(), &error);
            }
            live.set_life(Life::Closed);
        });
        futures_util::future::join_all(ending).await;
    }

    /// Where a new session begins.
    pub(crate) fn ground_at(&self, cwd: Option<&str>) -> Result<Environment, Refusal> {
        let mut places = self.ground.places.clone();
        if let Some(cwd) = cwd {
            let folder = Path::new(cwd);
            if !folder.is_absolute() || !folder.is_dir() {
                let message = "`cwd` has to be the absolute path of a folder";
                return Err(Refusal::invalid_frame(message).with("field", "cwd"));
            }
            places.project_root = folder.join(".stud");
        }
        self.survey(places)
    }

    /// Where a stored session resumes: the project it started in.
    fn ground_of(&self, session_id: &str) -> Result<Environment, Refusal> {
        let recorded = {
            let stored = self.stored()?;
            let known = stored.store().list()?;
            if !known.iter().any(|known| known == session_id) {
                let message = "there is no session of this id";
                return Err(Refusal::invalid_session(session_id, message));
            }
            archive::project_root(session_id, &**stored.store())?
        };
        let mut places = self.ground.places.clone();
        if recorded.is_absolute() && recorded.ends_with(".stud") {
            places.project_root = recorded;
        }
        self.survey(places)
    }

    fn survey(&self, places: Places) -> Result<Environment, Refusal> {
        let bundled = self.ground.bundled.clone();
        let ground = Environment::survey(places, bundled)?;
        Ok(ground.leaving_out(self.ground.left_out))
    }

    /// The store, without any session.
    pub(crate) fn stored(&self) -> Result<StoredSessions, Refusal> {
        Ok(self.store()?)
    }

    /// Where audit trails are kept.
    pub(crate) fn trails(&self) -> PathBuf {
        self.ground.places.global_root.join("sessions")
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<String, Arc<LiveSession>>> {
        lock(&self.live)
    }

    /// Removes what is kept of a session.
    fn remove(&self, session_id: &str, was_open: bool) -> Result<(), Refusal> {
        let stored = self.stored()?;
        let known = stored.store().list()?;
        if known.iter().any(|known| known == session_id) {
            return Ok(stored.remove(session_id)?);
        }
        if was_open {
            // A session in which nothing was said is kept nowhere.
            return Ok(());
        }
        let message = "there is no session of this id";
        Err(Refusal::invalid_session(session_id, message))
    }
}

impl std::fmt::Debug for Hosting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hosting")
            .field("running", &self.running())
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Ground {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ground")
            .field("places", &self.places)
            .finish_non_exhaustive()
    }
}

/// Closes a session whose person asked for its end, such as with `/exit`.
struct ExitRequests {
    hosting: Weak<Hosting>,
    session_id: String,
    runtime: Handle,
}

impl Subscriber for ExitRequests {
    fn ext_id(&self) -> &'static str {
        "stud"
    }

    fn hears(&self, name: &str) -> bool {
        name == "SessionExitRequested"
    }

    fn hear(&self, event: &Event) -> Result<(), Error> {
        if let Some(hosting) = self.hosting.upgrade()
            && &*event.name == "SessionExitRequested"
        {
            let id = self.session_id.clone();
            self.runtime.spawn(async move {
                // It may have been closed meanwhile.
                let _ = hosting.close(&id, Duration::from_secs(5)).await;
            });
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn internal(error: &impl std::fmt::Display) -> Refusal {
    Refusal::new("internal_error", error.to_string())
}

/// Tells the operator that a session could not be saved.
fn tell(session_id: &str, error: &Error) {
    use std::io::Write as _;
    let line = format!(
        "the session {session_id} could not be closed: {} ({}/{})",
        error.message(),
        error.class(),
        error.code()
    );
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
