//! Several values that are asked for at once, and whether what was said will do.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// Values that are asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Form {
    /// Who asks.
    pub from: String,
    /// What for.
    pub text: String,
    /// The values.
    pub fields: Vec<FormField>,
}

/// A value that is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FormField {
    /// What it is called in the answer.
    pub name: String,
    /// What a person reads.
    pub label: String,
    /// More about it; may be empty.
    pub about: String,
    /// Whether it must be given.
    pub required: bool,
    /// What it takes.
    pub kind: FieldKind,
    /// What is proposed.
    pub proposed: Option<Json>,
}

/// What a field takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FieldKind {
    /// Words.
    Text {
        /// At least so many characters.
        shortest: usize,
        /// At most so many.
        longest: usize,
        /// How they have to look.
        format: TextFormat,
    },
    /// A whole number.
    Integer {
        /// The smallest.
        least: Option<i64>,
        /// The largest.
        most: Option<i64>,
    },
    /// Any number.
    Number {
        /// The smallest.
        least: Option<f64>,
        /// The largest.
        most: Option<f64>,
    },
    /// Yes or no.
    Bool,
    /// One of these.
    Choice {
        /// What there is.
        options: Vec<FieldOption>,
    },
    /// Some of these.
    Several {
        /// What there is.
        options: Vec<FieldOption>,
        /// At least so many.
        fewest: usize,
        /// At most so many.
        most: usize,
    },
}

/// One of the values a field takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldOption {
    /// What is answered.
    pub value: String,
    /// What a person reads.
    pub label: String,
}

/// How words have to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextFormat {
    /// As they like.
    Any,
    /// An address of mail.
    Email,
    /// An address of a page or a thing.
    Uri,
    /// A day.
    Date,
    /// A moment.
    DateTime,
}

impl Form {
    /// The answer that takes everything as it is proposed; nothing when something else is needed.
    pub fn proposal(&self) -> Option<Map<String, Json>> {
        self.filled(|_| None)
    }

    /// The answer with a text for some of the fields; the others are as proposed. Nothing when that will not do.
    pub fn filled<'t>(
        &self,
        text: impl Fn(&FormField) -> Option<&'t str>,
    ) -> Option<Map<String, Json>> {
        let mut values = Map::new();
        for field in &self.fields {
            let value = match text(field) {
                Some(text) => field.read(text).ok()?,
                None => field.untouched().ok()?,
            };
            values.extend(value.map(|value| (field.name.clone(), value)));
        }
        Some(values)
    }
}

impl FormField {
    /// The value a text stands for; none for an empty one where none is needed.
    ///
    /// # Errors
    ///
    /// What is wrong with it, to be read behind the label.
    pub fn read(&self, text: &str) -> Result<Option<Json>, String> {
        let text = text.trim();
        if text.is_empty() {
            return self.untouched();
        }
        match &self.kind {
            FieldKind::Text {
                shortest,
                longest,
                format,
            } => words(text, *shortest, *longest, *format),
            FieldKind::Integer { least, most } => {
                let number = text.parse::<i64>();
                let number = number.map_err(|_| "must be a whole number".to_owned())?;
                within(&number, least.as_ref(), most.as_ref())?;
                Ok(json!(number))
            }
            FieldKind::Number { least, most } => {
                let number = text.parse().ok().filter(|number: &f64| number.is_finite());
                let number = number.ok_or_else(|| "must be a number".to_owned())?;
                within(&number, least.as_ref(), most.as_ref())?;
                Ok(json!(number))
            }
            FieldKind::Bool => match text.to_lowercase().as_str() {
                "yes" | "y" | "true" | "1" | "on" => Ok(json!(true)),
                "no" | "n" | "false" | "0" | "off" => Ok(json!(false)),
                _ => Err("must be yes or no".to_owned()),
            },
            FieldKind::Choice { options } => Ok(json!(one_of(options, text)?)),
            FieldKind::Several {
                options,
                fewest,
                most,
            } => {
                let named = text.split(',').map(str::trim).filter(|one| !one.is_empty());
                let chosen: Vec<&str> = named
                    .map(|one| one_of(options, one))
                    .collect::<Result<_, _>>()?;
                match chosen.len() {
                    count if count < *fewest => Err(format!("needs at least {fewest}")),
                    count if count > *most => Err(format!("takes at most {most}")),
                    _ => Ok(json!(chosen)),
                }
            }
        }
        .map(Some)
    }

