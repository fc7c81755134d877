//! Websites the user does not want visited.

use serde::Serialize;
use unicode_normalization::UnicodeNormalization;

use crate::wildcard;

/// The most rules that are kept.
const MAX_RULES: usize = 200_000;

/// Hosts that are not to be visited.
#[derive(Debug, Clone, Default)]
pub struct Blocklist {
    rules: Vec<Rule>,
    /// Entries that are no host, with where they stand; they block nothing.
    pub rejected: Vec<String>,
}

#[derive(Debug, Clone)]
struct Rule {
    pattern: String,
    source: String,
}

/// The answer for a website that is blocked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Blocked {
    /// What was asked for.
    pub url: String,
    /// Its host.
    pub host: String,
    /// The rule that matched.
    pub rule: String,
    /// Where the rule stands.
    pub source: String,
    /// What the model is told.
    pub message: String,
}

impl Blocklist {
    /// Adds the entries of the configuration.
    pub fn add_domains<'d>(&mut self, domains: impl IntoIterator<Item = &'d str>) {
        for domain in domains {
            self.add(domain, "config.yaml");
        }
    }

    /// Adds a file: one rule on a line, `#` begins a comment.
    pub fn add_file(&mut self, text: &str, source: &str) {
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default();
            if !line.trim().is_empty() {
                self.add(line, source);
            }
        }
    }

    fn add(&mut self, entry: &str, source: &str) {
        let pattern = host_of(entry);
        let valid = pattern.chars().any(char::is_alphanumeric)
            && !pattern.contains(char::is_whitespace)
            && pattern.trim_start_matches("*.").chars().any(|c| c != '*');
        if !valid || self.rules.len() >= MAX_RULES {
            self.rejected.push(format!("{source}: {}", entry.trim()));
            return;
        }
        self.rules.push(Rule {
            pattern,
            source: source.to_owned(),
        });
    }

    /// The rule that blocks an address, if one does.
    pub fn check(&self, url: &str) -> Option<Blocked> {
        let host = host_of(url);
        let rule = self.rules.iter().find(|rule| rule.blocks(&host))?;
        Some(Blocked {
            url: url.to_owned(),
            message: format!(
                "{host} is on the user's list of blocked websites ({} in {}). Do not look for a way around it.",
                rule.pattern, rule.source
            ),
            host,
            rule: rule.pattern.clone(),
            source: rule.source.clone(),
        })
    }
}

impl Rule {
    fn blocks(&self, host: &str) -> bool {
        if self.pattern.contains('*') {
            return wildcard::matches(&self.pattern, host);
        }
        let above = host.strip_suffix(self.pattern.as_str());
        above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
    }
}

/// The host of an address or of a rule, in small letters, without `www.`, port and user.
fn host_of(text: &str) -> String {
    let text = text.trim();
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let text = text.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let text = text.rsplit('@').next().unwrap_or_default();
    let text = match text.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => text.split(':').next().unwrap_or_default(),
    };
    let folded: String = text.nfkc().collect();
    // Addresses that were taken apart have the name as it goes over the wire; rules have it as people write it.
    let lower = idna::domain_to_ascii(&folded).unwrap_or_else(|_| folded.to_lowercase());
    let lower = lower.trim_end_matches('.');
    lower.strip_prefix("www.").unwrap_or(lower).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    // EX-61
    #[test]
    fn a_name_in_any_script_is_the_same_however_it_is_written() {
        let mut list = Blocklist::default();
        list.add_domains(["bücher.example", "*.кино.example"]);
        for address in [
            "https://bücher.example/",
            "https://BÜCHER.example/x",
            "https://xn--bcher-kva.example/",
            "https://alt.xn--bcher-kva.example/",
            "https://a.xn--h1adke.example/",
            "https://а.кино.example/",
        ] {
            assert!(list.check(address).is_some(), "{address}");
        }
        assert!(list.check("https://bucher.example/").is_none());
    }

    // EX-61
    #[test]
    fn a_host_blocks_itself_and_what_is_below_it() {
        let mut list = Blocklist::default();
        list.add_domains([
            "https://www.Bad.example/path",
            "*.ads.example",
            "news*.example",
            "",
            "* ",
        ]);
        list.add_file(
            "# shared\ntracker.example  # why\n\nhttp://x.example:8080/\n",
            "team.txt",
        );
        assert_eq!(list.rejected, ["config.yaml: ", "config.yaml: *"]);
        for (url, rule) in [
            ("https://bad.example/", Some("bad.example")),
            ("http://WWW.bad.example:81/x?y", Some("bad.example")),
            ("https://a.b.bad.example", Some("bad.example")),
            ("https://user:pw@bad.example/", Some("bad.example")),
            ("https://bad.example./", Some("bad.example")),
            ("https://bad.example\\@good.example", Some("bad.example")),
            ("https://ｂａｄ.example/", Some("bad.example")),
            ("https://x.ads.example", Some("*.ads.example")),
            ("https://ads.example", None),
            ("https://news7.example", Some("news*.example")),
            ("https://tracker.example", Some("tracker.example")),
            ("https://x.example", Some("x.example")),
            ("https://notbad.example", None),
            ("https://bad.example.org", None),
            ("https://good.example/?u=bad.example", None),
        ] {
            let found = list.check(url);
            assert_eq!(
                found.as_ref().map(|found| found.rule.as_str()),
                rule,
                "{url}"
            );
        }
        assert_eq!(
            list.check("https://tracker.example").unwrap().source,
            "team.txt"
        );
    }
}
