//! Which settings are secrets, and which variables belong into `.env`.

use crate::disclosed::names_secret;
use crate::environment::{Role, VARIABLES, Variable, is_known_name};
use crate::root::Config;
use crate::setting::Setting;
use crate::shape::Shape;
use crate::value::KeyPath;

const ENDINGS: [&str; 2] = ["_API_KEY", "_TOKEN"];
const SSH: &str = "TERMINAL_SSH";
/// Names that no rule catches.
const OTHERS: [&str; 8] = [
    "BROWSERBASE_PROJECT_ID",
    "FAL_KEY",
    "FIRECRAWL_API_URL",
    "FIRECRAWL_GATEWAY_URL",
    "SUDO_PASSWORD",
    "TOOL_GATEWAY_DOMAIN",
    "TOOL_GATEWAY_SCHEME",
    "VOICE_TOOLS_OPENAI_KEY",
];

/// Whether the value of a setting must not be shown: its type says so, or, for a key the user chose, its name.
pub(super) fn is_secret(key: &KeyPath) -> bool {
    let root = Config::shape();
    let Some((parent, last)) = key.split_last() else {
        return false;
    };
    let declared = root
        .at(&parent)
        .is_some_and(|parent| parent.keys().contains(&last));
    let typed = root.at(key).is_some_and(|shape| holds_secret(&shape));
    typed || (!declared && names_secret(last))
}

fn holds_secret(shape: &Shape) -> bool {
    match shape {
        Shape::Secret => true,
        Shape::Optional(inner) | Shape::List(inner) | Shape::Map(inner) => holds_secret(inner),
        Shape::OneOf(shapes) => shapes.iter().any(holds_secret),
        Shape::Section(section) => section
            .fields
            .iter()
            .any(|field| holds_secret(&field.shape)),
        Shape::Bool
        | Shape::Int { .. }
        | Shape::Float { .. }
        | Shape::Text
        | Shape::Choice(_)
        | Shape::Any => false,
    }
}

/// The variable of `.env` a key without dots means, if it means one.
pub(super) fn variable_of(key: &str) -> Option<String> {
    if key.contains('.') {
        return None;
    }
    let name = key.to_uppercase();
    let secret = ENDINGS.iter().any(|ending| name.ends_with(ending))
        || name.starts_with(SSH)
        || OTHERS.contains(&name.as_str());
    // A name in capitals that `.env` files are known to hold is not a setting either.
    let kept = |variable: &Variable| variable.name == key && variable.role == Role::Kept;
    let known = key == name && (is_known_name(&name) || VARIABLES.iter().any(kept));
    (secret || known).then_some(name)
}
