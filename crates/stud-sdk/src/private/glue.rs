//! Between a table and an author's type: the instance, its life, its way to the host.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use stud_abi::{CallContext, Export, Fault, HostHandle};
use stud_contract_meta::{Error, Phase, Result};
use stud_host_api::{BoxFuture, Cx, Host};

use super::fault::Reply;
use super::life::{self, Stage};
use super::log::Log;
use super::plugin::Plugin;
use super::runtime;

/// What the host holds for one session.
pub struct Glue<P> {
    host: Host,
    state: Mutex<State<P>>,
    /// The instance once more, where calls find it without a lock.
    made: OnceLock<Weak<P>>,
    disposed: AtomicBool,
    log: Log,
}

struct State<P> {
    stage: Stage,
    instance: Option<Arc<P>>,
}

impl<P: Plugin> Export for Glue<P> {
    const HANDLERS: &'static [&'static str] = P::HANDLERS;

    fn create(host: HostHandle) -> Reply<Self> {
        Ok(Self {
            host: Host::connect(host),
            state: Mutex::new(State {
                stage: Stage::Created,
                instance: None,
            }),
            made: OnceLock::new(),
            disposed: AtomicBool::new(false),
            log: Log::default(),
        })
    }

    fn lifecycle(
        self: Arc<Self>,
        phase: String,
        config: String,
        _cx: CallContext,
    ) -> impl Future<Output = Reply<String>> + Send + 'static {
        if phase == Phase::Init.as_str() {
            self.log.connect(&self.host);
        }
        answer(self.log(), async move {
            self.run_phase(life::phase(&phase)?, config).await?;
            Ok("null".to_owned())
        })
    }
}

impl<P: Plugin> Glue<P> {
    /// The instance, for a call to `handler`.
    pub(crate) fn instance(&self, handler: &str) -> Result<Arc<P>> {
        let made = self.made.get();
        // A call that is still going on keeps the instance, and after `dispose` no other may begin.
        let alive = made.filter(|_| !self.disposed.load(Ordering::Acquire));
        alive
            .and_then(Weak::upgrade)
            .ok_or_else(|| self.refuse(handler))
    }

    #[cold]
    fn refuse(&self, handler: &str) -> Error {
        self.lock().stage.refuse(handler)
    }

    /// Where what is said in a call goes.
    pub(crate) fn log(&self) -> Log {
        self.log.clone()
    }

    /// What an author is told about a call.
    pub(crate) fn cx(&self, call: CallContext) -> Cx {
        let ids = serde_json::from_str(call.ids()).unwrap_or_default();
        Cx::new(self.host.clone(), call.cancellation().clone(), ids)
    }

    fn lock(&self) -> MutexGuard<'_, State<P>> {
        // A phase that panicked has put the former stage back, so the state is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn run_phase(&self, phase: Phase, config: String) -> Result<()> {
        let change = self.begin(phase)?;
        match (phase, &change.instance) {
            (Phase::Init, _) => {
                let made = Arc::new(P::init(self.host.clone(), config).await?);
                // `init` succeeds once, so this is the first.
                let _ = self.made.set(Arc::downgrade(&made));
                self.lock().instance = Some(made);
            }
            (Phase::Activate, Some(instance)) => instance.activate().await?,
            (Phase::Deactivate, Some(instance)) => instance.deactivate().await?,
            (Phase::Dispose, Some(instance)) => {
                // It is gone whatever it says: a second call must find nothing left to do.
                let said = instance.dispose().await;
                self.disposed.store(true, Ordering::Release);
                self.lock().instance = None;
                change.finish();
                return said;
            }
            (_, None) => {}
        }
        change.finish();
        Ok(())
    }

    fn begin(&self, phase: Phase) -> Result<Change<'_, P>> {
        let mut state = self.lock();
        let after = state.stage.after(phase)?;
        let before = std::mem::replace(&mut state.stage, Stage::Changing);
        Ok(Change {
            glue: self,
            instance: state.instance.clone(),
            leads_to: before,
            after,
        })
    }
}

/// A phase that is running. Dropped before its end, it leaves the stage as it was.
struct Change<'a, P: Plugin> {
    glue: &'a Glue<P>,
    instance: Option<Arc<P>>,
    leads_to: Stage,
    after: Stage,
}

impl<P: Plugin> Change<'_, P> {
    fn finish(mut self) {
        self.leads_to = self.after;
    }
}

impl<P: Plugin> Drop for Change<'_, P> {
    fn drop(&mut self) {
        self.glue.lock().stage = self.leads_to;
    }
}

impl<P> Drop for Glue<P> {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        let instance = state.instance.take();
        runtime::within(&self.log, || drop(instance));
    }
}

impl<P> std::fmt::Debug for Glue<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Glue").finish_non_exhaustive()
    }
}

/// A call's future, run where an author's code may run, its error on the way to the host.
pub(crate) fn answer<T: Send + 'static>(
    log: Log,
    call: impl Future<Output = Result<T>> + Send + 'static,
) -> BoxFuture<'static, Reply<T>> {
    runtime::future(
        log,
        Box::pin(async move { call.await.map_err(Fault::from) }),
    )
}
