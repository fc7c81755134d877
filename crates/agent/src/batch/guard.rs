//! Noticing a model that goes round in circles: the same call failing again, one tool failing over
//! and over, the same look giving the same answer.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use hermes_config::{LoopLimits, ToolLoopGuardrails};
use hermes_core::{Effect, ToolCall};
use serde::Serialize;
use serde_json::json;

/// What is remembered of the calls of one turn.
pub(crate) struct Guard {
    rules: ToolLoopGuardrails,
    failures: HashMap<u64, u32>,
    failures_of_tool: HashMap<String, u32>,
    same_results: HashMap<u64, (u64, u32)>,
}

/// What the guard makes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Fine,
    /// The model is told this beside the result.
    Warn(String),
    /// The turn ends.
    Halt(Stop),
}

/// Why a turn ends, as the result of its last call says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Stop {
    action: &'static str,
    /// Which of the limits was reached, by its name in the settings.
    code: &'static str,
    pub(crate) message: String,
    tool_name: String,
    count: u32,
    /// The same for the same call.
    signature: String,
}

impl Stop {
    /// The result of the call that came too often; what the call itself answered goes along.
    pub(crate) fn result(&self, answer: &str) -> String {
        json!({"error": self.message, "guardrail": self, "result": answer}).to_string()
    }
}

/// One of the limits.
#[derive(Clone, Copy)]
struct Limit {
    name: &'static str,
    of: fn(&LoopLimits) -> u32,
}

const EXACT_FAILURE: Limit = Limit {
    name: "exact_failure",
    of: |limits| limits.exact_failure,
};
const SAME_TOOL_FAILURE: Limit = Limit {
    name: "same_tool_failure",
    of: |limits| limits.same_tool_failure,
};
const NO_PROGRESS: Limit = Limit {
    name: "idempotent_no_progress",
    of: |limits| limits.idempotent_no_progress,
};

impl Guard {
    pub(crate) fn new(rules: ToolLoopGuardrails) -> Self {
        Self {
            rules,
            failures: HashMap::new(),
            failures_of_tool: HashMap::new(),
            same_results: HashMap::new(),
        }
    }

    /// Takes a finished call in.
    pub(crate) fn finished(
        &mut self,
        call: &ToolCall,
        effect: Effect,
        failed: bool,
        result: &str,
    ) -> Verdict {
        let mut arguments = call.arguments.clone();
        // The same call is the same in whatever order its arguments stand.
        arguments.sort_all_objects();
        let key = hash(&(&call.name, arguments.to_string()));
        let found = if failed {
            let same = self.failures.entry(key).or_default();
            *same += 1;
            let of_tool = self.failures_of_tool.entry(call.name.clone()).or_default();
            *of_tool += 1;
            let (same, of_tool) = (*same, *of_tool);
            self.judge(call, key, same, EXACT_FAILURE, || {
                format!(
                    "this exact call has failed {same} times; change the arguments or the approach"
                )
            })
            .or_else(|| {
                self.judge(call, key, of_tool, SAME_TOOL_FAILURE, || {
                    format!(
                        "{} has failed {of_tool} times in this turn; try another way",
                        call.name
                    )
                })
            })
        } else {
            self.failures.remove(&key);
            self.failures_of_tool.remove(&call.name);
            if effect != Effect::ReadOnly {
                // Something changed: looking again may show something new.
                self.same_results.clear();
                return Verdict::Fine;
            }
            let digest = hash(&result);
            let entry = self.same_results.entry(key).or_insert((digest, 0));
            *entry = if entry.0 == digest {
                (digest, entry.1 + 1)
            } else {
                (digest, 1)
            };
            let times = entry.1;
            self.judge(call, key, times, NO_PROGRESS, || {
                format!("this call has given the same result {times} times; use what you have")
            })
        };
        found.unwrap_or(Verdict::Fine)
    }

    fn judge(
        &self,
        call: &ToolCall,
        key: u64,
        count: u32,
        limit: Limit,
        say: impl FnOnce() -> String,
    ) -> Option<Verdict> {
        if self.rules.hard_stop_enabled && count >= (limit.of)(&self.rules.hard_stop_after) {
            Some(Verdict::Halt(Stop {
                action: "halt",
                code: limit.name,
                message: say(),
                tool_name: call.name.clone(),
                count,
                signature: format!("{key:016x}"),
            }))
        } else if self.rules.warnings_enabled && count >= (limit.of)(&self.rules.warn_after) {
            Some(Verdict::Warn(say()))
        } else {
            None
        }
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use hermes_core::CallId;

    use super::*;

    fn call(name: &str, argument: u32) -> ToolCall {
        ToolCall {
            id: CallId("c".into()),
            name: name.into(),
            arguments: json!({"n": argument}),
        }
    }

    fn warned(verdict: &Verdict) -> bool {
        matches!(verdict, Verdict::Warn(_))
    }

    // AG-33
    #[test]
    fn circles_are_noticed_and_stopped_when_asked() {
        let mut guard = Guard::new(ToolLoopGuardrails::default());
        let mut failed = |n| guard.finished(&call("read", n), Effect::ReadOnly, true, "no");
        assert_eq!(failed(1), Verdict::Fine);
        assert!(warned(&failed(1)), "the same call, twice");
        assert!(warned(&failed(2)), "one tool, three times");

        let mut guard = Guard::new(ToolLoopGuardrails::default());
        let look = |guard: &mut Guard, seen| {
            guard.finished(&call("read", 1), Effect::ReadOnly, false, seen)
        };
        assert_eq!(look(&mut guard, "a"), Verdict::Fine);
        assert!(warned(&look(&mut guard, "a")));
        assert_eq!(look(&mut guard, "b"), Verdict::Fine, "something new");
        guard.finished(&call("write", 1), Effect::Mutating, false, "done");
        assert_eq!(
            look(&mut guard, "b"),
            Verdict::Fine,
            "looked again after a change"
        );

        let mut guard = Guard::new(ToolLoopGuardrails {
            hard_stop_enabled: true,
            ..ToolLoopGuardrails::default()
        });
        let last = (0..5).map(|_| guard.finished(&call("x", 1), Effect::Mutating, true, "no"));
        let Some(Verdict::Halt(stop)) = last.last() else {
            panic!("it goes on")
        };
        // EX-70
        let told: serde_json::Value = serde_json::from_str(&stop.result("no")).unwrap();
        let guardrail = &told["guardrail"];
        assert_eq!(told["error"], guardrail["message"]);
        assert_eq!(told["result"], "no");
        assert_eq!(guardrail["action"], "halt");
        assert_eq!(guardrail["code"], "exact_failure");
        assert_eq!(guardrail["tool_name"], "x");
        assert_eq!(guardrail["count"], 5);
        assert_eq!(guardrail["signature"].as_str().unwrap().len(), 16);
    }
}
