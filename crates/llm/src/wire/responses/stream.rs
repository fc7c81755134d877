//! The items of an answer while they arrive.
//!
//! Items are announced, streamed in pieces and repeated whole when they are done. Servers leave out any
//! of these; what was told from the pieces is not told again, and what is missing is told from the whole.

use hermes_core::{CallId, ModelEvent, without_halves};
use serde_json::{Value as Json, json};

use crate::wire::chat::arguments::derived;
use crate::wire::legal::UNNAMED_TOOL;

/// Items of one answer.
#[derive(Debug, Default)]
pub(super) struct Items {
    open: Vec<Open>,
    /// Whether a refusal was among them.
    pub(super) refused: bool,
}

/// How an event names its item. Some servers give new ids to the same item, so the place comes first.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Key {
    Place(u64),
    Id(String),
    Unknown,
}

#[derive(Debug)]
struct Open {
    key: Key,
    kind: Kind,
    /// What was told of it so far: text, thoughts or arguments.
    told: String,
    /// The whole of it, as received, once it is done.
    whole: Option<Json>,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Message(Phase),
    Reasoning,
    Call { id: CallId, name: String },
}

/// What a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// For the user, and the end of the answer.
    Final,
    /// For the user, with more to come.
    Commentary,
    /// Thinking in the shape of a message.
    Analysis,
}

/// What an answer consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Calls,
    FinalText,
    /// Thoughts or commentary, and nothing behind them.
    Interim,
    Nothing,
}

impl Items {
    pub(super) fn outcome(&self) -> Outcome {
        let any = |wanted: fn(&Open) -> bool| self.open.iter().any(wanted);
        if any(|item| matches!(item.kind, Kind::Call { .. })) {
            Outcome::Calls
        } else if any(|item| item.kind == Kind::Message(Phase::Final) && !item.told.is_empty()) {
            Outcome::FinalText
        } else if any(|item| item.kind == Kind::Reasoning || !item.told.is_empty()) {
            Outcome::Interim
        } else {
            Outcome::Nothing
        }
    }

    pub(super) fn has_begun(&self) -> bool {
        !self.open.is_empty()
    }

    pub(super) fn is_any_done(&self) -> bool {
        self.open.iter().any(|item| item.whole.is_some())
    }

    /// Whole items in the order they began: some servers finish the thoughts after what came of them.
    pub(super) fn take_whole(&mut self) -> Json {
        let whole = self.open.iter_mut().filter_map(|item| item.whole.take());
        whole.collect()
    }

    /// The names of all calls that began.
    pub(super) fn calls(&self) -> Vec<String> {
        let name = |item: &Open| match &item.kind {
            Kind::Call { name, .. } => Some(name.clone()),
            Kind::Message(_) | Kind::Reasoning => None,
        };
        self.open.iter().filter_map(name).collect()
    }

    /// An item begins.
    pub(super) fn added(
        &mut self,
        event: &Json,
        item: &Json,
        answer: &str,
        out: &mut Vec<ModelEvent>,
    ) {
        let key = key(event);
        match word(item, "type") {
            "message" => {
                self.begin(key, Kind::Message(phase(item)));
            }
            "reasoning" => {
                self.begin(key, Kind::Reasoning);
            }
            // Without a name there is nothing to announce yet.
            "function_call" if !word(item, "name").is_empty() => {
                self.begin_call(key, item, answer, out);
            }
            _ => {}
        }
    }

    pub(super) fn text(&mut self, event: &Json, out: &mut Vec<ModelEvent>) {
        let position = self.place(key(event), Kind::Message(Phase::Final));
        self.tell(position, word(event, "delta"), out);
    }

    pub(super) fn thought(&mut self, event: &Json, out: &mut Vec<ModelEvent>) {
        let position = self.place(key(event), Kind::Reasoning);
        self.tell(position, word(event, "delta"), out);
    }

