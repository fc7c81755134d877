//! A measured number beside what was promised.

use std::time::Duration;

use serde::Serialize;

/// One number of an entry.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
    /// The median where there are several samples.
    pub(crate) value: f64,
    pub(crate) unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) p99: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<Budget>,
    pub(crate) samples: usize,
    /// What a reader needs to judge it, such as the questions that were missed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

/// What was promised.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Budget {
    AtMost(f64),
    AtLeast(f64),
}

impl Figure {
    pub(crate) fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self {
            name: name.into(),
            value,
            unit,
            p99: None,
            budget: None,
            samples: 1,
            notes: Vec::new(),
        }
    }

    /// The median of times in milliseconds, with their 99th percentile.
    pub(crate) fn times(name: impl Into<String>, times: &[Duration]) -> Self {
        let milliseconds: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
        Self {
            p99: Some(percentile(&milliseconds, 99.0)),
            samples: times.len(),
            ..Self::new(name, percentile(&milliseconds, 50.0), "ms")
        }
    }

    pub(crate) fn at_most(self, limit: f64) -> Self {
        Self {
            budget: Some(Budget::AtMost(limit)),
            ..self
        }
    }

    pub(crate) fn at_least(self, limit: f64) -> Self {
        Self {
            budget: Some(Budget::AtLeast(limit)),
            ..self
        }
    }

    pub(crate) fn of(self, samples: usize) -> Self {
        Self { samples, ..self }
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Whether the budget is kept; `None` without one.
    pub(crate) fn is_kept(&self) -> Option<bool> {
        self.budget.map(|budget| match budget {
            Budget::AtMost(limit) => self.value <= limit,
            Budget::AtLeast(limit) => self.value >= limit,
        })
    }
}

/// The value that `percent` of the samples do not exceed; 0 without samples.
pub(crate) fn percentile(samples: &[f64], percent: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples() {
        let samples = [5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!(percentile(&samples, 50.0), 3.0);
        assert_eq!(percentile(&samples, 99.0), 5.0);
        assert_eq!(percentile(&[], 50.0), 0.0);
    }

    #[test]
    fn a_budget_has_a_direction() {
        let figure = Figure::new("x", 10.0, "ms");
        assert_eq!(figure.is_kept(), None);
        assert_eq!(figure.clone().at_most(10.0).is_kept(), Some(true));
        assert_eq!(figure.at_least(10.5).is_kept(), Some(false));
    }
}
