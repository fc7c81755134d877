//! The languages recall is measured for.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Language {
    English,
    German,
    Spanish,
    Russian,
    Arabic,
    Chinese,
    Japanese,
    Korean,
}

impl Language {
    pub(crate) const ALL: [Self; 8] = [
        Self::English,
        Self::German,
        Self::Spanish,
        Self::Russian,
        Self::Arabic,
        Self::Chinese,
        Self::Japanese,
        Self::Korean,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "German",
            Self::Spanish => "Spanish",
            Self::Russian => "Russian",
            Self::Arabic => "Arabic",
            Self::Chinese => "Chinese",
            Self::Japanese => "Japanese",
            Self::Korean => "Korean",
        }
    }

    /// The words and sentence shapes.
    pub(super) fn source(self) -> &'static str {
        match self {
            Self::English => include_str!("../../data/en.txt"),
            Self::German => include_str!("../../data/de.txt"),
            Self::Spanish => include_str!("../../data/es.txt"),
            Self::Russian => include_str!("../../data/ru.txt"),
            Self::Arabic => include_str!("../../data/ar.txt"),
            Self::Chinese => include_str!("../../data/zh.txt"),
            Self::Japanese => include_str!("../../data/ja.txt"),
            Self::Korean => include_str!("../../data/ko.txt"),
        }
    }

    /// Whether words are searched by runs of characters rather than by spaces.
    pub(super) fn is_dense(self) -> bool {
        match self {
            Self::Chinese | Self::Japanese | Self::Korean => true,
            Self::English | Self::German | Self::Spanish | Self::Russian | Self::Arabic => false,
        }
    }

    /// What stands between two sentences.
    pub(super) fn pause(self) -> &'static str {
        match self {
            Self::Chinese | Self::Japanese => "。",
            Self::Arabic
            | Self::English
            | Self::German
            | Self::Korean
            | Self::Russian
            | Self::Spanish => ". ",
        }
    }
}
