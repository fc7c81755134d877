//! Several names in one setting.

use crate::setting::{Reader, Setting};
use crate::shape::Shape;
use crate::value::{Node, Value};

/// Names of channels, chats, rooms or actions: a list, or text with commas between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NameList(Vec<String>);

impl NameList {
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub fn contains(&self, name: &str) -> bool {
        self.iter().any(|known| known == name)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Setting for NameList {
    fn shape() -> Shape {
        Shape::OneOf(vec![Shape::Text, Shape::List(Box::new(Shape::Text))])
    }

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let names = Vec::<String>::read(node, reader)?;
        let names = names
            .iter()
            .flat_map(|name| name.split(','))
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        Some(Self(names))
    }

    fn to_value(&self) -> Value {
        Value::Text(self.0.join(","))
    }
}
