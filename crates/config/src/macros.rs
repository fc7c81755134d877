//! How a section of `config.yaml` is declared: one table gives the type, the defaults, the reading,
//! the ranges, the schema and the reference page, so that none of them can drift.

/// Declares a section.
///
/// ```ignore
/// section! {
///     /// How long things may take.
///     pub struct Limits {
///         /// Seconds one command may run.
///         timeout: u32 = 180, in 1..=86_400;
///         /// Most commands at once; unlimited when null.
///         parallel: Option<u32> = None;
///         /// Read when set, but absent from the defaults.
///         @unlisted note: Option<String> = None;
///         /// Accepted, while nothing acts on it.
///         priority: u32 = 0, no_effect "until commands wait for each other";
///     }
/// }
/// ```
///
/// `pub struct Name [..rest: T]` keeps keys that are not listed in a map of `T` called `rest`; without it
/// they are reported. `field as "key"` gives the key another name than the field. An `@unlisted` field is
/// left out of the effective configuration while it has its default. Every setting that no code reads says so with
/// `no_effect`, and what it waits for or why; a test looks for the readers of all others. Whoever sets it is told.
macro_rules! section {
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident $([.. $rest:ident : $other:ty])? {
            $(
                $(#[doc = $doc:literal])+
                $(@ $listed:ident)? $field:ident $(as $key:literal)? : $type:ty = $default:expr $(, in $range:expr)? $(, no_effect $why:literal)? ;
            )*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $field: $type, )*
            $(
                /// The keys that have no field of their own.
                pub $rest: std::collections::BTreeMap<String, $other>,
            )?
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $( $field: $default, )*
                    $( $rest: std::collections::BTreeMap::<String, $other>::new(), )?
                }
            }
        }

        impl $name {
            const KEYS: &'static [&'static str] = &[ $( section!(@key $field $($key)?) ),* ];

            #[allow(unused_variables, reason = "a section may have no field")]
            fn fill(&mut self, map: &$crate::value::Map, reader: &mut $crate::setting::Reader) {
                let section = self;
                $(
                    section!(@read reader, map, section, $field, section!(@key $field $($key)?) $(, $range)?);
                    section!(@idle reader, map, section, $field, section!(@key $field $($key)?), $type, $default $(, $why)?);
                )*
                section!(@others reader, map, section $(, $rest)?);
            }
        }

        impl $crate::setting::Setting for $name {
            fn shape() -> $crate::shape::Shape {
                $crate::shape::Shape::Section($crate::shape::Section {
                    name: stringify!($name),
                    about: concat!($($about, "\n"),+),
                    fields: vec![ $( $crate::shape::Field {
                        key: section!(@key $field $($key)?),
                        about: concat!($($doc, "\n"),+),
                        shape: section!(@shape $type $(, $range)?),
                        default: {
                            let default: $type = $default;
                            $crate::setting::Setting::to_value(&default)
                        },
                        no_effect: section!(@why $($why)?),
                    } ),* ],
                    rest: section!(@rest $($other)?),
                })
            }

            fn read(node: &$crate::value::Node, reader: &mut $crate::setting::Reader) -> Option<Self> {
                let map = reader.section(node)?;
                let mut section = Self::default();
                section.fill(map, reader);
                Some(section)
            }

            fn update(&mut self, node: &$crate::value::Node, reader: &mut $crate::setting::Reader) {
                if let Some(map) = reader.section(node) {
                    self.fill(map, reader);
                }
            }

            #[allow(unused_mut, reason = "a section may have no field")]
            fn to_value(&self) -> $crate::value::Value {
                let mut map = $crate::value::Map::new();
                $(
                    if section!(@shown self, $field, $type, $default $(, $listed)?) {
                        let value = $crate::setting::Setting::to_value(&self.$field);
                        map.insert(section!(@key $field $($key)?), value.into());
                    }
                )*
                $(
                    for (key, value) in &self.$rest {
                        map.insert(key.clone(), $crate::setting::Setting::to_value(value).into());
                    }
                )?
                $crate::value::Value::Map(map)
            }
        }
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    (@why) => { None };
    (@why $why:literal) => { Some($why) };
    (@idle $reader:ident, $map:ident, $section:ident, $field:ident, $key:expr, $type:ty, $default:expr) => {};
    (@idle $reader:ident, $map:ident, $section:ident, $field:ident, $key:expr, $type:ty, $default:expr, $why:literal) => {
        if let Some(node) = $map.get($key) {
            let default: $type = $default;
            if $section.$field != default {
                $reader.idle($key, node, $why);
            }
        }
    };
    (@rest) => { None };
    (@rest $other:ty) => { Some(Box::new(<$other as $crate::setting::Setting>::shape())) };
    (@shown $section:expr, $field:ident, $type:ty, $default:expr) => { true };
    (@shown $section:expr, $field:ident, $type:ty, $default:expr, unlisted) => {{
        let default: $type = $default;
        $section.$field != default
    }};
    (@others $reader:ident, $map:ident, $section:ident) => {
        $reader.unknown_keys($map, Self::KEYS)
    };
    (@others $reader:ident, $map:ident, $section:ident, $rest:ident) => {
        $reader.other_keys($map, Self::KEYS, &mut $section.$rest)
    };
    (@shape $type:ty) => { <$type as $crate::setting::Setting>::shape() };
    (@shape $type:ty, $range:expr) => { $crate::setting::within::<$type>(&$range) };
    (@read $reader:ident, $map:ident, $section:ident, $field:ident, $key:expr) => {
        $reader.field($key, $map, &mut $section.$field)
    };
    (@read $reader:ident, $map:ident, $section:ident, $field:ident, $key:expr, $range:expr) => {
        $reader.field_within($key, $map, &mut $section.$field, &$range)
    };
}

