//! The sizes of a model, as its file states them.

use crate::LocalError;
use crate::gguf::Gguf;

/// The families the engine runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Llama,
    Qwen2,
    Qwen3,
}

impl Family {
    const ALL: [(&'static str, Self); 3] = [
        ("llama", Self::Llama),
        ("qwen2", Self::Qwen2),
        ("qwen3", Self::Qwen3),
    ];

    fn of(file: &Gguf) -> Result<Self, LocalError> {
        let word = file
            .text("general.architecture")
            .ok_or_else(|| LocalError::damaged(file.path(), "it does not name its architecture"))?;
        let found = Self::ALL.iter().find(|(name, _)| *name == word);
        found.map(|(_, family)| *family).ok_or_else(|| {
            let known = Self::ALL.map(|(name, _)| name).join(", ");
            let needs = format!("its architecture is `{word}`, the built-in engine knows {known}");
            LocalError::unsupported(file.path(), needs)
        })
    }

    fn word(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
        }
    }
}

/// Sizes of a model.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) family: Family,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) head_size: usize,
    pub(crate) window: usize,
    pub(crate) epsilon: f32,
    pub(crate) rope_base: f32,
    /// Positions are divided by this; 1 for models that were not stretched.
    pub(crate) rope_scale: f32,
    /// How the states of a text become one, as the file numbers it; only embedding models say so.
    pub(crate) pooling: Option<usize>,
}

impl Shape {
    pub(crate) fn read(file: &Gguf) -> Result<Self, LocalError> {
        let family = Family::of(file)?;
        let key = |name: &str| format!("{}.{name}", family.word());
        let damaged = |detail: &str| LocalError::damaged(file.path(), detail);
        let width = file.required(&key("embedding_length"))?;
        let heads = file.required(&key("attention.head_count"))?;
        let kv_heads = file
            .number(&key("attention.head_count_kv"))
            .unwrap_or(heads);
        if heads == 0 || kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
            return Err(damaged("its attention heads do not divide evenly"));
        }
        let head_size = file
            .number(&key("attention.key_length"))
            .unwrap_or(width / heads);
        let rotated = file
            .number(&key("rope.dimension_count"))
            .unwrap_or(head_size);
        if rotated != head_size || !head_size.is_multiple_of(2) || head_size == 0 {
            return Err(LocalError::unsupported(
                file.path(),
                format!("it rotates {rotated} of {head_size} dimensions, the engine all of them"),
            ));
        }
        if file
            .number(&key("expert_count"))
            .is_some_and(|count| count > 0)
        {
            let needs = "it is a mixture of experts, the built-in engine runs dense models";
            return Err(LocalError::unsupported(file.path(), needs));
        }
        let linear = file.text(&key("rope.scaling.type")) == Some("linear");
        let scale = file.float(&key("rope.scaling.factor"));
        Ok(Self {
            family,
            layers: file.required(&key("block_count"))?,
            heads,
            kv_heads,
            head_size,
            window: file.required(&key("context_length"))?,
            epsilon: file
                .float(&key("attention.layer_norm_rms_epsilon"))
                .ok_or_else(|| damaged("it does not say its normalisation"))?,
            rope_base: file.float(&key("rope.freq_base")).unwrap_or(10_000.0),
            rope_scale: scale.filter(|scale| linear && *scale > 0.0).unwrap_or(1.0),
            pooling: file.number(&key("pooling_type")),
        })
    }

    pub(crate) fn family_word(&self) -> &'static str {
        self.family.word()
    }
}
