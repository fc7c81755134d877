//! Walking through an XML part.

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// What comes next in an XML text. Names are without their prefix.
pub(super) enum Step<'e> {
    Open(&'e str, Attributes<'e>),
    Close(&'e str),
    Text(&'e str),
}

/// The attributes of an element.
pub(super) struct Attributes<'e>(&'e BytesStart<'e>);

impl Attributes<'_> {
    /// A value by its name without prefix.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.0
            .attributes()
            .flatten()
            .find(|attribute| attribute.key.local_name().as_ref() == name)
            .and_then(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0).ok())
            .map(Into::into)
    }
}

/// Calls `visit` for each step until it says stop or the text ends or breaks.
pub(super) fn walk(xml: &[u8], mut visit: impl FnMut(Step<'_>) -> bool) {
    let mut reader = Reader::from_reader(xml);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let Ok(event) = reader.read_event_into(&mut buffer) else {
            return;
        };
        let go_on = match &event {
            Event::Start(start) => open(start, &mut visit),
            Event::Empty(start) => {
                open(start, &mut visit) && close(start.local_name().as_ref(), &mut visit)
            }
            Event::End(end) => close(end.local_name().as_ref(), &mut visit),
            Event::Text(text) => visit(Step::Text(&text.xml10_content())),
            Event::CData(text) => visit(Step::Text(&text.xml10_content())),
            Event::GeneralRef(name) => {
                if let Ok(Some(character)) = name.resolve_char_ref() {
                    visit(Step::Text(character.encode_utf8(&mut [0; 4])))
                } else {
                    let known = resolve_predefined_entity(&name.xml10_content());
                    visit(Step::Text(known.unwrap_or_default()))
                }
            }
            Event::Eof => return,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => true,
        };
        if !go_on {
            return;
        }
    }
}

fn open(start: &BytesStart<'_>, visit: &mut impl FnMut(Step<'_>) -> bool) -> bool {
    let name = start.local_name();
    visit(Step::Open(name.as_ref(), Attributes(start)))
}

fn close(name: &str, visit: &mut impl FnMut(Step<'_>) -> bool) -> bool {
    visit(Step::Close(name))
}