/// Declares a setting that is one of a few words, written in any case.
///
/// `Manual = "manual" | "on"` accepts a second spelling. `pub enum Name [else Manual]` reads a word that is
/// not accepted as `Manual` after reporting it, where keeping the default would be unsafe. A word that YAML 1.1 turned into a boolean
/// (`off`, `on`, `no`) is understood.
macro_rules! choice {
    (
        $(#[doc = $about:literal])+
        pub enum $name:ident $([else $fallback:ident])? {
            $( $(#[doc = $doc:literal])+ $variant:ident = $word:literal $(| $alias:literal)*, )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $( $(#[doc = $doc])+ $variant, )+
        }

        impl $name {
            const CHOICES: &'static [$crate::shape::Choice] = &[
                $( $crate::shape::Choice { word: $word, about: concat!($($doc, "\n"),+) } ),+
            ];

            /// The word that stands for it in the file.
            pub fn word(self) -> &'static str {
                match self { $( Self::$variant => $word, )+ }
            }
        }

        impl $crate::setting::Setting for $name {
            fn shape() -> $crate::shape::Shape {
                $crate::shape::Shape::Choice(Self::CHOICES)
            }

            fn read(node: &$crate::value::Node, reader: &mut $crate::setting::Reader) -> Option<Self> {
                for word in $crate::macros::words_of(node) {
                    $( if [$word $(, $alias)*].iter().any(|known| word.eq_ignore_ascii_case(known)) {
                        return Some(Self::$variant);
                    } )+
                }
                if node.value == $crate::value::Value::Null {
                    return None;
                }
                reader.refuse(node, Self::shape().expected());
                choice!(@else $($fallback)?)
            }

            fn to_value(&self) -> $crate::value::Value {
                $crate::value::Value::Text(self.word().to_owned())
            }
        }
    };
    (@else) => { None };
    (@else $fallback:ident) => { Some(Self::$fallback) };
}

pub(crate) use {choice, section};

use std::time::Duration;

use crate::value::{Node, Value};

/// The words a scalar may have been meant as, the written one first.
pub(crate) fn words_of(node: &Node) -> Vec<String> {
    let Some(text) = node.text() else {
        return Vec::new();
    };
    let written = text.trim().to_owned();
    let switch = match (&node.value, written.to_lowercase().as_str()) {
        (Value::Bool(flag), _) => Some(*flag),
        (_, "true" | "yes" | "on") => Some(true),
        (_, "false" | "no" | "off") => Some(false),
        _ => None,
    };
    let synonyms: &[&str] = match switch {
        Some(true) => &["on", "true", "yes"],
        Some(false) => &["off", "false", "no", "none"],
        None => &[],
    };
    let mut words = vec![written];
    words.extend(synonyms.iter().map(|&word| word.to_owned()));
    words
}

/// Text for a default.
pub(crate) fn text(text: &str) -> String {
    text.to_owned()
}

/// Texts for a default.
pub(crate) fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).into()
}

/// Seconds for a default or a range.
pub(crate) const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
