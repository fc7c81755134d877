//! What a setting may look like: the one description that the schema, the reference page,
//! `config set` and did-you-mean all read.

use crate::value::{KeyPath, Value};

/// The form of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    Bool,
    Int {
        least: i64,
        most: i64,
    },
    Float {
        least: f64,
        most: f64,
    },
    Text,
    /// Text that is never shown in full.
    Secret,
    /// One of a closed list of words.
    Choice(&'static [Choice]),
    /// Anything YAML can say.
    Any,
    /// The inner shape, or null.
    Optional(Box<Shape>),
    List(Box<Shape>),
    /// A map whose keys the user chooses.
    Map(Box<Shape>),
    /// A map with fixed keys.
    Section(Section),
    OneOf(Vec<Shape>),
}

/// A word a setting accepts, and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    pub word: &'static str,
    pub about: &'static str,
}

impl Choice {
    /// The word as it is shown to people, who would not see an empty one.
    pub fn shown(&self) -> &'static str {
        if self.word.is_empty() {
            "\"\""
        } else {
            self.word
        }
    }
}

/// A map with fixed keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The name of the type; two sections with the same name have the same keys.
    pub name: &'static str,
    pub about: &'static str,
    pub fields: Vec<Field>,
    /// The shape of keys that are not in the list; `None` when there may be no others.
    pub rest: Option<Box<Shape>>,
}

/// One key of a section.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub key: &'static str,
    pub about: &'static str,
    pub shape: Shape,
    pub default: Value,
    /// What it waits for, or why it is not needed, where nothing reads it.
    pub no_effect: Option<&'static str>,
}

impl Shape {
    /// Narrows a number to a range; other shapes are left as they are.
    #[must_use]
    pub(crate) fn within(self, least: f64, most: f64) -> Self {
        match self {
            Self::Int { .. } => Self::Int {
                least: least as i64,
                most: most as i64,
            },
            Self::Float { .. } => Self::Float { least, most },
            Self::Optional(inner) => Self::Optional(Box::new(inner.within(least, most))),
            other => other,
        }
    }

    /// The shape at one path segment, if the path can be written at all.
    pub fn child(&self, segment: &str) -> Option<Shape> {
        match self {
            Self::Section(section) => section
                .fields
                .iter()
                .find(|field| field.key == segment)
                .map(|field| field.shape.clone())
                .or_else(|| section.rest.as_deref().cloned()),
            Self::Map(inner) => Some((**inner).clone()),
            Self::List(inner) => segment.parse::<usize>().ok().map(|_| (**inner).clone()),
            Self::Any => Some(Self::Any),
            Self::Optional(inner) => inner.child(segment),
            Self::OneOf(shapes) => shapes.iter().find_map(|shape| shape.child(segment)),
            Self::Bool
            | Self::Int { .. }
            | Self::Float { .. }
            | Self::Text
            | Self::Secret
            | Self::Choice(_) => None,
        }
    }

    /// The shape at a whole path.
    pub fn at(&self, path: &KeyPath) -> Option<Shape> {
        path.segments()
            .try_fold(self.clone(), |shape, segment| shape.child(segment))
    }

    /// The value that is in force at a path when nobody says anything; `None` where there is no such setting.
    pub fn default_at(&self, path: &KeyPath) -> Option<Value> {
        let last = path.segments().last()?;
        let above = path.prefix(path.len().checked_sub(1)?);
        let section = match self.at(&above)? {
            Self::Section(section) => section,
            Self::Optional(inner) => match *inner {
                Self::Section(section) => section,
                _ => return None,
            },
            _ => return None,
        };
        let mut fields = section.fields.into_iter();
        let field = fields.find(|field| field.key == last)?;
        Some(field.default)
    }

    /// A key inside the section at `path` that takes a plain value; `None` when there is no section.
    pub fn example_in(&self, path: &KeyPath) -> Option<KeyPath> {
        self.at(path)?.example(path)
    }

    fn example(&self, path: &KeyPath) -> Option<KeyPath> {
        let inside = |name: &str, shape: &Self| {
            let path = path.child(name);
            shape.example(&path).or(Some(path))
        };
        match self {
            Self::Section(section) => {
                let plain = |field: &&Field| field.shape.example(path).is_none();
                let fields = &section.fields;
                let field = fields.iter().find(plain).or_else(|| fields.first())?;
                inside(field.key, &field.shape)
            }
            Self::Map(inner) => inside("NAME", inner),
            Self::Optional(inner) => inner.example(path),
            Self::OneOf(shapes) => {
                let all: Option<Vec<_>> = shapes.iter().map(|shape| shape.example(path)).collect();
                all?.into_iter().next()
            }
            Self::Bool
            | Self::Int { .. }
            | Self::Float { .. }
            | Self::Text
            | Self::Secret
            | Self::Choice(_)
            | Self::Any
            | Self::List(_) => None,
        }
    }

    /// The fixed keys directly below, for suggestions.
    pub fn keys(&self) -> Vec<&'static str> {
        match self {
            Self::Section(section) => section.fields.iter().map(|field| field.key).collect(),
            Self::Optional(inner) => inner.keys(),
            Self::OneOf(shapes) => shapes.iter().flat_map(Self::keys).collect(),
            Self::Bool
            | Self::Int { .. }
            | Self::Float { .. }
            | Self::Text
            | Self::Secret
            | Self::Choice(_)
            | Self::Any
            | Self::List(_)
            | Self::Map(_) => Vec::new(),
        }
    }

    /// What a value of this shape is, in the words of an error message.
    pub fn expected(&self) -> String {
        match self {
            Self::Bool => "true or false".to_owned(),
            Self::Int { least, most } => match (*least, *most) {
                (i64::MIN, i64::MAX) => "a whole number".to_owned(),
                (0, i64::MAX) => "a whole number, 0 or more".to_owned(),
                (least, i64::MAX) => format!("a whole number, {least} or more"),
                (least, most) => format!("a whole number from {least} to {most}"),
            },
            Self::Float { least, most } => match (least.is_finite(), most.is_finite()) {
                (true, true) => format!("a number from {least} to {most}"),
                (true, false) => format!("a number, {least} or more"),
                (false, _) => "a number".to_owned(),
            },
            Self::Text | Self::Secret => "text".to_owned(),
            Self::Choice(choices) => {
                let words: Vec<_> = choices.iter().map(Choice::shown).collect();
                format!("one of {}", words.join(", "))
            }
            Self::Any => "any value".to_owned(),
            Self::Optional(inner) => format!("{} or null", inner.expected()),
            Self::List(inner) => format!("a list of {}", plural(inner)),
            Self::Map(_) | Self::Section(_) => "a map".to_owned(),
            Self::OneOf(shapes) => {
                let all: Vec<_> = shapes.iter().map(Self::expected).collect();
                all.join(", or ")
            }
        }
    }
}

fn plural(shape: &Shape) -> &'static str {
    match shape {
        Shape::Text | Shape::Secret => "texts",
        Shape::Int { .. } | Shape::Float { .. } => "numbers",
        Shape::Map(_) | Shape::Section(_) => "maps",
        Shape::Choice(_) => "words",
        Shape::Bool | Shape::Any | Shape::Optional(_) | Shape::List(_) | Shape::OneOf(_) => {
            "values"
        }
    }
}
