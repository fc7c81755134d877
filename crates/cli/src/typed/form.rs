//! A form, filled in a line at a time.

use std::io::{self, Write};

use hermes_core::{Answer, FieldKind, Form, FormField};
use serde_json::{Map, Value as Json};

use super::Typed;
use crate::output::{one_line, printable};

/// Says no to all of it.
const DECLINE: &str = "/decline";
/// Puts it away.
const CANCEL: &str = "/cancel";

/// Asks for one field after the other, and again for one that will not do.
pub(super) async fn fill(
    form: &Form,
    lines: &mut Typed,
    into: &mut impl Write,
) -> io::Result<Option<Answer>> {
    writeln!(
        into,
        "\n{}: {}",
        one_line(&form.from),
        printable(&form.text)
    )?;
    writeln!(
        into,
        "Nothing takes what is in brackets; {DECLINE} declines, {CANCEL} puts it away."
    )?;
    let mut values = Map::new();
    for field in &form.fields {
        let value = loop {
            show(field, into)?;
            let Some(said) = lines.fresh().await else {
                return Ok(None);
            };
            match said.trim() {
                DECLINE => return Ok(Some(Answer::no())),
                CANCEL => return Ok(Some(Answer::Dismiss)),
                said => match read(field, said) {
                    Ok(value) => break value,
                    Err(why) => writeln!(into, "{} {why}", one_line(&field.label))?,
                },
            }
        };
        values.extend(value.map(|value| (field.name.clone(), value)));
    }
    Ok(Some(Answer::Filled(values)))
}

fn show(field: &FormField, into: &mut impl Write) -> io::Result<()> {
    let kind = match &field.kind {
        FieldKind::Text { .. } => "words",
        FieldKind::Integer { .. } => "a whole number",
        FieldKind::Number { .. } => "a number",
        FieldKind::Bool => "yes or no",
        FieldKind::Choice { .. } => "one of these",
        FieldKind::Several { .. } => "some of these, with commas between them",
    };
    let optional = if field.required { "" } else { ", or nothing" };
    let proposed = match field.proposed_text() {
        proposed if proposed.is_empty() => proposed,
        proposed => format!(" [{}]", one_line(&proposed)),
    };
    let label = one_line(&field.label);
    writeln!(into, "{label} ({kind}{optional}){proposed}")?;
    if !field.about.is_empty() {
        writeln!(into, "  {}", printable(&field.about))?;
    }
    for (number, option) in field.options().iter().enumerate() {
        writeln!(into, "  {}. {}", number + 1, one_line(&option.label))?;
    }
    write!(into, "? ")?;
    into.flush()
}

/// What was said, or the number of what was meant.
fn read(field: &FormField, said: &str) -> Result<Option<Json>, String> {
    let numbered = || {
        let number = said.parse::<usize>().ok()?.checked_sub(1)?;
        let option = field.options().get(number)?;
        field.read(&option.value).ok()
    };
    field.read(said).or_else(|why| numbered().ok_or(why))
}
