//! The report, as text, JSON and `JUnit`.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::case::{Case, Verdict};

/// How a plugin fares in every case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The plugin's id.
    pub ext_id: String,
    /// Its category.
    pub kind: String,
    /// Its own version.
    pub version: String,
    /// The contract version it was built against.
    pub contract_version: String,
    /// Whether no case failed.
    pub ok: bool,
    /// One line for a README.
    pub badge: String,
    /// One for each case, in the order of the list.
    pub cases: Vec<Outcome>,
}

/// How a plugin fares in one case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The name of the case.
    pub id: String,
    /// The date since which it is one.
    pub since: String,
    /// What the plugin has to do.
    pub rule: String,
    /// `pass`, `fail` or `notApplicable`.
    pub status: String,
    /// What was seen, or why the case does not apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where it is explained.
    pub page: String,
}

impl Outcome {
    pub(crate) fn new(case: &Case, verdict: Verdict) -> Self {
        let (status, reason) = match verdict {
            Verdict::Pass => ("pass", None),
            Verdict::Fail(why) => ("fail", Some(why)),
            Verdict::NotApplicable(why) => ("notApplicable", Some(why)),
        };
        Self {
            id: case.id.to_owned(),
            since: case.since.to_owned(),
            rule: case.rule.to_owned(),
            status: status.to_owned(),
            reason,
            page: format!("docs/author/conformance.md#{}", case.id.replace('.', "")),
        }
    }

    /// Whether the plugin does not do what it has to do.
    pub fn failed(&self) -> bool {
        self.status == "fail"
    }
}

impl Report {
    pub(crate) fn new(manifest: &Value, cases: Vec<Outcome>) -> Self {
        let text = |member: &str| manifest[member].as_str().unwrap_or("unknown").to_owned();
        let count = |status: &str| cases.iter().filter(|case| case.status == status).count();
        let (passed, failed) = (count("pass"), count("fail"));
        let what = format!("{} {}", text("kind"), text("contractVersion"));
        let verb = if failed == 0 {
            "conforms to"
        } else {
            "does not conform to"
        };
        Self {
            ext_id: text("extId"),
            kind: text("kind"),
            version: text("version"),
            contract_version: text("contractVersion"),
            ok: failed == 0,
            badge: format!("{verb} {what}, {passed} of {} cases", passed + failed),
            cases,
        }
    }

    /// The ids of the failed cases.
    pub fn failed(&self) -> Vec<&str> {
        let failed = self.cases.iter().filter(|case| case.failed());
        failed.map(|case| case.id.as_str()).collect()
    }

    /// The report as text: what failed first of all, then one line for each case, then the badge.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for case in &self.cases {
            let mark = match case.status.as_str() {
                "pass" => "ok  ",
                "fail" => "FAIL",
                _ => "n/a ",
            };
            let reason = case.reason.as_deref().unwrap_or_default();
            let reason = if case.failed() {
                format!(
                    "\n      {}\n      rule: {}\n      page: {}",
                    reason, case.rule, case.page
                )
            } else {
                String::new()
            };
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "{mark}  {}{reason}", case.id);
        }
        let _ = writeln!(text, "{} {}", self.ext_id, self.badge);
        text
    }

    /// The report in the form that CI systems read.
    pub fn junit(&self) -> String {
        let failures = self.failed().len();
        let count = |status: &str| {
            self.cases
                .iter()
                .filter(|case| case.status == status)
                .count()
        };
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let _ = writeln!(
            xml,
            "<testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" skipped=\"{}\">",
            escaped(&self.ext_id),
            self.cases.len(),
            count("notApplicable"),
        );
        for case in &self.cases {
            let reason = escaped(case.reason.as_deref().unwrap_or_default());
            let inside = match case.status.as_str() {
                "pass" => String::new(),
                "fail" => format!(
                    "<failure message=\"{reason}\">{}</failure>",
                    escaped(&case.page)
                ),
                _ => format!("<skipped message=\"{reason}\"/>"),
            };
            let (class, name) = case.id.split_once('.').unwrap_or(("", &case.id));
            let _ = writeln!(
                xml,
                "  <testcase classname=\"{}\" name=\"{}\">{inside}</testcase>",
                escaped(class),
                escaped(name)
            );
        }
        xml.push_str("</testsuite>\n");
        xml
    }
}

/// Text inside XML. A character that XML cannot hold becomes a question mark.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            control if control.is_control() => escaped.push('?'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_report_says_what_failed_in_every_form() {
        let cases = crate::all();
        let verdicts = [
            Verdict::Pass,
            Verdict::fail("<saw> \"this\"\u{1b}[31m"),
            Verdict::not_applicable("elsewhere"),
        ];
        let outcomes = cases.iter().zip(verdicts);
        let outcomes = outcomes
            .map(|(case, verdict)| Outcome::new(case, verdict))
            .collect();
        let manifest =
            json!({"extId": "x", "kind": "Tool", "version": "1.0.0", "contractVersion": "1.1.0"});
        let report = Report::new(&manifest, outcomes);
        assert_eq!(report.badge, "does not conform to Tool 1.1.0, 1 of 2 cases");
        assert_eq!(report.failed(), [cases[1].id]);
        let xml = report.junit();
        assert!(
            xml.contains("tests=\"3\" failures=\"1\" skipped=\"1\""),
            "{xml}"
        );
        assert!(xml.contains("&lt;saw&gt; &quot;this&quot;?[31m"), "{xml}");
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(serde_json::from_value::<Report>(json).unwrap(), report);
        assert!(report.text().contains(&format!("FAIL  {}", cases[1].id)));
    }
}