    /// The value of a field nobody wrote in.
    fn untouched(&self) -> Result<Option<Json>, String> {
        match &self.proposed {
            None if self.required => Err("is needed".to_owned()),
            proposed => Ok(proposed.clone()),
        }
    }

    /// What is proposed, as it would be typed.
    pub fn proposed_text(&self) -> String {
        let word = |value: &Json| match value {
            Json::String(text) => text.clone(),
            Json::Bool(true) => "yes".to_owned(),
            Json::Bool(false) => "no".to_owned(),
            other => other.to_string(),
        };
        match &self.proposed {
            None | Some(Json::Null) => String::new(),
            Some(Json::Array(values)) => values.iter().map(word).collect::<Vec<_>>().join(", "),
            Some(value) => word(value),
        }
    }

    /// Whether it holds one of a few values, or several of them.
    pub fn options(&self) -> &[FieldOption] {
        match &self.kind {
            FieldKind::Choice { options } | FieldKind::Several { options, .. } => options,
            FieldKind::Text { .. }
            | FieldKind::Integer { .. }
            | FieldKind::Number { .. }
            | FieldKind::Bool => &[],
        }
    }
}

fn words(text: &str, shortest: usize, longest: usize, format: TextFormat) -> Result<Json, String> {
    match text.chars().count() {
        count if count < shortest => return Err(format!("needs at least {shortest} characters")),
        count if count > longest => return Err(format!("takes at most {longest} characters")),
        _ => {}
    }
    let spaced = text.contains(char::is_whitespace);
    let (fits, what) = match format {
        TextFormat::Any => (true, ""),
        TextFormat::Email => {
            let parts = text.split_once('@');
            let fits = parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
            (fits && !spaced, "an e-mail address")
        }
        TextFormat::Uri => {
            let scheme = text.split_once(':').map(|(scheme, _)| scheme);
            let fits = scheme.is_some_and(|scheme| {
                !scheme.is_empty()
                    && scheme
                        .chars()
                        .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
            });
            (fits && !spaced, "an address such as https://…")
        }
        TextFormat::Date => (
            text.parse::<jiff::civil::Date>().is_ok(),
            "a day such as 2026-01-31",
        ),
        TextFormat::DateTime => (
            text.parse::<jiff::Timestamp>().is_ok(),
            "a moment such as 2026-01-31T12:00:00Z",
        ),
    };
    match fits {
        true => Ok(json!(text)),
        false => Err(format!("must be {what}")),
    }
}

fn within<T: PartialOrd + std::fmt::Display>(
    number: &T,
    least: Option<&T>,
    most: Option<&T>,
) -> Result<(), String> {
    if let Some(least) = least.filter(|least| number < least) {
        return Err(format!("must be at least {least}"));
    }
    match most.filter(|most| number > most) {
        Some(most) => Err(format!("must be at most {most}")),
        None => Ok(()),
    }
}

