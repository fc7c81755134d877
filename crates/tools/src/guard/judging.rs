//! What is found in an action, and where it would happen.

use hermes_core::ToolContext;
use hermes_exec::Place;
use hermes_policy::{
    Finding, Isolation, Judgement, Leaving, Severity, Surroundings, judge, judge_in, judge_typed,
};

use super::Guard;
use super::action::{Action, Kind};
use crate::workplace::Workplace;

impl Guard {
    /// What an action is judged by besides its text.
    fn around(&self, place: &Workplace) -> Surroundings {
        Surroundings {
            home: self.settings.home.clone(),
            product_home: self.settings.product_home.clone(),
            cwd: place.directory().display().to_string(),
            own_pid: Some(std::process::id()),
            isolation: match place.backend.place() {
                Place::Host => Isolation::None,
                Place::Away { kind: "ssh", .. } => Isolation::None,
                Place::Away { .. } => self.settings.isolation,
            },
        }
    }

    pub(super) async fn judged(
        &self,
        action: &Action<'_>,
        place: &Workplace,
        context: &ToolContext,
    ) -> Judgement {
        let around = self.around(place);
        match action.kind {
            Kind::Command => {
                let judgement = match around.isolation {
                    Isolation::Full => judge(action.text, &around),
                    Isolation::None | Isolation::Mounts => {
                        let definitions = place.defined.get(&place.shell).await;
                        judge_in(action.text, &around, &definitions)
                    }
                };
                let more = self.scanned(action.text, &around, context).await;
                judgement.with(more)
            }
            // The same eyes look at a script as at one handed to an interpreter in a command.
            Kind::Script => judge_script(action.text, &around),
            Kind::Typed(typed, directory) => {
                let cwd = directory.display().to_string();
                let around = Surroundings { cwd, ..around };
                let judgement = judge_typed(&typed, &around);
                let line = typed.line();
                if line.trim().is_empty() || !typed.is_read_as_commands(&around) {
                    return judgement;
                }
                let more = self.scanned(&line, &around, context).await.into_iter();
                // The line may have begun before the text, which is all that is shown.
                let span = whole(action.text);
                judgement.with(more.map(|found| Finding { span, ..found }).collect())
            }
            Kind::Outside(line) => {
                judge(action.text, &around).with(vec![outside(action.text, line)])
            }
            Kind::ScriptOutside(line) => {
                judge_script(action.text, &around).with(vec![outside(action.text, line)])
            }
            Kind::Change(leaving) => {
                let (category, reason) = match leaving {
                    Leaving::Outside { directory, .. } => (
                        format!("write-outside:{}", directory.display()),
                        "writes outside the workspace and the temporary directories",
                    ),
                    Leaving::Guarded(_) => (
                        "guarded-file".to_owned(),
                        "writes what other programs run or believe by themselves",
                    ),
                };
                let found = Finding {
                    category,
                    severity: Severity::Ask,
                    reason: reason.to_owned(),
                    span: whole(action.text),
                };
                Judgement::of(vec![found], around.isolation)
            }
        }
    }
}

impl Guard {
    /// What the scanner finds, where there is one and something to protect.
    async fn scanned(
        &self,
        command: &str,
        around: &Surroundings,
        context: &ToolContext,
    ) -> Vec<Finding> {
        match &self.tirith {
            Some(tirith) if around.isolation != Isolation::Full => {
                tirith.check(command, context).await
            }
            Some(_) | None => Vec::new(),
        }
    }
}

/// What leaving the sandbox is found as.
fn outside(text: &str, line: &str) -> Finding {
    Finding {
        category: "outside-sandbox".to_owned(),
        severity: Severity::Ask,
        reason: format!("was refused by the sandbox ({line}) and would run without it"),
        span: whole(text),
    }
}

fn whole(text: &str) -> hermes_policy::Span {
    hermes_policy::Span {
        start: 0,
        end: text.len(),
    }
}

/// Judges a script as if it were handed to Python.
fn judge_script(script: &str, around: &Surroundings) -> Judgement {
    let mut end = "HERMES_SCRIPT_END".to_owned();
    while script.contains(&end) {
        end.push('_');
    }
    let command = format!("python3 - <<'{end}'\n{script}\n{end}\n");
    let judged = judge(&command, around);
    // Running a script is what the tool is for; what the script does is what counts.
    let telling: Vec<Finding> = judged
        .findings
        .iter()
        .filter(|finding| finding.category != "heredoc-command")
        .map(|finding| Finding {
            span: whole(script),
            ..finding.clone()
        })
        .collect();
    let of = Judgement::of(telling, around.isolation);
    Judgement {
        verdict: of.verdict,
        categories: of.categories,
        reason: of.reason,
        findings: of.findings,
        // A script is never what an entry of the allow list means.
        single: false,
        bare: false,
        ..judged
    }
}
