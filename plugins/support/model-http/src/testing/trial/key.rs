//! Where a key goes, and where it does not.

use serde_json::{Value, json};
use stud_sdk::Class;
use stud_sdk::testing::{FakeHost, Harness};

use super::{CANARY, Outcome, Trial, ensure, io};
use crate::testing::{Server, stream};

impl Trial {
    /// The key is looked up for each request and sent in this header alone; without a reference none is sent.
    pub fn key(&self, header: &str, value_before: &str) -> Outcome {
        let server = io(Server::always(stream(&self.answer)))?;
        let harness = self.harness(&server);
        let told = self.ask(&harness).map_err(|error| error.to_string())?;
        ensure(told == self.told, || format!("{told:?}"))?;
        let received = server.received();
        let sent = format!("{value_before}{CANARY}");
        let [request] = received.as_slice() else {
            return Err(format!("{received:?}"));
        };
        ensure(request.header(header) == Some(&sent), || {
            format!("{request:?}")
        })?;
        let seen = |text: &str| text.contains(CANARY);
        let carrying = request
            .headers
            .iter()
            .filter(|(_, value)| seen(value))
            .count();
        let hidden = carrying == 1
            && !seen(&request.target)
            && !seen(&String::from_utf8_lossy(&request.body));
        ensure(hidden, || format!("{request:?}"))?;

        let reference = json!({"kind": "keyring", "name": "TRIAL_KEY"});
        let harness = self.harness_with(&server, &json!({"apiKeyRef": reference}));
        self.ask(&harness).map_err(|error| error.to_string())?;
        let last = server.received().pop().unwrap_or_default();
        ensure(last.header(header) == Some(&sent), || format!("{last:?}"))?;

        let host = FakeHost::new().config(with_base(&self.config, &server, None));
        let harness = Harness::new((self.plugin)(), host);
        self.ask(&harness).map_err(|error| error.to_string())?;
        let last = server.received().pop().unwrap_or_default();
        ensure(last.header(header).is_none(), || format!("{last:?}"))?;

        for (kind, code) in [("env", "EnvNameNotSet"), ("keyring", "SecretMissing")] {
            let reference = json!({"kind": kind, "name": "NOWHERE"});
            let host = FakeHost::new().config(with_base(&self.config, &server, Some(reference)));
            let harness = Harness::new((self.plugin)(), host);
            // It is not looked for before it is needed.
            harness.start().map_err(|error| error.to_string())?;
            let asked = self.ask(&harness);
            let missing = matches!(&asked, Err(error) if error.is(Class::Validation, code));
            ensure(missing, || format!("{asked:?}"))?;
        }
        ensure(server.received().len() == 3, || {
            "something was sent".to_owned()
        })?;
        self.unsendable_key(&server)
    }

    fn unsendable_key(&self, server: &Server) -> Outcome {
        let reference = json!({"kind": "env", "name": "ODD"});
        let config = with_base(&self.config, server, Some(reference));
        let host = FakeHost::new().env("ODD", "canary\u{1}key").config(config);
        let asked = self.ask(&Harness::new((self.plugin)(), host));
        let refused = matches!(&asked, Err(error) if error.code() == "Unauthorized");
        ensure(refused, || format!("{asked:?}"))?;
        ensure(!format!("{asked:?}").contains("canary"), || {
            format!("{asked:?}")
        })
    }
}

fn with_base(config: &Value, server: &Server, reference: Option<Value>) -> Value {
    let mut config = config.clone();
    config["baseURL"] = server.url().into();
    if let Some(reference) = reference {
        config["apiKeyRef"] = reference;
    }
    config
}
