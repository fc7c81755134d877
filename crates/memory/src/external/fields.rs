//! A provider's settings: a JSON file in the home, then variables.

use std::path::Path;

use hermes_config::Environment;
use serde_json::{Map, Value as Json};

use super::error::ProviderError;

/// Larger files are not read.
const LARGEST: usize = 1 << 20;

/// What was found. The file stands above variables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields {
    file: Map<String, Json>,
    environment: Environment,
}

impl Fields {
    /// Reads a file, if there is one. One that cannot be understood is an error: another key or address than the
    /// one meant must not be used.
    pub(crate) fn read(
        provider: &'static str,
        file: &Path,
        environment: &Environment,
    ) -> Result<Self, ProviderError> {
        Ok(Self {
            file: object(provider, file)?.unwrap_or_default(),
            environment: environment.clone(),
        })
    }

    pub(crate) fn of(file: Map<String, Json>, environment: &Environment) -> Self {
        Self {
            file,
            environment: environment.clone(),
        }
    }

    /// A text by the first of these names that the file has, else by its variable.
    pub(crate) fn text(&self, names: &[&str], variable: &str) -> Option<String> {
        let said = names
            .iter()
            .find_map(|name| match self.file.get(*name)? {
                Json::String(text) => Some(text.trim().to_owned()),
                Json::Number(number) => Some(number.to_string()),
                _ => None,
            })
            .filter(|text| !text.is_empty());
        said.or_else(|| {
            let filled = (!variable.is_empty()).then(|| self.environment.filled_named(variable))?;
            filled.map(str::to_owned)
        })
    }

    pub(crate) fn flag(&self, name: &str, otherwise: bool) -> bool {
        match self.file.get(name) {
            Some(Json::Bool(flag)) => *flag,
            Some(Json::String(word)) => matches!(word.as_str(), "true" | "yes" | "on" | "1"),
            _ => otherwise,
        }
    }

    /// A number that is not negative.
    pub(crate) fn number(&self, names: &[&str], variable: &str) -> Option<f64> {
        let number: f64 = self.text(names, variable)?.parse().ok()?;
        (number.is_finite() && number >= 0.0).then_some(number)
    }

    pub(crate) fn value(&self, name: &str) -> Option<&Json> {
        self.file.get(name)
    }
}

/// A file as an object; `None` when it is not there.
pub(crate) fn object(
    provider: &'static str,
    file: &Path,
) -> Result<Option<Map<String, Json>>, ProviderError> {
    let wrong = |what: String| ProviderError::Setup { provider, what };
    let shown = file.display();
    let read = hermes_config::read_file(file);
    let Some(bytes) = read.map_err(|error| wrong(format!("{shown}: {error}")))? else {
        return Ok(None);
    };
    if bytes.len() > LARGEST {
        return Err(wrong(format!("{shown} is too large")));
    }
    match serde_json::from_slice(&bytes) {
        Ok(Json::Object(object)) => Ok(Some(object)),
        Ok(_) => Err(wrong(format!("{shown} is not a JSON object"))),
        // Where it breaks is told, what stands there is not: it may be a key.
        Err(error) => Err(wrong(format!(
            "{shown} is not JSON (line {}, column {})",
            error.line(),
            error.column()
        ))),
    }
}
