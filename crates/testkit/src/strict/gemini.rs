//! Gemini generateContent.

use serde_json::Value;

use super::checker::Checker;
use super::{schema, turns};

const KEYS: [&str; 7] = [
    "cachedContent",
    "contents",
    "generationConfig",
    "safetySettings",
    "systemInstruction",
    "toolConfig",
    "tools",
];
const GENERATION_KEYS: [&str; 15] = [
    "candidateCount",
    "frequencyPenalty",
    "logprobs",
    "maxOutputTokens",
    "mediaResolution",
    "presencePenalty",
    "responseJsonSchema",
    "responseLogprobs",
    "responseMimeType",
    "responseModalities",
    "responseSchema",
    "seed",
    "stopSequences",
    "temperature",
    "thinkingConfig",
];
const SAMPLING_KEYS: [&str; 2] = ["topK", "topP"];
const USER_PARTS: [&str; 4] = ["text", "inlineData", "fileData", "functionResponse"];
const MODEL_PARTS: [&str; 3] = ["text", "inlineData", "functionCall"];

/// Checks a whole body.
pub(super) fn check(checker: &mut Checker<'_>, body: &Value) {
    checker.keys("body", body, &KEYS);
    if let Some(system) = body.get("systemInstruction") {
        checker.keys("systemInstruction", system, &["role", "parts"]);
        for (place, part) in checker.items("systemInstruction.parts", &system["parts"]) {
            checker.keys(&place, part, &["text"]);
            checker.text(&place, &part["text"]);
        }
    }
    if let Some(config) = body.get("generationConfig") {
        let known = [&GENERATION_KEYS[..], &SAMPLING_KEYS[..]].concat();
        checker.keys("generationConfig", config, &known);
        if let Some(thinking) = config.get("thinkingConfig") {
            let place = "generationConfig.thinkingConfig";
            let known = ["includeThoughts", "thinkingBudget", "thinkingLevel"];
            checker.keys(place, thinking, &known);
        }
    }
    contents(checker, &body["contents"]);
    tools(checker, body);
}

/// The names of calls, or of results, in a turn, sorted: the vendor pairs them by name.
fn names<'v>(content: Option<&'v Value>, key: &str) -> Vec<&'v str> {
    let parts = content.and_then(|content| content["parts"].as_array());
    let mut names: Vec<&str> = parts
        .into_iter()
        .flatten()
        .filter_map(|part| part.get(key)?["name"].as_str())
        .collect();
    names.sort_unstable();
    names
}

fn contents(checker: &mut Checker<'_>, contents: &Value) {
    let contents = checker.items("contents", contents);
    turns::alternate(checker, &contents, "model");
    let mut previous = None;
    for (place, content) in &contents {
        checker.keys(place, content, &["role", "parts"]);
        let by_model = content["role"] == "model";
        for (place, part) in checker.items(&format!("{place}.parts"), &content["parts"]) {
            self::part(checker, &place, part, by_model);
        }
        let called = names(previous, "functionCall");
        let answered = names(Some(content), "functionResponse");
        checker.require(
            called == answered,
            place,
            format_args!("results of {answered:?} after calls of {called:?}"),
        );
        previous = Some(*content);
    }
    let mut ids = Vec::new();
    for (_, content) in &contents {
        let parts = content["parts"].as_array().into_iter().flatten();
        ids.extend(parts.filter_map(|part| part.get("functionCall")?.get("id")));
    }
    checker.unique("contents", ids.into_iter());
}

fn part(checker: &mut Checker<'_>, place: &str, part: &Value, by_model: bool) {
    let kinds: &[&str] = if by_model { &MODEL_PARTS } else { &USER_PARTS };
    let Some(kind) = turns::only_kind(checker, place, part, kinds) else {
        return;
    };
    let about: &[&str] = if by_model {
        &["thought", "thoughtSignature"]
    } else {
        &["videoMetadata"]
    };
    checker.keys(place, part, &[kinds, about].concat());
    let value = &part[kind];
    match kind {
        // A seal may come in a part of its own, which has an empty text.
        "text" if part.get("thoughtSignature").is_none() => {
            let text = value.as_str().unwrap_or_default();
            checker.require(!text.is_empty(), place, "must be a text that is not empty");
        }
        "functionCall" => {
            checker.keys(place, value, &["name", "args", "id"]);
            name(checker, place, &value["name"]);
            if let Some(args) = value.get("args") {
                checker.object(&format!("{place}.args"), args);
            }
        }
        "functionResponse" => {
            checker.keys(place, value, &["name", "response", "id", "parts"]);
            checker.object(&format!("{place}.response"), &value["response"]);
        }
        "inlineData" => checker.keys(place, value, &["mimeType", "data"]),
        _ => {}
    }
}

/// Requires a name of a function: it begins with a letter or `_`.
fn name(checker: &mut Checker<'_>, place: &str, name: &Value) {
    let place = format!("{place}.name");
    checker.identifier(&place, name);
    let begins_well = name.as_str().is_some_and(|name| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
    });
    checker.require(begins_well, &place, "must begin with a letter");
}

fn tools(checker: &mut Checker<'_>, body: &Value) {
    let Some(tools) = body.get("tools") else {
        let absent = body.get("toolConfig").is_none();
        checker.require(absent, "toolConfig", "only with `tools`");
        return;
    };
    let mut declared = Vec::new();
    for (place, tool) in checker.items("tools", tools) {
        checker.keys(&place, tool, &["functionDeclarations"]);
        let place = format!("{place}.functionDeclarations");
        let declarations = checker.items(&place, &tool["functionDeclarations"]);
        for (place, declaration) in declarations {
            let known = ["name", "description", "parameters", "parametersJsonSchema"];
            checker.keys(&place, declaration, &known);
            name(checker, &place, &declaration["name"]);
            if let Some(parameters) = declaration.get("parameters") {
                let place = format!("{place}.parameters");
                schema::root(checker, &place, parameters);
                schema::gemini(checker, &place, parameters);
            }
            declared.push(&declaration["name"]);
        }
    }
    checker.unique("tools", declared.into_iter());
}