    /// A summary goes on with its next paragraph.
    pub(super) fn thought_part(&mut self, event: &Json, out: &mut Vec<ModelEvent>) {
        let position = self.place(key(event), Kind::Reasoning);
        if self
            .open
            .get(position)
            .is_some_and(|item| !item.told.is_empty())
        {
            self.tell(position, "\n\n", out);
        }
    }

    /// A piece of a call's arguments. Pieces of a call nobody announced come again when it is done.
    pub(super) fn arguments(&mut self, event: &Json, out: &mut Vec<ModelEvent>) {
        if let Some(position) = self.find_call(&key(event)) {
            self.tell(position, word(event, "delta"), out);
        }
    }

    /// All of a call's arguments.
    pub(super) fn all_arguments(&mut self, event: &Json, out: &mut Vec<ModelEvent>) {
        if let Some(position) = self.find_call(&key(event)) {
            self.complete(position, word(event, "arguments"), out);
        }
    }

    /// An item is whole.
    pub(super) fn done(
        &mut self,
        event: &Json,
        item: &Json,
        answer: &str,
        out: &mut Vec<ModelEvent>,
    ) {
        let key = key(event);
        let (position, whole) = match word(item, "type") {
            "message" => {
                let kind = Kind::Message(phase(item));
                let position = self.place(key, kind.clone());
                if let Some(open) = self.open.get_mut(position) {
                    open.kind = kind;
                }
                self.refused |= has_refusal(item);
                (position, texts(item, "content", ""))
            }
            "reasoning" => {
                let position = self.place(key, Kind::Reasoning);
                let summary = texts(item, "summary", "\n\n");
                let whole = if summary.is_empty() {
                    texts(item, "content", "\n\n")
                } else {
                    summary
                };
                (position, whole)
            }
            "function_call" => {
                let position = self.begin_call(key, item, answer, out);
                (position, word(item, "arguments").to_owned())
            }
            "custom_tool_call" => {
                let position = self.begin_call(key, item, answer, out);
                (position, custom_arguments(word(item, "input")))
            }
            // Tools the provider ran itself, and whatever else leaks out of it.
            _ => return,
        };
        if self
            .open
            .get(position)
            .is_some_and(|open| open.whole.is_some())
        {
            return;
        }
        self.complete(position, &whole, out);
        if let Some(open) = self.open.get_mut(position) {
            open.whole = Some(item.clone());
        }
    }

    fn begin(&mut self, key: Key, kind: Kind) -> usize {
        self.open.push(Open {
            key,
            kind,
            told: String::new(),
            whole: None,
        });
        self.open.len() - 1
    }

    /// The item an event is about, begun now if it was never announced.
    fn place(&mut self, key: Key, kind: Kind) -> usize {
        let fits = |item: &Open| {
            matches!(
                (&item.kind, &kind),
                (Kind::Message(_), Kind::Message(_)) | (Kind::Reasoning, Kind::Reasoning)
            )
        };
        let known = self
            .open
            .iter()
            .rposition(|item| item.key == key && fits(item));
        // An event that names its item in another way than the announcement means the oldest open one.
        let unnamed = || {
            let same_way =
                |item: &Open| std::mem::discriminant(&item.key) == std::mem::discriminant(&key);
            self.open
                .iter()
                .position(|item| item.whole.is_none() && fits(item) && !same_way(item))
        };
        match known.or_else(unnamed) {
            Some(position) => position,
            None => self.begin(key, kind),
        }
    }

    fn find_call(&self, key: &Key) -> Option<usize> {
        self.open
            .iter()
            .rposition(|item| item.key == *key && matches!(item.kind, Kind::Call { .. }))
    }

