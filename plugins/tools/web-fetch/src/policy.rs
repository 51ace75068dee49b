//! Which hosts may be reached.
//!
//! Without lists every host may, since each call is approved by the name of its host.
//! The list of denied hosts wins over the list of allowed ones, and a list of allowed ones that is not empty is complete.

use std::net::IpAddr;

use reqwest::Url;
use stud_sdk::{Result, Schema};

use crate::failure;

/// A host, and perhaps some of its ports.
#[derive(Schema, Debug, Clone)]
pub(crate) struct HostRule {
    /// A name, which stands for itself and all names below it; `*.` before it leaves the name itself out. Or an address.
    #[stud(pattern = r"^((\*\.)?[a-z0-9._-]+|\[?[0-9a-f:.]+\]?)$")]
    pub(crate) host: String,
    /// The ports it is about; all of them when left out.
    pub(crate) ports: Option<Vec<u16>>,
}

/// Who may be reached and who may not.
#[derive(Debug, Default)]
pub(crate) struct Policy {
    allowed: Vec<Rule>,
    denied: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    host: Host,
    ports: Option<Vec<u16>>,
}

/// A host, of a rule or of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Name(String),
    /// All names below this one.
    Below(String),
    Address(IpAddr),
}

impl Policy {
    pub(crate) fn new(allowed: &[HostRule], denied: &[HostRule]) -> Self {
        let rules = |rules: &[HostRule]| rules.iter().map(Rule::of).collect();
        Self {
            allowed: rules(allowed),
            denied: rules(denied),
        }
    }

    /// `ToolTerminal/NetworkDenied` for an address that may not be reached.
    pub(crate) fn check(&self, url: &Url) -> Result<()> {
        let host = Host::of(url);
        let shown = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default();
        if self.denied.iter().any(|rule| rule.fits(&host, port)) {
            return Err(failure::denied(
                url,
                format!("`{shown}` is on the list of denied hosts"),
            ));
        }
        if !self.allowed.is_empty() && !self.allowed.iter().any(|rule| rule.fits(&host, port)) {
            let why = format!("`{shown}` is not on the list of allowed hosts");
            return Err(failure::denied(url, why));
        }
        Ok(())
    }

    /// Whether an address that a name stands for may be reached.
    ///
    /// A name is approved by what it says. One that leads to this machine or to its own link says something else than
    /// what it is, unless it is `localhost`; whoever means that address can name it.
    pub(crate) fn admits(&self, name: &str, address: IpAddr, port: Option<u16>) -> bool {
        let host = Host::Address(address.to_canonical());
        let is_denied = self.denied.iter().any(|rule| rule.fits(&host, port));
        !is_denied && (is_local_name(name) || !is_near(address.to_canonical()))
    }
}

impl Rule {
    fn of(rule: &HostRule) -> Self {
        let text = rule.host.to_ascii_lowercase();
        let host = match text.strip_prefix("*.") {
            Some(above) => Host::Below(without_dot(above)),
            None => Host::read(&text),
        };
        Self {
            host,
            ports: rule.ports.clone(),
        }
    }

    fn fits(&self, host: &Host, port: Option<u16>) -> bool {
        let is_port = |ports: &Vec<u16>| port.is_some_and(|port| ports.contains(&port));
        self.host.covers(host) && self.ports.as_ref().is_none_or(is_port)
    }
}

impl Host {
    /// The host of a request. The address parser has brought names and numbers into one form already.
    fn of(url: &Url) -> Self {
        Self::read(url.host_str().unwrap_or_default())
    }

    fn read(text: &str) -> Self {
        let bare = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        match bare.unwrap_or(text).parse::<IpAddr>() {
            Ok(address) => Self::Address(address.to_canonical()),
            Err(_) => Self::Name(without_dot(text)),
        }
    }

    fn covers(&self, host: &Self) -> bool {
        match (self, host) {
            (Self::Name(name), Self::Name(host)) => name == host || is_below(host, name),
            (Self::Below(name), Self::Name(host)) => is_below(host, name),
            (Self::Address(one), Self::Address(other)) => one == other,
            _ => false,
        }
    }
}

