//! What prompts that run beside the conversation have to say, on the screen.

use hermes_core::{Event, SessionId, TurnEnd};
use hermes_tui::app::Reply;
use hermes_tui::{Answer, Cell, Failure, Level, Marks, News};

use super::notice;
use crate::commands::chat::SILENT;
use crate::commands::chat::away::Left;
use crate::commands::chat::prompts::{Aside, Ended};
use crate::output::one_line;

/// Characters of what a conversation was asked.
const MOST_ASKED: usize = 60;

/// News of a prompt that runs beside the conversation.
pub(super) fn aside(news: Aside) -> News {
    let mut over = None;
    let cells = match news {
        Aside::Asks(question) => return News::Event(Event::Ask(question)),
        Aside::Answered { question, how } => return News::Event(Event::Answered { question, how }),
        Aside::Notice(text) => vec![notice(Level::Info, &text)],
        Aside::Left(left) => {
            over = Some(left.id.clone());
            vec![done(&left)]
        }
        Aside::Ended(ended) => {
            over = SessionId::try_from(ended.label.clone()).ok();
            told(ended)
        }
    };
    News::Reply(Reply {
        cells,
        over,
        ..Reply::default()
    })
}

/// A conversation that was left has ended its turn.
fn done(left: &Left) -> Cell {
    let asked: String = one_line(&left.asked).chars().take(MOST_ASKED).collect();
    let (level, how) = match &left.why {
        TurnEnd::Done => (Level::Good, "is done"),
        TurnEnd::Interrupted => (Level::Info, "was stopped"),
        TurnEnd::Budget => (Level::Warn, "reached the limit of model calls"),
        TurnEnd::Empty | TurnEnd::Failed { .. } => (Level::Warn, "failed"),
    };
    let text = format!("“{asked}” {how}; /resume {} goes there", left.id);
    notice(level, &text)
}

fn told(ended: Ended) -> Vec<Cell> {
    let label = format!("▶ {}: {}", ended.label, ended.text);
    let mut cells = Vec::new();
    if !ended.answer.is_empty() {
        cells.push(Cell::Answer(Answer {
            text: ended.answer,
            label: Some(label.clone()),
            marks: Marks::Render,
        }));
    }
    let failed = |message: String, next: Option<String>| {
        Cell::Failure(Failure {
            message: format!("{label}: {message}"),
            next,
        })
    };
    match ended.why {
        TurnEnd::Done => {}
        TurnEnd::Interrupted => cells.push(notice(Level::Info, &format!("{label}: stopped"))),
        TurnEnd::Budget => {
            let text = format!(
                "{label}: the limit of model calls is reached; /resume {} goes on with it",
                ended.label
            );
            cells.push(notice(Level::Warn, &text));
        }
        TurnEnd::Empty => {
            let next = "ask in another way, or choose another model with /model".to_owned();
            cells.push(failed(SILENT.to_owned(), Some(next)));
        }
        TurnEnd::Failed { message, hint } => cells.push(failed(message, hint)),
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    // CL-37
    #[test]
    fn a_prompt_that_came_to_nothing_says_what_helps() {
        let ended = |why: TurnEnd| Ended {
            label: "bg_1".to_owned(),
            text: "count".to_owned(),
            answer: String::new(),
            why,
        };
        let cells = told(ended(TurnEnd::Empty));
        let [Cell::Failure(failure)] = cells.as_slice() else {
            panic!("{cells:?}");
        };
        assert!(failure.message.contains(SILENT), "{failure:?}");
        let next = failure.next.as_deref().unwrap_or_default();
        assert!(next.contains("/model"), "{failure:?}");
        let cells = told(ended(TurnEnd::Budget));
        let [Cell::Notice(notice)] = cells.as_slice() else {
            panic!("{cells:?}");
        };
        assert!(notice.text.contains("/resume bg_1"), "{notice:?}");
    }
}
