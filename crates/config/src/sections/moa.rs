//! `moa`: several models answering together.

use std::collections::BTreeMap;

use super::effort::Effort;
use crate::macros::{choice, section, text};
use crate::value::Value;

section! {
    /// Mixture of agents: several models answer, and one makes a single answer of theirs.
    pub struct Moa {
        /// Mixture used when none is named.
        default_preset: String = text("default");
        /// Mixture that is on; none when empty.
        active_preset: String = String::new();
        /// Writes down what every model said.
        save_traces: bool = false;
        /// Directory for that; one in the home when empty.
        trace_dir: String = String::new();
        /// The mixtures, by name.
        presets: BTreeMap<String, MoaPreset> = BTreeMap::from([(text("default"), built_in())]);
    }
}

choice! {
    /// How often the models are asked.
    pub enum Fanout {
        /// Before every call of the model that answers.
        PerIteration = "per_iteration",
        /// Once for every message of the user.
        UserTurn = "user_turn",
    }
}

section! {
    /// One mixture of models.
    pub struct MoaPreset {
        /// Models that answer side by side.
        reference_models: Vec<MoaModel> = Vec::new();
        /// Model that makes one answer of theirs.
        aggregator: MoaModel = MoaModel::default();
        /// Temperature of the former.
        @unlisted reference_temperature: Option<f64> = None, in 0.0..=10.0;
        /// Temperature of the latter.
        @unlisted aggregator_temperature: Option<f64> = None, in 0.0..=10.0;
        /// Most tokens of one answer.
        max_tokens: u32 = 4096, in 1..=100_000_000;
        /// Most tokens of one answer of the former, in place of `max_tokens`.
        @unlisted reference_max_tokens: Option<u32> = None;
        /// How often the former are asked.
        @unlisted fanout: Option<Fanout> = None;
        /// Lets the mixture be used.
        enabled: bool = true;
    }
}

section! {
    /// One model of a mixture.
    pub struct MoaModel [..rest: Value] {
        /// Provider that serves it.
        provider: String = String::new();
        /// Name of the model.
        model: String = String::new();
        /// Thinking it does.
        @unlisted reasoning_effort: Effort = Effort::Unset;
    }
}

/// The mixture that is there from the start.
fn built_in() -> MoaPreset {
    let model = |provider: &str, model: &str| MoaModel {
        provider: text(provider),
        model: text(model),
        ..MoaModel::default()
    };
    MoaPreset {
        reference_models: vec![
            model("openai-codex", "gpt-5.5"),
            model("openrouter", "deepseek/deepseek-v4-pro"),
        ],
        aggregator: model("openrouter", "anthropic/claude-opus-4.8"),
        ..MoaPreset::default()
    }
}
