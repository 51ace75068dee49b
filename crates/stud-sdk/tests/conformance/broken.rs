//! Plugins that fail one case each.

/// A logger with a life of its own, which is all that matters about it.
macro_rules! living {
    ($module:ident $id:literal { $($phase:ident = $function:ident),* } $($body:tt)*) => {
        pub(crate) mod $module {
            use std::sync::atomic::{AtomicU32, Ordering};

            use stud_sdk::logger::Record;
            use stud_sdk::prelude::*;

            /// Lives in a way that no plugin should.
            #[logger(id = $id, accepts(events), init = Living::new $(, $phase = Living::$function)*)]
            struct Living {
                count: AtomicU32,
            }

            impl Logger for Living {
                async fn sink(&self, _record: Record, _cx: &Cx) -> Result<()> {
                    Ok(())
                }
            }

            fn failed() -> Error {
                Error::new(Class::ExtensionHost, "Broken", "it fails on purpose")
            }

            $($body)*
        }
    };
}

living! { fails_to_deactivate "fails-to-deactivate" { deactivate = deactivated }
    impl Living {
        async fn new(_host: Host) -> Result<Self> {
            Ok(Self { count: AtomicU32::new(0) })
        }

        async fn deactivated(&self) -> Result<()> {
            self.count.fetch_add(1, Ordering::Relaxed);
            Err(failed())
        }
    }
}

living! { activates_once "activates-once" { activate = activated }
    impl Living {
        async fn new(_host: Host) -> Result<Self> {
            Ok(Self { count: AtomicU32::new(0) })
        }

        async fn activated(&self) -> Result<()> {
            match self.count.fetch_add(1, Ordering::Relaxed) {
                0 => Ok(()),
                _ => Err(failed()),
            }
        }
    }
}

