//! What is known against a package, and how bad it is.

use serde::Serialize;
use serde_json::Value as Json;

/// Most characters of a summary.
const MOST_SUMMARY: usize = 200;

/// How bad it is. The last counts for every level: what nobody rated may be anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Hardly matters.
    Low,
    /// Matters to some.
    Moderate,
    /// Matters.
    High,
    /// Matters to everybody; malware is always this.
    Critical,
    /// Nobody said.
    Unrated,
}

impl Severity {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Moderate => "moderate",
            Self::High => "high",
            Self::Critical => "critical",
            Self::Unrated => "unrated",
        }
    }

    fn named(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "low" => Some(Self::Low),
            "moderate" | "medium" => Some(Self::Moderate),
            "high" => Some(Self::High),
            "critical" => Some(Self::Critical),
            _ => None,
        }
    }

    /// By the number that CVSS gives, from 0 to 10.
    fn scored(score: f64) -> Self {
        match score {
            score if score >= 9.0 => Self::Critical,
            score if score >= 7.0 => Self::High,
            score if score >= 4.0 => Self::Moderate,
            _ => Self::Low,
        }
    }
}

/// One entry of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Advisory {
    /// Its name.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// What it is about; the words of whoever wrote it.
    pub summary: String,
    /// Its names elsewhere.
    pub aliases: Vec<String>,
}

impl Advisory {
    pub(super) fn read(entry: &Json) -> Option<Self> {
        let id = entry.get("id")?.as_str()?.to_owned();
        let severity = match id.starts_with(super::MALWARE) {
            true => Severity::Critical,
            false => severity(entry),
        };
        let summary = entry.get("summary").or_else(|| entry.get("details"));
        let summary = summary.and_then(Json::as_str).unwrap_or_default();
        let aliases = entry.get("aliases").and_then(Json::as_array);
        let aliases = aliases.into_iter().flatten().filter_map(Json::as_str);
        Some(Self {
            severity,
            summary: summary.chars().take(MOST_SUMMARY).collect(),
            aliases: aliases.map(str::to_owned).collect(),
            id,
        })
    }
}

/// What the data base says, else what the vector comes to.
fn severity(entry: &Json) -> Severity {
    let said = entry
        .pointer("/database_specific/severity")
        .and_then(Json::as_str)
        .and_then(Severity::named);
    let vectors = entry.get("severity").and_then(Json::as_array);
    let mut vectors = vectors.into_iter().flatten();
    let mut scored = || vectors.find_map(|one| base_score(one.get("score")?.as_str()?));
    said.or_else(|| scored().map(Severity::scored))
        .unwrap_or(Severity::Unrated)
}

/// The base score of a vector of CVSS 3.0 or 3.1, as its specification computes it.
fn base_score(vector: &str) -> Option<f64> {
    let metrics = vector
        .strip_prefix("CVSS:3.1/")
        .or_else(|| vector.strip_prefix("CVSS:3.0/"))?;
    let metric = |name: &str| {
        let mut pairs = metrics.split('/').filter_map(|pair| pair.split_once(':'));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let changed = metric("S")? == "C";
    let reach = match metric("AV")? {
        "N" => 0.85,
        "A" => 0.62,
        "L" => 0.55,
        "P" => 0.2,
        _ => return None,
    };
    let effort = if metric("AC")? == "L" { 0.77 } else { 0.44 };
    let rights = match (metric("PR")?, changed) {
        ("N", _) => 0.85,
        ("L", false) => 0.62,
        ("L", true) => 0.68,
        ("H", false) => 0.27,
        ("H", true) => 0.5,
        _ => return None,
    };
    let person = if metric("UI")? == "N" { 0.85 } else { 0.62 };
    let loss = |name: &str| match metric(name)? {
        "H" => Some(0.56),
        "L" => Some(0.22),
        "N" => Some(0.0),
        _ => None,
    };
    let kept = (1.0 - loss("C")?) * (1.0 - loss("I")?) * (1.0 - loss("A")?);
    let lost: f64 = 1.0 - kept;
    let impact = match changed {
        true => 7.52 * (lost - 0.029) - 3.25 * (lost - 0.02).powi(15),
        false => 6.42 * lost,
    };
    if impact <= 0.0 {
        return Some(0.0);
    }
    let exploitable = 8.22 * reach * effort * rights * person;
    let sum = match changed {
        true => 1.08 * (impact + exploitable),
        false => impact + exploitable,
    };
    // Rounded up to one digit; what binary fractions add far behind does not count.
    Some(((sum.min(10.0) * 10.0 - 1e-6).ceil()) / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // MCP-96
    #[test]
    fn a_vector_comes_to_the_score_of_its_specification() {
        for (vector, score) in [
            ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", 9.8),
            ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H", 10.0),
            ("CVSS:3.0/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N", 6.1),
            ("CVSS:3.1/AV:L/AC:H/PR:H/UI:R/S:U/C:L/I:N/A:N", 1.8),
            ("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N", 0.0),
        ] {
            assert_eq!(base_score(vector), Some(score), "{vector}");
        }
        for vector in [
            "",
            "CVSS:4.0/AV:N",
            "CVSS:3.1/AV:N",
            "CVSS:3.1/AV:X/AC:L/S:U",
        ] {
            assert_eq!(base_score(vector), None, "{vector}");
        }
    }

    // MCP-96
    #[test]
    fn an_entry_is_as_bad_as_it_says_or_as_its_vector_says_or_unrated() {
        let severity = |entry: Json| Advisory::read(&entry).unwrap().severity;
        let vector =
            json!([{ "type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }]);
        let said = json!({ "id": "A", "database_specific": { "severity": "MODERATE" }, "severity": vector });
        assert_eq!(severity(said), Severity::Moderate);
        assert_eq!(
            severity(json!({ "id": "A", "severity": vector })),
            Severity::Critical
        );
        assert_eq!(severity(json!({ "id": "A" })), Severity::Unrated);
        assert_eq!(severity(json!({ "id": "MAL-1" })), Severity::Critical);
        assert_eq!(Advisory::read(&json!({ "summary": "no name" })), None);
        assert!(Severity::Unrated > Severity::Critical && Severity::High > Severity::Moderate);
    }
}
