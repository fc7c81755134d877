//! What waits for its turn: a row of the store before anybody is told, said exactly once, and there again when the
//! program was killed. The screen and the prompt know the rows; what they say is kept here.

use std::cell::RefCell;
use std::collections::BTreeMap;

use hermes_core::{InboxId, Media, Op, SessionId};
use hermes_store::StoreError;

use super::conversation::Conversation;
use super::house::House;
use crate::complaint::Outcome;

/// Everything that waits in the conversations of this program.
#[derive(Default)]
pub(super) struct Waiting(RefCell<BTreeMap<InboxId, Op>>);

/// Something that waited already when its conversation was taken up.
#[derive(Debug, Clone)]
pub(super) struct Waited {
    pub(super) row: InboxId,
    /// As it could be typed.
    pub(super) text: String,
    pub(super) media: Vec<Media>,
}

impl Waiting {
    /// Brings back what waits in a conversation that nobody here was talking in.
    pub(super) async fn bring_back(&self, house: &House, id: &SessionId) -> Outcome<Vec<Waited>> {
        let rows = house.store.waiting(id).await?;
        let mut all = self.0.borrow_mut();
        let back = rows.into_iter().map(|row| {
            let op = match row.op {
                // The turn it was meant for is over.
                Op::Steer { text } => Op::UserMessage {
                    text,
                    media: Vec::new(),
                },
                op => op,
            };
            let (text, media) = typed(&op);
            all.insert(row.id, op);
            Waited {
                row: row.id,
                text,
                media,
            }
        });
        Ok(back.collect())
    }

    /// What some rows say together; nothing when they were taken before.
    fn take(&self, rows: &[InboxId]) -> Option<Op> {
        let mut all = self.0.borrow_mut();
        let said = rows.iter().filter_map(|row| all.remove(row));
        said.reduce(joined)
    }
}

impl Conversation {
    /// Has a message wait for its turn. It is durable when this answers.
    pub(super) async fn line_up(&self, message: Op) -> Outcome<InboxId> {
        let row = self.enqueue(&message).await?;
        self.waiting.0.borrow_mut().insert(row, message);
        Ok(row)
    }

    /// Says what waited, several messages as one.
    pub(super) fn take_up(&self, rows: Vec<InboxId>) -> bool {
        let Some(said) = self.waiting.take(&rows) else {
            return false;
        };
        let said = Box::new(said);
        self.front().send(Op::FromInbox { rows, said });
        true
    }

    /// The user takes back what waited.
    pub(super) fn withdraw(&self, rows: Vec<InboxId>) {
        if rows.is_empty() {
            return;
        }
        self.waiting.take(&rows);
        // Nobody waits for it: a kill in between brings it back, which is better than to lose it.
        drop(self.house.store.withdraw(rows));
    }

    /// Makes a remark to the turn under way. It is durable when this answers.
    pub(super) async fn remark(&self, text: String) -> Outcome {
        let front = self.front();
        let remark = Op::Steer { text };
        let rows = vec![self.enqueue(&remark).await?];
        let said = Box::new(remark);
        front.send(Op::FromInbox { rows, said });
        Ok(())
    }

    async fn enqueue(&self, op: &Op) -> Outcome<InboxId> {
        let (front, store) = (self.front(), &self.house.store);
        let id = front.id();
        match store.enqueue(&id, op).await {
            // What was said first is still on its way to the disk.
            Err(StoreError::NoSuchSession { .. }) => {
                self.create_row(&id, &front).await?;
                Ok(store.enqueue(&id, op).await?)
            }
            other => Ok(other?),
        }
    }
}

fn joined(one: Op, other: Op) -> Op {
    let mut all = one;
    let (more, pictures) = typed(&other);
    if let Op::UserMessage { text, media } | Op::UseSkills { text, media, .. } = &mut all {
        *text = format!("{text}\n\n{more}");
        media.extend(pictures);
    }
    all
}

/// What somebody could type to say this, and what goes with it.
fn typed(op: &Op) -> (String, Vec<Media>) {
    match op {
        Op::UserMessage { text, media } => (text.clone(), media.clone()),
        Op::UseSkills {
            skills,
            text,
            media,
            ..
        } => {
            let names = skills.iter().map(|name| format!("/{name} "));
            let line = format!("{}{text}", names.collect::<String>());
            (line.trim_end().to_owned(), media.clone())
        }
        _ => (String::new(), Vec::new()),
    }
}
