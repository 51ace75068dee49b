//! Which hosts may be reached.
//!
//! The policy is the person's, and stud keeps it: every address is held to it before a connection is made. What is added
//! here is what a name may stand for.

use std::net::IpAddr;

use reqwest::Url;
use stud_sdk::host::config::Destination;
use stud_sdk::{Host, Result};

use crate::failure;

/// Who may be reached and who may not, as of the moment of asking.
pub(crate) struct Policy(Host);

impl Policy {
    pub(crate) fn of(host: Host) -> Self {
        Self(host)
    }

    /// `ToolTerminal/NetworkDenied` for an address that may not be reached.
    pub(crate) fn check(&self, url: &Url) -> Result<()> {
        self.0.config().may_reach(&destination(url))
    }

    /// Whether an address that a name stands for may be reached.
    ///
    /// A name is approved by what it says. One that leads to this machine or to its own link says something else than
    /// what it is, unless it is `localhost`, which is an explicit choice.
    pub(crate) fn admits(&self, url: &Url, name: &str, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let to = Destination {
            address: Some(address),
            ..destination(url)
        };
        let is_expected = is_local_name(name) || !is_near(address);
        is_expected && self.0.config().may_reach(&to).is_ok()
    }
}

fn destination(url: &Url) -> Destination {
    Destination {
        host: url.host_str().unwrap_or_default().to_owned(),
        port: url.port_or_known_default(),
        url: failure::shown(url),
        address: None,
    }
}

fn is_local_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix('.').unwrap_or(&name);
    name == "localhost" || name.ends_with(".localhost")
}

/// Whether an address is this machine, or one that only this machine's link knows, such as that of a cloud's metadata.
fn is_near(address: IpAddr) -> bool {
    let is_link_local = match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    };
    is_link_local || address.is_loopback() || address.is_unspecified()
}

#[cfg(test)]
mod tests {
    use stud_sdk::testing::FakeHost;

    use super::*;

    fn denying(hosts: &[&str]) -> Policy {
        let host = FakeHost::new();
        let host = hosts
            .iter()
            .fold(host, |host, denied| host.denies_host((*denied).to_owned()));
        Policy::of(host.cx().host().clone())
    }

    #[test]
    fn a_denial_names_host_port_and_address() {
        let url = Url::parse("https://me:secret@www.example.com/a?b").unwrap();
        let error = denying(&["www.example.com"]).check(&url).unwrap_err();
        assert_eq!(
            (error.class(), error.code()),
            ("ToolTerminal", "NetworkDenied")
        );
        assert_eq!(error.context()["host"], "www.example.com");
        assert_eq!(error.context()["port"], 443);
        assert_eq!(error.context()["url"], "https://www.example.com/a?b");
    }

    #[test]
    fn a_name_does_not_lead_to_this_machine() {
        let policy = denying(&["10.0.0.7"]);
        let url = Url::parse("http://example.com/").unwrap();
        let admits =
            |name: &str, address: &str| policy.admits(&url, name, address.parse().unwrap());
        for near in [
            "127.0.0.1",
            "127.9.9.9",
            "::1",
            "0.0.0.0",
            "::",
            "169.254.169.254",
            "fe80::1",
            "::ffff:127.0.0.1",
        ] {
            assert!(!admits("example.com", near), "{near}");
        }
        assert!(admits("example.com", "93.184.216.34") && admits("example.com", "10.0.0.9"));
        assert!(admits("localhost", "127.0.0.1") && admits("App.Localhost.", "::1"));
        assert!(!admits("notlocalhost", "127.0.0.1"));
        assert!(!admits("example.com", "10.0.0.7") && !admits("example.com", "::ffff:10.0.0.7"));
    }
}
