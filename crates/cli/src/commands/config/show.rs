//! `hermes config show` and `hermes config get`

use hermes_config::{
    KeyPath, Layer, Loaded, Node, PROVIDER_KEYS, Settings, Value, names_secret, to_yaml,
};
use hermes_core::FailureKind;
use hermes_secrets::mask;
use serde_json::json;

use super::hide::hidden;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::output::{Output, Style};
use crate::table::Table;

pub(crate) fn get(key: &str, json: bool, context: &Context, output: &mut Output) -> Outcome {
    let loaded = context.settings()?;
    let Some(node) = Settings::get(&loaded, key) else {
        if loaded.secrets.has(key) {
            return Err(Complaint::new(
                FailureKind::Refused,
                format!("{key} is set in .env and not shown"),
            )
            .hint("hermes config env-path says where the file is"));
        }
        return Err(absent(key, &loaded));
    };
    if json {
        return Ok(output.json(&node.value.to_json())?);
    }
    let text = match &node.value {
        // A bare scalar is what scripts want: no quotes, no line breaks around it.
        Value::Text(text) => text.clone(),
        Value::Map(_) | Value::List(_) => to_yaml(&node.value).trim_end().to_owned(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
            to_yaml(&node.value).trim_end().to_owned()
        }
    };
    Ok(output.line(text)?)
}

fn absent(key: &str, loaded: &Loaded) -> Complaint {
    let complaint = Complaint::new(FailureKind::NotFound, format!("{key} is not set"));
    let names: Vec<String> = leaves(&loaded.tree)
        .into_iter()
        .map(|(path, _)| path.to_string())
        .collect();
    match hermes_config::nearest(key, names.iter().map(String::as_str)) {
        Some(name) => complaint.hint(format!("did you mean {name}?")),
        None => complaint.hint("hermes config show --all lists every setting"),
    }
}

pub(crate) fn show(all: bool, json: bool, context: &Context, output: &mut Output) -> Outcome {
    let loaded = context.settings()?;
    let redactor = context.redactor.snapshot();
    let shown: Vec<(KeyPath, &Node)> = leaves(&loaded.tree)
        .into_iter()
        .filter(|(_, node)| all || node.origin.layer != Layer::Default)
        .collect();
    if json {
        let rows: Vec<_> = shown
            .iter()
            .map(|(key, node)| {
                json!({
                    "key": key.to_string(),
                    "value": hidden(key, &node.value, &redactor).to_json(),
                    "layer": node.origin.layer.name(),
                    "line": (node.origin.line > 0).then_some(node.origin.line),
                })
            })
            .collect();
        return Ok(output.json(&rows)?);
    }
    let home = context.home()?;
    heading("Paths", output)?;
    output.line(format!("  home      {}", home.path().display()))?;
    output.line(format!("  settings  {}", home.config_file().display()))?;
    output.line(format!("  secrets   {}", home.env_file().display()))?;
    output.line("")?;
    heading("API keys", output)?;
    api_keys(&loaded, output)?;
    output.line("")?;
    heading(
        if all {
            "Settings"
        } else {
            "Settings that differ from the defaults"
        },
        output,
    )?;
    if shown.is_empty() {
        return Ok(output.line("  none; hermes config set KEY VALUE changes one")?);
    }
    let mut table = Table::new(["Key", "Value", "From"]);
    for (key, node) in shown {
        let value = inline(&hidden(&key, &node.value, &redactor));
        table.row([key.to_string(), value, from(node)]);
    }
    Ok(table.print(output)?)
}

fn heading(text: &str, output: &mut Output) -> std::io::Result<()> {
    let text = output.paint(Style::Strong, text);
    output.line(text)
}

fn api_keys(loaded: &Loaded, output: &mut Output) -> std::io::Result<()> {
    let mut any = false;
    for key in PROVIDER_KEYS {
        if let Some(value) = loaded
            .environment
            .filled_named(key.name)
            .filter(|_| names_secret(key.name))
        {
            output.line(format!("  {:<28} {}", key.name, mask(value)))?;
            any = true;
        }
    }
    if !any {
        output.line("  none set; hermes config set OPENROUTER_API_KEY VALUE stores one")?;
    }
    Ok(())
}

/// Every value that is no section, with its path.
fn leaves(tree: &Node) -> Vec<(KeyPath, &Node)> {
    let mut found = Vec::new();
    let mut open = vec![(KeyPath::root(), tree)];
    while let Some((path, node)) = open.pop() {
        match &node.value {
            Value::Map(map) if !map.is_empty() || path.is_empty() => {
                let children: Vec<_> = map
                    .iter()
                    .map(|(key, child)| (path.child(key), child))
                    .collect();
                open.extend(children.into_iter().rev());
            }
            _ => found.push((path, node)),
        }
    }
    found
}

fn inline(value: &Value) -> String {
    match value {
        Value::Text(text) if text.is_empty() => "\"\"".to_owned(),
        Value::Text(text) => text.clone(),
        other => other.to_json().to_string(),
    }
}

fn from(node: &Node) -> String {
    match node.origin.line {
        0 => node.origin.layer.name().to_owned(),
        line => format!("{}:{line}", node.origin.layer.name()),
    }
}
