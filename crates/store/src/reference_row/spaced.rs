//! JSON with a space behind commas and colons, as the reference's exports have it.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value as Json;
use serde_json::ser::{Formatter, Serializer};

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}

pub(crate) fn write_spaced(out: impl Write, value: &Json) -> io::Result<()> {
    value
        .serialize(&mut Serializer::with_formatter(out, Spaced))
        .map_err(io::Error::from)
}

pub(crate) fn spaced(value: &Json) -> String {
    let mut text = Vec::new();
    // Writing to memory cannot fail, and what is written is UTF-8.
    drop(write_spaced(&mut text, value));
    String::from_utf8(text).unwrap_or_default()
}
