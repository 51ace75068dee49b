//! A session in the test's own process.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use stud_core::assistant::{Answered, Model, answer};
use stud_core::environment::EmbeddedPlugin;
use stud_core::events::{Event, Service, Subscriber};
use stud_core::executor::block_on;
use stud_core::launch::{Launch, Launched, launch};
use stud_core::limits::Limits;
use stud_core::session::Session;
use stud_core::startup::prepare;

use crate::core::Core;
use crate::wait::eventually;
use crate::world::{World, fail};

/// A session, and what it stands on.
#[derive(Debug)]
pub struct Live {
    /// Where things are.
    pub core: Core,
    /// The session, and what came of the plugins.
    pub launched: Launched,
}

/// A turn on its way.
#[derive(Debug)]
pub struct Talking(JoinHandle<stud_contract_meta::Result<Answered>>);

/// Limits for tests: one that waits for a plugin to count as stuck need not wait long.
pub fn impatient() -> Limits {
    Limits {
        lifecycle: Duration::from_secs(5),
        event: Duration::from_millis(200),
        provide: Duration::from_secs(2),
        ..Limits::default()
    }
}

impl World {
    /// A session on this world, carrying `bundled`.
    pub fn live(&self, bundled: Vec<EmbeddedPlugin>) -> Live {
        self.live_as(bundled, Launch::default())
    }

    /// The same, begun as `how` says but with the [impatient] limits.
    pub fn live_as(&self, bundled: Vec<EmbeddedPlugin>, how: Launch) -> Live {
        self.try_live(bundled, how)
            .unwrap_or_else(|error| fail(&error.to_string()))
    }

    /// The same, if it can be begun at all.
    pub fn try_live(
        &self,
        bundled: Vec<EmbeddedPlugin>,
        how: Launch,
    ) -> stud_contract_meta::Result<Live> {
        let core = self.core(bundled);
        let how = Launch {
            limits: impatient(),
            ..how
        };
        let plugins = prepare(&core.ground, &how.limits);
        let launched = launch(&core.ground, &plugins, &how)?;
        Ok(Live { core, launched })
    }
}

impl Live {
    /// The session.
    pub fn session(&self) -> &Arc<Session> {
        &self.launched.session
    }

    /// Says something to `echo`, in the person's name.
    pub fn say(&self, text: &str) -> Talking {
        self.say_to("echo", "echo-1", text)
    }

    /// Says something to another model.
    pub fn say_to(&self, provider_id: &str, model_id: &str, text: &str) -> Talking {
        let submitted = block_on(self.session().submit("test", text.to_owned()));
        submitted.unwrap_or_else(|error| fail(&error.to_string()));
        self.listen_with(provider_id, model_id)
    }

    /// Answers the next input, which is there or will come.
    pub fn listen(&self) -> Talking {
        self.listen_with("echo", "echo-1")
    }

    fn listen_with(&self, provider_id: &str, model_id: &str) -> Talking {
        let session = self.session().clone();
        let model = Model {
            provider_id: provider_id.to_owned(),
            model_id: model_id.to_owned(),
        };
        Talking(std::thread::spawn(move || {
            block_on(async {
                match session.next_input().await {
                    Some(input) => answer(&session, &model, &input).await,
                    None => fail("the session ended before anyone said anything"),
                }
            })
        }))
    }

    /// Hears every event from now on.
    pub fn hear(&self, heard: impl Fn(&Event) + Send + Sync + 'static) {
        struct Ear<F>(F);
        impl<F: Fn(&Event) + Send + Sync> Subscriber for Ear<F> {
            fn ext_id(&self) -> &'static str {
                "test"
            }

            fn hear(&self, event: &Event) -> stud_contract_meta::Result<()> {
                self.0(event);
                Ok(())
            }
        }
        self.session()
            .subscribe(Arc::new(Ear(heard)), Service::Shared);
    }
}

impl Talking {
    /// Whether the turn has ended.
    pub fn is_over(&self) -> bool {
        self.0.is_finished()
    }

    /// Waits for the end of the turn.
    pub fn answered(self) -> Answered {
        eventually("the end of the turn", || self.0.is_finished().then_some(()));
        match self.0.join() {
            Ok(Ok(answered)) => answered,
            Ok(Err(error)) => fail(&format!("the turn failed: {error}")),
            Err(_) => fail("the turn panicked"),
        }
    }
}
