//! What a skin file says.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::builtin;

/// A skin as it is written. What it leaves out is as in `default`; what it says in a way nobody understands
/// is left out too, so that one bad line does not cost the user the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Skin {
    /// What it is called; the only thing a skin must say.
    pub name: String,
    /// What it is like, for the list of skins.
    #[serde(default, deserialize_with = "text")]
    pub description: String,
    /// Colours as `#RRGGBB`, by their names.
    #[serde(default, deserialize_with = "texts")]
    pub colors: BTreeMap<String, String>,
    /// What moves while the agent works.
    #[serde(default, deserialize_with = "spinner")]
    pub spinner: Spinner,
    /// Words, by their names.
    #[serde(default, deserialize_with = "texts")]
    pub branding: BTreeMap<String, String>,
    /// What stands in front of a tool's line.
    #[serde(default, deserialize_with = "text")]
    pub tool_prefix: String,
    /// Emoji of tools, by the tool's name.
    #[serde(default, deserialize_with = "texts")]
    pub tool_emojis: BTreeMap<String, String>,
    /// Large letters above the banner, in markup.
    #[serde(default, deserialize_with = "text")]
    pub banner_logo: String,
    /// A picture inside the banner, in markup.
    #[serde(default, deserialize_with = "text")]
    pub banner_hero: String,
}

/// What moves while the agent works. An empty list stands for that of `default`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spinner {
    /// Faces while a tool runs or an answer is awaited.
    pub waiting_faces: Vec<String>,
    /// Faces while the model thinks.
    pub thinking_faces: Vec<String>,
    /// What the agent is said to be doing.
    pub thinking_verbs: Vec<String>,
    /// What stands on both sides of a face.
    pub wings: Vec<(String, String)>,
}

impl Skin {
    /// A skin that comes with the program.
    pub fn builtin(name: &str) -> Option<Self> {
        builtin::all().into_iter().find(|skin| skin.name == name)
    }

    /// The names of the skins that come with the program.
    pub fn builtin_names() -> &'static [&'static str] {
        &builtin::NAMES
    }
}

fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(string(Value::deserialize(from)?).unwrap_or_default())
}

fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, String>, D::Error> {
    let Value::Object(entries) = Value::deserialize(from)? else {
        return Ok(BTreeMap::new());
    };
    Ok(entries
        .into_iter()
        .filter_map(|(key, value)| Some((key, string(value)?)))
        .collect())
}

fn spinner<'de, D: Deserializer<'de>>(from: D) -> Result<Spinner, D::Error> {
    let value = Value::deserialize(from)?;
    let list = |key: &str| -> Vec<String> {
        let entries = value.get(key).and_then(Value::as_array);
        entries
            .into_iter()
            .flatten()
            .filter_map(|entry| string(entry.clone()))
            .collect()
    };
    let wings = value
        .get("wings")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    Ok(Spinner {
        waiting_faces: list("waiting_faces"),
        thinking_faces: list("thinking_faces"),
        thinking_verbs: list("thinking_verbs"),
        wings: wings.filter_map(pair).collect(),
    })
}

fn pair(value: &Value) -> Option<(String, String)> {
    let [left, right] = value.as_array()?.as_slice() else {
        return None;
    };
    Some((string(left.clone())?, string(right.clone())?))
}

fn string(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skin_needs_a_name_and_nothing_else() -> anyhow::Result<()> {
        let skin: Skin = serde_json::from_str(r#"{"name": "mine"}"#)?;
        assert_eq!(
            skin,
            Skin {
                name: "mine".to_owned(),
                ..Skin::default()
            }
        );
        assert!(serde_json::from_str::<Skin>("{}").is_err());
        Ok(())
    }

    #[test]
    fn one_bad_line_does_not_cost_the_rest() -> anyhow::Result<()> {
        let skin: Skin = serde_json::from_str(
            r##"{"name": "mine", "colors": {"prompt": "#abcdef", "ui_ok": 5, "new": "#111111"}, "branding": null,
                "spinner": {"wings": [["<", ">"], ["alone"]], "thinking_verbs": "no list"}, "unknown": [1], "tool_prefix": null}"##,
        )?;
        assert_eq!(
            skin.colors.get("prompt").map(String::as_str),
            Some("#abcdef")
        );
        assert_eq!(skin.colors.len(), 2);
        assert_eq!(skin.spinner.wings, [("<".to_owned(), ">".to_owned())]);
        Ok(())
    }
}
