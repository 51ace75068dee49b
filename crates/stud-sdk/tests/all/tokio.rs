//! A plugin-local runtime: spawning and timers work while something else polls.

use stud_sdk::json;
use stud_sdk::testing::{FakeHost, Harness};
use stud_sdk::tool::Output;

mod sleeper {
    use std::time::Duration;

    use stud_sdk::prelude::*;

    struct SpawnsWhenDropped;

    impl Drop for SpawnsWhenDropped {
        fn drop(&mut self) {
            tokio::spawn(async {});
        }
    }

    /// Sleeps on a timer, and says which thread woke it.
    #[tool(init = Sleeper::new)]
    struct Sleeper(SpawnsWhenDropped);

    impl Sleeper {
        fn new(_host: Host) -> Self {
            Self(SpawnsWhenDropped)
        }
    }

    impl Tool for Sleeper {
        type Args = stud_sdk::schema::Nothing;

        async fn execute(&self, _args: Self::Args, _cx: &Cx) -> Result<Output> {
            let _guard = SpawnsWhenDropped;
            let woken = tokio::spawn(async {
                tokio::time::sleep(Duration::from_millis(1)).await;
                std::thread::current().name().unwrap_or_default().to_owned()
            });
            Ok(woken.await.map_err(Error::failed)?.into())
        }

        fn approval_key(&self, _args: &Self::Args) -> Result<String> {
            Ok("sleep".to_owned())
        }
    }
}

#[test]
fn without_a_runtime_the_plugin_has_its_own() {
    let harness = Harness::new(sleeper::stud_plugin(), FakeHost::new());
    assert_eq!(
        harness.tool("sleeper", json!({})).unwrap(),
        Output::text("stud-plugin")
    );
    harness.stop().unwrap();
}

#[test]
fn a_runtime_that_is_there_is_used() {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder
        .worker_threads(1)
        .thread_name("host")
        .enable_all()
        .build()
        .unwrap();
    let _entered = runtime.enter();
    let harness = Harness::new(sleeper::stud_plugin(), FakeHost::new());
    assert_eq!(
        harness.tool("sleeper", json!({})).unwrap(),
        Output::text("host")
    );
}