living! { is_alone "is-alone" { }
    /// How many of them there are.
    static ALIVE: AtomicU32 = AtomicU32::new(0);

    impl Living {
        async fn new(_host: Host) -> Result<Self> {
            if ALIVE.fetch_add(1, Ordering::SeqCst) > 0 {
                ALIVE.fetch_sub(1, Ordering::SeqCst);
                return Err(failed());
            }
            Ok(Self { count: AtomicU32::new(0) })
        }
    }

    impl Drop for Living {
        fn drop(&mut self) {
            self.count.fetch_add(1, Ordering::Relaxed);
            ALIVE.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// A store whose list waits until something is written; what ends the wait is what matters about it.
macro_rules! waiting {
    ($module:ident $id:literal $ends:expr) => {
        pub(crate) mod $module {
            use std::collections::BTreeMap;
            use std::sync::Mutex;
            use std::sync::atomic::{AtomicBool, Ordering};
            use std::thread;
            use std::time::Duration;

            use stud_sdk::prelude::*;
            use stud_sdk::session_store::Stored;

            /// Waits where no store should.
            #[session_store(id = $id, init = Waiting::new, dispose = Waiting::disposed)]
            struct Waiting {
                sessions: Mutex<BTreeMap<String, Stored>>,
                disposed: AtomicBool,
            }

            impl Waiting {
                async fn new(_host: Host) -> Result<Self> {
                    Ok(Self {
                        sessions: Mutex::default(),
                        disposed: AtomicBool::new(false),
                    })
                }

                async fn disposed(&self) -> Result<()> {
                    self.disposed.store(true, Ordering::SeqCst);
                    Ok(())
                }
            }

            impl SessionStore for Waiting {
                async fn read(&self, session_id: &str, _cx: &Cx) -> Result<Stored> {
                    let stored = self.sessions.lock().unwrap().get(session_id).cloned();
                    stored.ok_or_else(|| {
                        Error::new(Class::Session, "NoSnapshot", "there is no such session")
                    })
                }

                async fn write(&self, stored: Stored, _cx: &Cx) -> Result<()> {
                    let id = stored.manifest.session_id.clone();
                    self.sessions.lock().unwrap().insert(id, stored);
                    Ok(())
                }

                async fn list(&self, cx: &Cx) -> Result<Vec<String>> {
                    let ends: fn(bool, bool) -> bool = $ends;
                    loop {
                        let listed: Vec<String> =
                            self.sessions.lock().unwrap().keys().cloned().collect();
                        if !listed.is_empty()
                            || ends(cx.is_cancelled(), self.disposed.load(Ordering::SeqCst))
                        {
                            return Ok(listed);
                        }
                        thread::sleep(Duration::from_millis(2));
                    }
                }
            }
        }
    };
}

waiting!(ignores_cancellation "ignores-cancellation" |_cancelled, disposed| disposed);
waiting!(ignores_dispose "ignores-dispose" |cancelled, disposed| cancelled && !disposed);

pub(crate) mod panics {
    use stud_sdk::prelude::*;

    /// Panics.
    #[tool(id = "panics", name = "panics")]
    fn panics() -> String {
        panic!("on purpose")
    }
}

pub(crate) mod asks {
    use stud_sdk::interaction::Ask;
    use stud_sdk::prelude::*;

    /// Asks.
    #[tool(id = "asks", name = "asks", interactions("Ask"))]
    async fn asks(cx: &Cx) -> Result<String> {
        let question = Ask {
            prompt: "May I?".into(),
            ..Ask::default()
        };
        cx.host().interaction().request(question.into()).await?;
        Ok("asked".to_owned())
    }
}

pub(crate) mod counts_keys {
    use std::sync::atomic::{AtomicU32, Ordering};

    use stud_sdk::prelude::*;

    static COUNT: AtomicU32 = AtomicU32::new(0);

    /// What the model sends.
    #[derive(Args)]
    struct Input {
        /// What to do.
        what: String,
    }

    /// Gives a new key each time.
    #[tool(id = "counts-keys", name = "counts_keys", approval_key = key)]
    fn counts_keys(input: Input) -> String {
        input.what
    }

    fn key(_input: &Input) -> String {
        COUNT.fetch_add(1, Ordering::Relaxed).to_string()
    }
}

pub(crate) mod has_one_key {
    use stud_sdk::prelude::*;

    /// What the model sends.
    #[derive(Args)]
    struct Input {
        /// What to do.
        what: String,
    }

    /// Gives one key for everything.
    #[tool(id = "has-one-key", name = "has_one_key", approval_key = key)]
    fn has_one_key(input: Input) -> String {
        input.what
    }

    fn key(_input: &Input) -> String {
        "everything".to_owned()
    }
}

pub(crate) mod flips {
    use std::sync::atomic::{AtomicU32, Ordering};

    use stud_sdk::hook::{Guard, Verdict};
    use stud_sdk::prelude::*;

    /// Allows every other call.
    #[hook(id = "flips", slot = "TOOL_CALL/pre")]
    #[derive(Default)]
    struct Flips(AtomicU32);

    impl Guard for Flips {
        async fn guard(&self, _payload: &Value, _cx: &Cx) -> Result<Verdict> {
            Ok(match self.0.fetch_add(1, Ordering::Relaxed) % 2 {
                0 => Verdict::Allow,
                _ => Verdict::deny("not this time"),
            })
        }
    }
}

pub(crate) mod dawdles {
    use std::thread;
    use std::time::Duration;

    use stud_sdk::hook::{Guard, Verdict};
    use stud_sdk::prelude::*;

    /// Waits until it is cancelled.
    #[hook(id = "dawdles", slot = "TOOL_CALL/pre")]
    #[derive(Default)]
    struct Dawdles;

    impl Guard for Dawdles {
        async fn guard(&self, _payload: &Value, cx: &Cx) -> Result<Verdict> {
            while !cx.is_cancelled() {
                thread::sleep(Duration::from_millis(2));
            }
            Err(Error::cancelled())
        }
    }
}

pub(crate) mod sulks {
    use stud_sdk::prelude::*;
    use stud_sdk::ui::{Event, Request, Response};

    /// Takes no event after a prompt was cancelled.
    #[ui(id = "sulks")]
    #[derive(Default)]
    struct Sulks;

    impl Subscriber for Sulks {
        fn on_event(&self, event: &Event<'_>) -> Result<()> {
            match event.name {
                "InteractionCancelled" => Err(Error::new(
                    Class::ExtensionHost,
                    "Sulks",
                    "it was my prompt",
                )),
                _ => Ok(()),
            }
        }
    }

    impl Interactor for Sulks {
        async fn on_interaction(&self, request: Request, _cx: &Cx) -> Result<Response> {
            Ok(Response::dismissed(&request))
        }
    }
}

pub(crate) mod refuses_audit {
    use stud_sdk::logger::{Record, RecordKind};
    use stud_sdk::prelude::*;

    /// Takes no audit records.
    #[logger(id = "refuses-audit", accepts(events))]
    #[derive(Default)]
    struct Picky;

    impl Logger for Picky {
        async fn sink(&self, record: Record, _cx: &Cx) -> Result<()> {
            match record.kind {
                RecordKind::Audit => {
                    Err(Error::new(Class::ExtensionHost, "Picky", "no audit here"))
                }
                _ => Ok(()),
            }
        }
    }
}

pub(crate) mod leads_nowhere {
    use stud_sdk::prelude::*;
    use stud_sdk::state_machine::{NextResult, StageContext};

    /// How far the machine is.
    #[derive(Schema)]
    struct Progress {
        /// The stage that runs.
        stage: String,
    }

    /// Leads to an undeclared stage.
    #[state_machine(id = "leads-nowhere", stages_file = "tests/all/stages.json", state_slot(version = "1.0.0", schema = Progress))]
    #[derive(Default)]
    struct Lost;

    impl StateMachine for Lost {
        async fn next(
            &self,
            _stage: &str,
            _context: &StageContext,
            _cx: &Cx,
        ) -> Result<NextResult> {
            Ok(NextResult::to("nowhere"))
        }
    }
}

/// A store that keeps nothing; how it refuses to read is what matters about it.
macro_rules! forgetful {
    ($module:ident $id:literal keeps $keeps:literal unknown $class:ident) => {
        pub(crate) mod $module {
            use std::sync::Mutex;

            use stud_sdk::prelude::*;
            use stud_sdk::session_store::Stored;

            /// Keeps sessions badly.
            #[session_store(id = $id)]
            #[derive(Default)]
            struct Forgetful(Mutex<Vec<Stored>>);

            impl SessionStore for Forgetful {
                async fn read(&self, session_id: &str, _cx: &Cx) -> Result<Stored> {
                    let stored = self.0.lock().unwrap();
                    let mut known = stored
                        .iter()
                        .filter(|one| one.manifest.session_id == session_id);
                    let first = known.next_back().cloned();
                    first.ok_or_else(|| {
                        Error::new(Class::$class, "NoSnapshot", "there is no such session")
                    })
                }

                async fn write(&self, stored: Stored, _cx: &Cx) -> Result<()> {
                    let mut all = self.0.lock().unwrap();
                    if $keeps {
                        all.retain(|one| one.manifest.session_id != stored.manifest.session_id);
                        all.push(stored);
                    }
                    Ok(())
                }

                async fn list(&self, _cx: &Cx) -> Result<Vec<String>> {
                    let all = self.0.lock().unwrap();
                    Ok(all
                        .iter()
                        .map(|one| one.manifest.session_id.clone())
                        .collect())
                }
            }
        }
    };
}

forgetful!(forgets "forgets" keeps false unknown Session);
forgetful!(blames_a_tool "blames-a-tool" keeps true unknown ToolTerminal);

pub(crate) mod changes_its_mind {
    use std::sync::atomic::{AtomicU32, Ordering};

    use stud_sdk::context_provider::ContextFragment;
    use stud_sdk::prelude::*;

    /// Counts aloud.
    #[context_provider(id = "changes-its-mind")]
    #[derive(Default)]
    struct Counts(AtomicU32);

    impl ContextProvider for Counts {
        async fn provide(&self, _cx: &Cx) -> Result<Vec<ContextFragment>> {
            let content = self.0.fetch_add(1, Ordering::Relaxed).to_string();
            Ok(vec![ContextFragment {
                content,
                token_budget: 5,
                ..ContextFragment::default()
            }])
        }
    }
}