/// The value of the option a text names, by its value or by what a person reads.
fn one_of<'o>(options: &'o [FieldOption], text: &str) -> Result<&'o str, String> {
    let exact = options
        .iter()
        .find(|option| option.value == text || option.label == text);
    let alike = || {
        let text = text.to_lowercase();
        let same = |word: &str| word.to_lowercase() == text;
        options
            .iter()
            .find(|option| same(&option.value) || same(&option.label))
    };
    let found = exact.or_else(alike).map(|option| option.value.as_str());
    found.ok_or_else(|| "must be one of those listed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(kind: FieldKind, required: bool) -> FormField {
        FormField {
            name: "value".to_owned(),
            label: "Value".to_owned(),
            about: String::new(),
            required,
            kind,
            proposed: None,
        }
    }

    fn text(format: TextFormat) -> FormField {
        let kind = FieldKind::Text {
            shortest: 2,
            longest: 30,
            format,
        };
        field(kind, true)
    }

    fn options() -> Vec<FieldOption> {
        let option = |value: &str, label: &str| FieldOption {
            value: value.to_owned(),
            label: label.to_owned(),
        };
        vec![option("r", "Red"), option("b", "Blue")]
    }

    #[track_caller]
    fn check(field: &FormField, said: &str, expected: Result<Json, &str>) {
        let expected = expected.map(Some).map_err(str::to_owned);
        assert_eq!(field.read(said), expected, "{said}");
    }

    #[test]
    fn answers_become_the_kind_of_value_a_field_wants() {
        let words = text(TextFormat::Any);
        check(&words, " ok ", Ok(json!("ok")));
        check(&words, "x", Err("needs at least 2 characters"));
        check(&words, &"x".repeat(31), Err("takes at most 30 characters"));
        check(&words, "", Err("is needed"));
        let (least, most) = (Some(1), Some(9));
        let integer = field(FieldKind::Integer { least, most }, false);
        check(&integer, "7", Ok(json!(7)));
        check(&integer, "7.5", Err("must be a whole number"));
        check(&integer, "0", Err("must be at least 1"));
        check(&integer, "10", Err("must be at most 9"));
        assert_eq!(integer.read(""), Ok(None));
        let (least, most) = (Some(0.5), None);
        let number = field(FieldKind::Number { least, most }, false);
        check(&number, "7.5", Ok(json!(7.5)));
        check(&number, "inf", Err("must be a number"));
        check(&number, "0.25", Err("must be at least 0.5"));
        let truth = field(FieldKind::Bool, false);
        check(&truth, "Yes", Ok(json!(true)));
        check(&truth, "perhaps", Err("must be yes or no"));
    }

    #[test]
    fn choices_are_named_by_value_or_label() {
        let options = options();
        let one = field(
            FieldKind::Choice {
                options: options.clone(),
            },
            true,
        );
        check(&one, "b", Ok(json!("b")));
        check(&one, "red", Ok(json!("r")));
        check(&one, "green", Err("must be one of those listed"));
        let (fewest, most) = (1, 1);
        let kind = FieldKind::Several {
            options,
            fewest,
            most,
        };
        let some = field(kind, true);
        check(&some, "Blue,", Ok(json!(["b"])));
        check(&some, "r, b", Err("takes at most 1"));
    }

    #[test]
    fn words_have_to_look_like_what_is_asked_for() {
        for (format, good, bad) in [
            (TextFormat::Email, "ada@example.test", "ada at home"),
            (TextFormat::Uri, "https://example.test/x", "example"),
            (TextFormat::Date, "2026-01-31", "2026-02-31"),
            (TextFormat::DateTime, "2026-01-31T12:00:00Z", "noon"),
        ] {
            let field = text(format);
            check(&field, good, Ok(json!(good)));
            assert!(field.read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_proposed_counts_where_nothing_is_said() {
        let mut city = text(TextFormat::Any);
        let mut form = Form {
            from: "lab".to_owned(),
            text: String::new(),
            fields: vec![city.clone()],
        };
        assert_eq!(form.proposal(), None, "it is needed");
        city.proposed = Some(json!("Bonn"));
        assert_eq!(city.proposed_text(), "Bonn");
        form.fields = vec![city];
        let proposal = form.proposal().map(Json::Object);
        assert_eq!(proposal, Some(json!({ "value": "Bonn" })));
        let filled = form.filled(|_| Some("Köln")).map(Json::Object);
        assert_eq!(filled, Some(json!({ "value": "Köln" })));
        assert_eq!(form.filled(|_| Some("x")), None, "too short");
    }
}
