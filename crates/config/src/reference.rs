//! What editors and people read about `config.yaml`, made from the types.

mod page;
mod schema;

pub use page::reference_page;
pub use schema::json_schema;
