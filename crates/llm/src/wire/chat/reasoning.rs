//! How effort is asked for, in each of the ways providers have.

use hermes_core::Effort;
use serde_json::{Map, Value as Json, json};

use crate::quirks::ReasoningStyle;

/// All efforts with the words users and most providers have for them, lowest first.
const WORDS: [(Effort, &str); 8] = [
    (Effort::Off, "none"),
    (Effort::Minimal, "minimal"),
    (Effort::Low, "low"),
    (Effort::Medium, "medium"),
    (Effort::High, "high"),
    (Effort::ExtraHigh, "xhigh"),
    (Effort::Max, "max"),
    (Effort::Ultra, "ultra"),
];

const AGGREGATOR_LEVELS: [&str; 6] = ["minimal", "low", "medium", "high", "xhigh", "max"];
const LOCAL_LEVELS: [&str; 3] = ["low", "medium", "high"];
const GEMINI_FLASH_LEVELS: [&str; 3] = ["low", "medium", "high"];
const GEMINI_PRO_LEVELS: [&str; 2] = ["low", "high"];

/// The level nearest to an effort among those a provider knows; between two, the higher one. `Off` is
/// only ever `none`, and nothing else is.
pub(crate) fn nearest<'l>(effort: Effort, levels: &[&'l str]) -> Option<&'l str> {
    let rank = |word: &str| WORDS.iter().position(|(_, known)| *known == word);
    let wanted = WORDS.iter().position(|(known, _)| *known == effort)?;
    let mut best: Option<(usize, &'l str)> = None;
    for level in levels {
        let Some(rank) = rank(level) else { continue };
        if (rank == 0) != (wanted == 0) {
            continue;
        }
        let distance = rank.abs_diff(wanted);
        if best.is_none_or(|(least, _)| distance <= least) {
            best = Some((distance, level));
        }
    }
    best.map(|(_, level)| level)
}

/// The same, unless this effort is asked for by saying nothing.
pub(crate) fn said<'l>(effort: Effort, levels: &'l [String], unsaid: &[String]) -> Option<&'l str> {
    let (_, word) = WORDS.iter().find(|(known, _)| *known == effort)?;
    let is_said = !unsaid.iter().any(|known| known == word);
    is_said
        .then(|| nearest(effort, &borrowed(levels)))
        .flatten()
}

/// The fields of the body that ask a chat model for an effort.
pub(super) fn fields(
    effort: Option<Effort>,
    style: &ReasoningStyle,
    model: &str,
) -> Map<String, Json> {
    let fields = match style {
        ReasoningStyle::Native | ReasoningStyle::Omit | ReasoningStyle::Adaptive => None,
        ReasoningStyle::Effort {
            levels,
            default,
            unsaid,
        } => {
            let level = match effort {
                Some(effort) => said(effort, levels, unsaid),
                None => default.as_deref(),
            };
            level.map(|level| json!({"reasoning_effort": level}))
        }
        ReasoningStyle::Object {
            silent_off: true, ..
        } if effort == Some(Effort::Off) => None,
        ReasoningStyle::Object { default, .. } => object(effort, default.as_deref()),
        ReasoningStyle::Verbosity { levels } => effort
            .and_then(|effort| nearest(effort, &borrowed(levels)))
            .map(|level| json!({"reasoning": {"enabled": true}, "verbosity": level})),
        ReasoningStyle::ThinkingSwitch {
            on,
            levels,
            only_when_set,
        } => match effort {
            None if *only_when_set => None,
            None => Some(json!({"thinking": {"type": on}})),
            Some(effort) => Some(switch(effort, on, levels)),
        },
        ReasoningStyle::GoogleConfig => effort.map(
            |effort| json!({"extra_body": {"google": {"thinking_config": google(effort, model)}}}),
        ),
        ReasoningStyle::Local => effort.and_then(local),
    };
    match fields {
        Some(Json::Object(fields)) => fields,
        Some(_) | None => Map::new(),
    }
}

fn object(effort: Option<Effort>, default: Option<&str>) -> Option<Json> {
    let level = match effort {
        Some(Effort::Off) => return Some(json!({"reasoning": {"enabled": false}})),
        Some(effort) => nearest(effort, &AGGREGATOR_LEVELS),
        None => default,
    };
    level.map(|level| json!({"reasoning": {"enabled": true, "effort": level}}))
}

fn switch(effort: Effort, on: &str, levels: &[String]) -> Json {
    if effort == Effort::Off {
        return json!({"thinking": {"type": "disabled"}});
    }
    match nearest(effort, &borrowed(levels)) {
        Some(level) => json!({"thinking": {"type": on}, "reasoning_effort": level}),
        None => json!({"thinking": {"type": on}}),
    }
}

/// `think: true` is an error for local models that cannot; a level alone is not.
fn local(effort: Effort) -> Option<Json> {
    if effort == Effort::Off {
        return Some(json!({"reasoning_effort": "none", "think": false}));
    }
    nearest(effort, &LOCAL_LEVELS).map(|level| json!({"reasoning_effort": level}))
}

/// Gemini's thinking settings as the chat facade spells them.
fn google(effort: Effort, model: &str) -> Json {
    let pro = model.contains("pro");
    let leveled = model.contains("gemini-3");
    if effort == Effort::Off {
        // Only the small models can think nothing at all.
        return if leveled || pro {
            json!({"include_thoughts": false})
        } else {
            json!({"include_thoughts": false, "thinking_budget": 0})
        };
    }
    let levels: &[&str] = match (leveled, pro) {
        (false, _) => &[],
        (true, true) => &GEMINI_PRO_LEVELS,
        (true, false) => &GEMINI_FLASH_LEVELS,
    };
    match nearest(effort, levels) {
        Some(level) => json!({"include_thoughts": true, "thinking_level": level}),
        None => json!({"include_thoughts": true}),
    }
}

pub(crate) fn borrowed(levels: &[String]) -> Vec<&str> {
    levels.iter().map(String::as_str).collect()
}
