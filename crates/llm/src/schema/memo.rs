//! Schemas that were prepared before: a conversation sends the same tools with every request.

use std::sync::{Arc, Mutex, PoisonError};

use hermes_core::ToolSpec;
use serde_json::Value as Json;

use super::sanitize;
use crate::quirks::SchemaTarget;

/// Lists kept; one for each conversation that goes on at the same time, roughly.
const MOST: usize = 16;

/// The schemas of tools in the form a provider accepts, made once for a list of tools.
#[derive(Debug)]
pub struct Schemas {
    /// The one used last stands at the end.
    kept: Mutex<Vec<Prepared>>,
}

#[derive(Debug, Clone)]
struct Prepared {
    /// Kept alive, so that its address cannot become another list's.
    tools: Arc<[ToolSpec]>,
    target: SchemaTarget,
    schemas: Arc<[Json]>,
}

impl Default for Schemas {
    fn default() -> Self {
        Self::new()
    }
}

impl Schemas {
    /// Nothing prepared yet.
    pub const fn new() -> Self {
        Self {
            kept: Mutex::new(Vec::new()),
        }
    }

    /// The schema of each tool, in their order.
    pub fn of(&self, tools: &Arc<[ToolSpec]>, target: SchemaTarget) -> Arc<[Json]> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept
            .iter()
            .position(|one| Arc::ptr_eq(&one.tools, tools) && one.target == target);
        let prepared = match known {
            Some(at) => kept.remove(at),
            None => {
                if kept.len() >= MOST {
                    kept.remove(0);
                }
                let schemas = tools.iter().map(|spec| sanitize(&spec.parameters, target));
                Prepared {
                    tools: tools.clone(),
                    target,
                    schemas: schemas.collect(),
                }
            }
        };
        let schemas = prepared.schemas.clone();
        kept.push(prepared);
        schemas
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hermes_core::{Effect, ToolSpec};
    use serde_json::json;

    use super::{MOST, Schemas};
    use crate::quirks::SchemaTarget;
    use crate::schema::sanitize;

    fn tools(name: &str) -> Arc<[ToolSpec]> {
        let parameters = json!({"properties": {name: {"type": ["string", "null"]}}});
        Arc::new([ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            parameters,
            effect: Effect::ReadOnly,
        }])
    }

    #[test]
    fn a_list_is_prepared_once_for_each_target_and_few_are_kept() {
        let schemas = Schemas::default();
        let first = tools("first");
        let common = schemas.of(&first, SchemaTarget::Common);
        assert_eq!(
            common.to_vec(),
            vec![sanitize(&first[0].parameters, SchemaTarget::Common)]
        );
        assert!(Arc::ptr_eq(
            &common,
            &schemas.of(&first, SchemaTarget::Common)
        ));
        assert_eq!(
            schemas.of(&first, SchemaTarget::Gemini).to_vec(),
            vec![sanitize(&first[0].parameters, SchemaTarget::Gemini)]
        );
        for number in 0..MOST {
            schemas.of(&tools(&number.to_string()), SchemaTarget::Common);
        }
        assert!(!Arc::ptr_eq(
            &common,
            &schemas.of(&first, SchemaTarget::Common)
        ));
    }
}
