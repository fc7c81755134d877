//! What is sent over: one line of shell text.

use crate::{ExecError, Input, Launch};

const GUARD: &str = include_str!("guard.sh");
const LAUNCH: &str = include_str!("launch.sh");

/// Quotes for a POSIX shell, on one line: `hermes_nl` stands for the line break, which `Role::boot` has set.
pub(super) fn quote_line(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    for character in text.chars() {
        match character {
            '\'' => quoted.push_str("'\\''"),
            '\n' => quoted.push_str("'\"$hermes_nl\"'"),
            other => quoted.push(other),
        }
    }
    quoted.push('\'');
    quoted
}

/// Quotes for a POSIX shell.
pub(crate) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// What the guard of this generation reads.
pub(super) fn guard(name: &str, home: &str, generation: u32, patience: u64) -> String {
    format!(
        "hermes_home={};hermes_guard={name};hermes_generation={generation};hermes_patience={patience};eval {}\n",
        quote_line(home),
        quote_line(GUARD)
    )
}

/// What the launcher of a command reads.
pub(super) fn launch(launch: &Launch, name: &str, home: &str) -> Result<String, ExecError> {
    let directory = launch.directory.as_deref().unwrap_or("".as_ref());
    let directory = directory
        .to_str()
        .ok_or_else(|| unusable("the directory"))?;
    let input = match launch.input {
        Input::None => "none".to_owned(),
        Input::Pipe | Input::Apart => "pipe".to_owned(),
        Input::Terminal { rows, columns } => format!("{rows} {columns}"),
    };
    let mut line = format!(
        "hermes_home={};hermes_guard={name};hermes_run={};hermes_input='{input}';hermes_in={};",
        quote_line(home),
        quote_line(launch.id.as_str()),
        quote_line(directory)
    );
    for (key, value) in &launch.environment {
        if !is_name(key) {
            return Err(unusable(&format!("the variable {key}")));
        }
        line.push_str(&format!("export {key}={};", quote_line(value)));
    }
    line.push_str("set --");
    for argument in &launch.argv {
        line.push(' ');
        line.push_str(&quote_line(argument));
    }
    line.push_str(&format!(";eval {}\n", quote_line(LAUNCH)));
    if line.contains('\0') {
        return Err(unusable("a zero byte in the command"));
    }
    Ok(line)
}

fn is_name(text: &str) -> bool {
    !text.starts_with(|first: char| first.is_ascii_digit())
        && !text.is_empty()
        && text
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || character == '_')
}

fn unusable(what: &str) -> ExecError {
    ExecError::Io {
        what: format!("{what} cannot be handed to a shell"),
        source: std::io::ErrorKind::InvalidInput.into(),
    }
}
