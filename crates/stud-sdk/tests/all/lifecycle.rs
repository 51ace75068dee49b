//! The phases of a plugin's life.

use std::sync::atomic::Ordering;

use stud_sdk::Phase;
use stud_sdk::json;
use stud_sdk::testing::{FakeHost, Harness};

mod phased {
    use std::sync::atomic::{AtomicU32, Ordering};

    use stud_sdk::prelude::*;

    pub(super) static DROPPED: AtomicU32 = AtomicU32::new(0);

    /// Writes down its phases.
    #[context_provider(
        init = Phased::new,
        activate = Phased::activated,
        deactivate = Phased::deactivated,
        dispose = Phased::disposed,
    )]
    struct Phased {
        host: Host,
    }

    impl Phased {
        async fn new(host: Host) -> Result<Self> {
            let this = Self { host };
            this.note("init").await?;
            Ok(this)
        }

        async fn note(&self, phase: &str) -> Result<()> {
            use stud_sdk::host::audit::AuditEvent;
            let event = AuditEvent {
                class: "Phase".into(),
                kind: Some(phase.into()),
                ..AuditEvent::default()
            };
            self.host.audit().record(event).await
        }

        async fn activated(&self) -> Result<()> {
            self.note("activate").await
        }

        async fn deactivated(&self) -> Result<(), Error> {
            self.note("deactivate").await
        }

        async fn disposed(&self) -> Result<()> {
            self.note("dispose").await
        }
    }

    impl Drop for Phased {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl ContextProvider for Phased {
        async fn provide(
            &self,
            _cx: &Cx,
        ) -> Result<Vec<stud_sdk::context_provider::ContextFragment>> {
            Ok(vec![])
        }
    }
}

#[test]
fn each_phase_runs_once_and_the_instance_goes_with_dispose() {
    let harness = Harness::new(phased::stud_plugin(), FakeHost::new());
    assert_eq!(
        harness.manifest()["lifecycle"],
        json!({"init": true, "activate": true, "deactivate": true, "dispose": true})
    );
    assert_eq!(harness.provide().unwrap(), []);
    harness.stop().unwrap();
    let phases: Vec<_> = harness
        .host()
        .audited()
        .into_iter()
        .filter_map(|record| record.kind)
        .collect();
    assert_eq!(phases, ["init", "activate", "deactivate", "dispose"]);
    assert_eq!(phased::DROPPED.load(Ordering::Relaxed), 1);

    harness.lifecycle(Phase::Dispose).unwrap();
    assert_eq!(
        harness.provide().unwrap_err().code(),
        "LifecyclePhaseInvalid"
    );
    assert_eq!(
        harness.lifecycle(Phase::Init).unwrap_err().code(),
        "LifecyclePhaseInvalid"
    );
}

mod picky {
    use stud_sdk::prelude::*;

    /// Options.
    #[derive(Config)]
    struct Options {
        /// Never zero.
        level: u32,
    }

    /// Takes some configs.
    #[context_provider(config = Options, init = Picky::new)]
    struct Picky;

    impl Picky {
        fn new(_host: Host, options: Options) -> Result<Self> {
            match options.level {
                0 => Err(Error::invalid_input("zero")),
                1 => panic!("one"),
                _ => Ok(Self),
            }
        }
    }

    impl ContextProvider for Picky {
        async fn provide(
            &self,
            _cx: &Cx,
        ) -> Result<Vec<stud_sdk::context_provider::ContextFragment>> {
            Ok(vec![])
        }
    }
}

#[test]
fn a_failed_init_may_be_tried_again() {
    let code = |config| {
        let harness = Harness::new(picky::stud_plugin(), FakeHost::new().config(config));
        let first = harness.lifecycle(Phase::Init).unwrap_err();
        let second = harness.lifecycle(Phase::Init).unwrap_err();
        assert_eq!(first.code(), second.code());
        first.code().to_owned()
    };
    assert_eq!(code(json!({"level": 0})), "InputInvalid");
    assert_eq!(code(json!({"level": 1})), "CallPanicked");
    assert_eq!(code(json!({})), "ConfigSchemaViolation");
}

#[test]
fn a_call_before_init_is_refused() {
    let harness = Harness::new(
        picky::stud_plugin(),
        FakeHost::new().config(json!({"level": 0})),
    );
    assert_eq!(
        harness.lifecycle(Phase::Activate).unwrap_err().code(),
        "LifecyclePhaseInvalid"
    );
    harness.lifecycle(Phase::Dispose).unwrap();
}
