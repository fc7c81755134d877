//! Tool calls that arrive in pieces.

use hermes_core::{CallId, ModelEvent};
use serde_json::{Map, Value as Json, json};

use super::arguments::derived;
use crate::wire::legal::UNNAMED_TOOL;

/// The calls of one answer, in the order they began.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Pending>,
}

/// A call under way.
#[derive(Debug, Default)]
struct Pending {
    /// The server's number for it, when it counts.
    index: Option<u64>,
    /// The server's id, when it gave one.
    given: Option<String>,
    /// The id everybody else knows it by; set once the call was announced.
    announced: Option<CallId>,
    name: String,
    arguments: String,
    extra: Option<Json>,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether nothing is missing from any of them. A tool that needs no arguments is often given none.
    pub(super) fn are_whole(&self) -> bool {
        let whole = |call: &Pending| call.arguments.trim().is_empty() || call.is_whole();
        let mut calls = self.calls.iter();
        calls.all(|call| !call.name.is_empty() && whole(call))
    }

    /// The names of all calls that began.
    pub(super) fn names(&self) -> Vec<String> {
        let named = |call: &Pending| match call.name.as_str() {
            "" => UNNAMED_TOOL.to_owned(),
            name => name.to_owned(),
        };
        self.calls.iter().map(named).collect()
    }

    /// Takes one element of `tool_calls`, or a `function_call` wrapped like one. `answer` is the
    /// server's name for the whole answer; ids the server did not give are made from it.
    pub(super) fn take(&mut self, piece: &Json, answer: &str, out: &mut Vec<ModelEvent>) {
        let index = piece.get("index").and_then(Json::as_u64);
        let given = piece
            .get("id")
            .and_then(Json::as_str)
            .filter(|id| !id.is_empty());
        let function = piece.get("function").unwrap_or(piece);
        let name = function
            .get("name")
            .and_then(Json::as_str)
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let fragment = match function.get("arguments") {
            Some(Json::String(text)) => text.clone(),
            Some(Json::Null) | None => String::new(),
            Some(whole) => whole.to_string(),
        };
        let position = self.find(index, given, name).unwrap_or_else(|| {
            self.calls.push(Pending {
                index,
                ..Pending::default()
            });
            self.calls.len() - 1
        });
        let Some(call) = self.calls.get_mut(position) else {
            return;
        };
        if let Some(given) = given {
            call.given.get_or_insert_with(|| given.to_owned());
        }
        // Servers that repeat the name repeat all of it; after the announcement it is settled.
        if let (Some(name), None) = (name, &call.announced) {
            name.clone_into(&mut call.name);
        }
        if let Some(extra) = piece.get("extra_content").filter(|extra| !extra.is_null()) {
            call.extra = Some(extra.clone());
        }
        call.arguments.push_str(&fragment);
        match &call.announced {
            Some(id) if !fragment.is_empty() => out.push(ModelEvent::CallArguments {
                id: id.clone(),
                fragment,
            }),
            Some(_) => {}
            None if call.name.is_empty() => {}
            None => self.announce(position, answer, out),
        }
    }

    /// No more pieces: calls that never got a name are announced without one.
    pub(super) fn close(&mut self, answer: &str, out: &mut Vec<ModelEvent>) {
        for position in 0..self.calls.len() {
            match self.calls.get_mut(position) {
                Some(call) if call.announced.is_none() => {
                    UNNAMED_TOOL.clone_into(&mut call.name);
                    self.announce(position, answer, out);
                }
                Some(_) | None => {}
            }
        }
    }

    /// The calls as a message has them.
    pub(super) fn raw(&self) -> Json {
        self.calls.iter().map(Pending::raw).collect()
    }

    /// The call a piece belongs to; `None` when it begins another one.
    fn find(&self, index: Option<u64>, given: Option<&str>, name: Option<&str>) -> Option<usize> {
        let numbered = |call: &Pending| index.is_none() || call.index == index;
        if given.is_some() {
            let known = |call: &Pending| numbered(call) && call.given.as_deref() == given;
            // An id may come later than the rest of its call.
            let nameless = index.is_some() || name.is_none();
            let waiting = |call: &Pending| numbered(call) && call.given.is_none() && nameless;
            return self
                .calls
                .iter()
                .rposition(known)
                .or_else(|| self.calls.iter().rposition(waiting));
        }
        let last = self.calls.iter().rposition(numbered)?;
        let call = self.calls.get(last)?;
        let begins = name.is_some_and(|name| {
            let renamed = call.announced.is_some() && name != call.name;
            renamed || (index.is_none() && call.is_whole())
        });
        (!begins).then_some(last)
    }

    /// Tells about a call that has its name, and about the arguments that came before it.
    fn announce(&mut self, position: usize, answer: &str, out: &mut Vec<ModelEvent>) {
        let Some(call) = self.calls.get(position) else {
            return;
        };
        let id = match &call.given {
            Some(given) if !self.is_taken(given) => given.clone(),
            Some(_) | None => derived("call_", &[answer, &position.to_string(), &call.name]),
        };
        let id = CallId(id);
        out.push(ModelEvent::CallStarted {
            id: id.clone(),
            name: call.name.clone(),
        });
        if !call.arguments.is_empty() {
            out.push(ModelEvent::CallArguments {
                id: id.clone(),
                fragment: call.arguments.clone(),
            });
        }
        if let Some(call) = self.calls.get_mut(position) {
            call.announced = Some(id);
        }
    }

    fn is_taken(&self, id: &str) -> bool {
        let mut announced = self.calls.iter().filter_map(|call| call.announced.as_ref());
        announced.any(|taken| taken.0 == id)
    }
}

impl Pending {
    /// Whether the arguments are complete. Only looked at when a piece with a name arrives, or at the end.
    fn is_whole(&self) -> bool {
        serde_json::from_str::<Map<String, Json>>(&self.arguments).is_ok()
    }

    fn raw(&self) -> Json {
        let id = self.announced.as_ref().map_or("", |id| id.0.as_str());
        let mut out = Map::new();
        out.insert("id".to_owned(), id.into());
        out.insert("type".to_owned(), "function".into());
        out.insert(
            "function".to_owned(),
            json!({"name": self.name, "arguments": self.arguments}),
        );
        if let Some(extra) = &self.extra {
            out.insert("extra_content".to_owned(), extra.clone());
        }
        Json::Object(out)
    }
}
