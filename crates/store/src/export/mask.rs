//! Masking what an export gives away.

use hermes_secrets::{Redactor, Scope};
use serde_json::Value as Json;

use super::gather::Part;
use crate::reference_row::{is_blob_address, is_hash};

/// Masks every text of a session.
pub(super) struct Mask<'r> {
    redactor: &'r Redactor,
    scope: Scope,
}

impl<'r> Mask<'r> {
    pub(super) fn new(redactor: &'r Redactor, scope: Scope) -> Self {
        Self { redactor, scope }
    }

    pub(super) fn part(&self, part: &mut Part) {
        let session = &mut part.session;
        let texts = [
            &mut session.title,
            &mut session.display_name,
            &mut session.cwd,
            &mut session.billing_base_url,
            part.beside.system_prompt_mut(),
        ];
        texts.into_iter().flatten().for_each(|text| self.text(text));
        let values = [&mut session.model_config, &mut session.extra];
        values
            .into_iter()
            .flatten()
            .for_each(|json| self.json(json));
        for record in &mut part.records {
            let texts = [&mut record.content, &mut record.reasoning];
            texts.into_iter().flatten().for_each(|text| self.text(text));
            let values = [
                &mut record.parts,
                &mut record.tool_calls,
                &mut record.raw,
                &mut record.extra,
            ];
            values
                .into_iter()
                .flatten()
                .for_each(|json| self.json(json));
        }
    }

    fn text(&self, text: &mut String) {
        if let std::borrow::Cow::Owned(masked) = self.redactor.redact_in(self.scope, text) {
            *text = masked;
        }
    }

    fn json(&self, value: &mut Json) {
        match value {
            Json::String(text) => self.text(text),
            Json::Array(items) => items.iter_mut().for_each(|item| self.json(item)),
            Json::Object(fields) => {
                for (name, field) in fields {
                    match field {
                        // The names of media look random, but give nothing away.
                        Json::String(text) if is_blob_address(text) => {}
                        Json::String(text) if name == "blob" && is_hash(text) => {}
                        Json::String(text) => self.named(name, text),
                        other => self.json(other),
                    }
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    /// Masks a text that may only be known for a secret by the name it has.
    fn named(&self, name: &str, text: &mut String) {
        self.text(text);
        let pair = format!("{name}={text}");
        if let std::borrow::Cow::Owned(masked) = self.redactor.redact_in(self.scope, &pair)
            && let Some((_, masked)) = masked.split_once('=')
        {
            *text = masked.to_owned();
        }
    }
}
