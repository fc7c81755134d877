//! Typed values from YAML nodes, with errors that know their line and key.

use std::fmt;

use hermes_config::{Map, Node, Value};
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

/// What is wrong, and where.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) line: u32,
    /// The keys on the way, innermost first.
    keys: Vec<String>,
    pub(super) message: String,
}

impl Fault {
    /// The dotted key.
    pub(super) fn key(&self) -> String {
        let keys: Vec<_> = self.keys.iter().rev().map(String::as_str).collect();
        keys.join(".")
    }

    /// The same fault, seen from one level above.
    pub(super) fn inside(mut self, key: &str) -> Self {
        self.keys.push(key.to_owned());
        self
    }

    fn at(mut self, node: &Node) -> Self {
        if self.line == 0 {
            self.line = node.origin.line;
        }
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self {
            line: 0,
            keys: Vec::new(),
            message: message.to_string(),
        }
    }
}

/// Hands a node to serde.
#[derive(Clone, Copy)]
pub(super) struct NodeReader<'n> {
    node: &'n Node,
}

impl<'n> NodeReader<'n> {
    pub(super) fn new(node: &'n Node) -> Self {
        Self { node }
    }
}

impl<'de> Deserializer<'de> for NodeReader<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Int(number) => visitor.visit_i64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::List(items) => visitor.visit_seq(Items(items.iter())),
            Value::Map(map) => visitor.visit_map(Entries::of(map)),
        }
        .map_err(|fault| fault.at(self.node))
    }

    /// Words such as `off` and `2025-04-15` are text where text is wanted.
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.node.text() {
            Some(text) => visitor
                .visit_string(text)
                .map_err(|fault: Fault| fault.at(self.node)),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_string(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.node.value {
            Value::Null => visitor.visit_none(),
            Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Map(_) => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    /// A word, or a map with the word as its only key.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let mut entries = self.node.value.as_map().into_iter().flat_map(Map::iter);
        match (self.node.text(), entries.next(), entries.next()) {
            (Some(word), _, _) => {
                visitor.visit_enum(IntoDeserializer::<Fault>::into_deserializer(word))
            }
            (None, Some((word, node)), None) => visitor
                .visit_enum(Variant { word, node })
                .map_err(|fault| fault.inside(word)),
            (None, _, _) => Err(Fault::custom("expected a word, or one word with settings")),
        }
        .map_err(|fault| fault.at(self.node))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'n>(std::slice::Iter<'n, Node>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        let next = self.0.next();
        next.map(|node| seed.deserialize(NodeReader { node }))
            .transpose()
    }
}

struct Entries<'n, I> {
    rest: I,
    current: Option<(&'n str, &'n Node)>,
}

impl<'n> Entries<'n, Box<dyn Iterator<Item = (&'n str, &'n Node)> + 'n>> {
    fn of(map: &'n Map) -> Self {
        Self {
            rest: Box::new(map.iter()),
            current: None,
        }
    }
}

impl<'de, I: Iterator<Item = (&'de str, &'de Node)>> MapAccess<'de> for Entries<'de, I> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        self.current = self.rest.next();
        let Some((key, node)) = self.current else {
            return Ok(None);
        };
        let key_reader: StrDeserializer<'_, Fault> = key.into_deserializer();
        let read = seed.deserialize(key_reader);
        read.map(Some).map_err(|fault| fault.at(node).inside(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let Some((key, node)) = self.current.take() else {
            return Err(Fault::custom("a value without its key"));
        };
        seed.deserialize(NodeReader { node })
            .map_err(|fault| fault.inside(key))
    }
}

struct Variant<'n> {
    word: &'n str,
    node: &'n Node,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Fault;
    type Variant = NodeReader<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self::Variant), Fault> {
        let word: StrDeserializer<'_, Fault> = self.word.into_deserializer();
        Ok((seed.deserialize(word)?, NodeReader { node: self.node }))
    }
}

impl<'de> VariantAccess<'de> for NodeReader<'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Err(Fault::custom("takes no settings"))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_any(visitor)
    }
}