/// Whether `host` ends in `.name`.
fn is_below(host: &str, name: &str) -> bool {
    let above = host
        .strip_suffix(name)
        .and_then(|rest| rest.strip_suffix('.'));
    above.is_some_and(|below| !below.is_empty()) && !name.is_empty()
}

/// `example.com.` is `example.com`.
fn without_dot(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_owned()
}

fn is_local_name(name: &str) -> bool {
    let name = without_dot(&name.to_ascii_lowercase());
    name == "localhost" || is_below(&name, "localhost")
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
    use super::*;

    fn rules(hosts: &[&str]) -> Vec<HostRule> {
        let rule = |host: &&str| {
            let (host, ports) = host.split_once('#').map_or((*host, None), |(host, port)| {
                (host, Some(vec![port.parse().unwrap()]))
            });
            HostRule {
                host: host.to_owned(),
                ports,
            }
        };
        hosts.iter().map(rule).collect()
    }

    fn passes(allowed: &[&str], denied: &[&str], url: &str) -> bool {
        let policy = Policy::new(&rules(allowed), &rules(denied));
        policy.check(&Url::parse(url).unwrap()).is_ok()
    }

    #[test]
    fn without_lists_everything_passes() {
        assert!(passes(&[], &[], "https://example.com/"));
    }

    #[test]
    fn names_match_at_the_boundary_of_a_label() {
        for url in [
            "http://example.com",
            "http://a.example.com",
            "http://a.b.EXAMPLE.com:81",
            "http://example.com./",
        ] {
            assert!(passes(&["example.com"], &[], url), "{url}");
            assert!(!passes(&[], &["example.com"], url), "{url}");
        }
        for url in [
            "http://badexample.com",
            "http://example.com.evil.org",
            "http://com",
            "http://example.co",
        ] {
            assert!(!passes(&["example.com"], &[], url), "{url}");
            assert!(passes(&[], &["example.com"], url), "{url}");
        }
    }

    #[test]
    fn a_star_leaves_out_the_name_itself() {
        assert!(passes(&["*.example.com"], &[], "http://a.example.com"));
        assert!(passes(&["*.example.com"], &[], "http://a.b.example.com"));
        assert!(!passes(&["*.example.com"], &[], "http://example.com"));
    }

    #[test]
    fn denied_wins_over_allowed() {
        assert!(!passes(
            &["example.com"],
            &["a.example.com"],
            "http://a.example.com"
        ));
        assert!(passes(
            &["example.com"],
            &["a.example.com"],
            "http://b.example.com"
        ));
        assert!(!passes(
            &["a.example.com"],
            &["example.com"],
            "http://a.example.com"
        ));
    }

    #[test]
    fn ports_are_those_of_the_scheme_unless_said() {
        assert!(passes(&["example.com#443"], &[], "https://example.com/"));
        assert!(!passes(&["example.com#443"], &[], "http://example.com/"));
        assert!(passes(&["example.com#443"], &[], "http://example.com:443/"));
        assert!(!passes(&[], &["example.com#80"], "http://example.com/"));
        assert!(passes(&[], &["example.com#80"], "http://example.com:8080/"));
    }

    /// One address can be written in many ways.
    #[test]
    fn addresses_match_however_they_are_written() {
        for url in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://0x7f000001/",
            "http://2130706433/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://127.0.0.1./",
        ] {
            assert!(!passes(&[], &["127.0.0.1"], url), "{url}");
        }
        assert!(!passes(&[], &["[::1]"], "http://[0:0::1]/"));
        assert!(!passes(&[], &["::1"], "http://[::1]/"));
        assert!(passes(&[], &["0.0.1"], "http://127.0.0.1/"));
    }

    #[test]
    fn a_denial_names_host_port_and_address() {
        let policy = Policy::new(&[], &rules(&["example.com"]));
        let url = Url::parse("https://me:secret@www.example.com/a?b").unwrap();
        let error = policy.check(&url).unwrap_err();
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
        let policy = Policy::new(&[], &rules(&["10.0.0.7", "10.0.0.8#81"]));
        let admits =
            |name: &str, address: &str| policy.admits(name, address.parse().unwrap(), Some(80));
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
        assert!(admits("example.com", "10.0.0.8"), "another port is denied");
    }
}