    fn begin_call(
        &mut self,
        key: Key,
        item: &Json,
        answer: &str,
        out: &mut Vec<ModelEvent>,
    ) -> usize {
        let given = word(item, "call_id");
        let known = self.open.iter().position(|open| match &open.kind {
            Kind::Call { id, .. } => open.key == key || (id.0 == given && open.whole.is_none()),
            Kind::Message(_) | Kind::Reasoning => false,
        });
        if let Some(position) = known {
            return position;
        }
        let id = CallId(match given {
            "" => derived(
                "call_",
                &[answer, word(item, "id"), &self.open.len().to_string()],
            ),
            given => given.to_owned(),
        });
        let name = match word(item, "name") {
            "" => UNNAMED_TOOL.to_owned(),
            name => name.to_owned(),
        };
        out.push(ModelEvent::CallStarted {
            id: id.clone(),
            name: name.clone(),
        });
        self.begin(key, Kind::Call { id, name })
    }

    fn tell(&mut self, position: usize, text: &str, out: &mut Vec<ModelEvent>) {
        if text.is_empty() {
            return;
        }
        // Two messages, or two runs of thoughts, are two paragraphs.
        let earlier = self.open.get(position).is_some_and(|item| {
            item.told.is_empty()
                && self
                    .open
                    .iter()
                    .any(|other| is_same_voice(&other.kind, &item.kind) && !other.told.is_empty())
        });
        let Some(item) = self.open.get_mut(position) else {
            return;
        };
        item.told.push_str(text);
        let shown = if earlier {
            format!("\n\n{text}")
        } else {
            text.to_owned()
        };
        out.push(match &item.kind {
            Kind::Message(Phase::Final | Phase::Commentary) => ModelEvent::Text(shown),
            Kind::Message(Phase::Analysis) | Kind::Reasoning => ModelEvent::Reasoning(shown),
            Kind::Call { id, .. } => ModelEvent::CallArguments {
                id: id.clone(),
                fragment: shown,
            },
        });
    }

    /// Tells what of the whole was not told yet. When the pieces said something else, they stand.
    fn complete(&mut self, position: usize, whole: &str, out: &mut Vec<ModelEvent>) {
        let rest = self
            .open
            .get(position)
            .and_then(|item| whole.strip_prefix(item.told.as_str()));
        if let Some(rest) = rest {
            self.tell(position, rest, out);
        }
    }
}

fn is_same_voice(one: &Kind, other: &Kind) -> bool {
    let speaks = |kind: &Kind| match kind {
        Kind::Message(Phase::Final | Phase::Commentary) => Some(true),
        Kind::Message(Phase::Analysis) | Kind::Reasoning => Some(false),
        Kind::Call { .. } => None,
    };
    speaks(one).is_some() && speaks(one) == speaks(other)
}

fn key(event: &Json) -> Key {
    if let Some(place) = event.get("output_index").and_then(Json::as_u64) {
        return Key::Place(place);
    }
    match ["/item_id", "/item/id", "/id"]
        .iter()
        .find_map(|path| event.pointer(path).and_then(Json::as_str))
    {
        Some(id) => Key::Id(id.to_owned()),
        None => Key::Unknown,
    }
}

fn word<'j>(value: &'j Json, key: &str) -> &'j str {
    value.get(key).and_then(Json::as_str).unwrap_or("")
}

fn phase(item: &Json) -> Phase {
    match word(item, "phase") {
        "commentary" => Phase::Commentary,
        "analysis" => Phase::Analysis,
        _ => Phase::Final,
    }
}

fn texts(item: &Json, list: &str, between: &str) -> String {
    let parts = item.get(list).and_then(Json::as_array);
    let texts: Vec<&str> = parts
        .into_iter()
        .flatten()
        .map(|part| word(part, "text"))
        .filter(|text| !text.is_empty())
        .collect();
    texts.join(between)
}

fn has_refusal(item: &Json) -> bool {
    let parts = item.get("content").and_then(Json::as_array);
    parts
        .into_iter()
        .flatten()
        .any(|part| !word(part, "refusal").is_empty())
}

/// The input of a tool without a schema is free text; ours all take an object.
fn custom_arguments(input: &str) -> String {
    match serde_json::from_str(&without_halves(input)) {
        Ok(Json::Object(_)) => input.to_owned(),
        Ok(_) | Err(_) => json!({"input": input}).to_string(),
    }
}
