//! What editors and people read about `config.yaml`, made from the types.

mod page;
mod schema;

pub use page::reference_page;
pub use schema::json_schema;

use crate::shape::{Field, Shape};
use crate::value::{Map, Value};

/// The default of a field; of a section only what differs from the defaults of its keys.
fn own_default(field: &Field) -> Value {
    match (&field.shape, &field.default) {
        (Shape::Section(section), Value::Map(map)) => {
            let differing: Map = section
                .fields
                .iter()
                .filter_map(|inner| Some((inner, map.get(inner.key)?)))
                .filter(|(inner, node)| inner.default != node.value)
                .map(|(inner, node)| (inner.key.to_owned(), node.clone()))
                .collect();
            if differing.is_empty() {
                Value::Null
            } else {
                Value::Map(differing)
            }
        }
        (_, default) => default.clone(),
    }
}
