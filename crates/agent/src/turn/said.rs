//! What the model said and is not through with: an answer that ran into its limit, or one that came too early.
//!
//! It was shown, so it is a row before the model is asked to go on, and every longer version takes the place of the
//! one before in one durable step. A kill in between loses nothing that anybody saw.

use hermes_core::{Message, MessageId, Role};
use hermes_llm::Answer;
use hermes_store::StoreError;

use super::call::steered;
use super::{Entry, Remark, Turn};
use crate::joint;

/// An answer that more follows.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// A whole answer that came too early; what the model says next follows it.
    held: String,
    /// Pieces of an answer that ran into its limit.
    fragments: String,
    /// The row that says all of it; the last one of the history.
    row: Option<MessageId>,
}

impl Said {
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.fragments.is_empty()
    }

    /// Whether there is an answer that could be the last.
    pub(super) fn is_whole(&self) -> bool {
        !self.held.is_empty()
    }

    /// What the next piece goes on from, in the middle of a sentence.
    pub(super) fn fragments(&self) -> &str {
        &self.fragments
    }

    /// The text, ready to be followed by more.
    fn text(&self) -> String {
        match self.held.as_str() {
            "" => self.fragments.clone(),
            held => format!("{held}\n\n{}", self.fragments),
        }
    }
}

impl Turn<'_> {
    /// Takes out of an answer what it repeats of the piece it goes on from.
    pub(super) fn without_repetition(&self, answer: &mut Answer) {
        let repeated = joint::repeated(self.said.fragments(), &answer.text);
        if repeated > 0 {
            answer.text.drain(..repeated);
            // The provider's own form repeats it too.
            answer.raw = None;
        }
    }

    /// An answer with what was said before it, of which it is the rest.
    pub(super) fn whole(&self, answer: Answer) -> Answer {
        if self.said.is_empty() {
            return answer;
        }
        // Put together from several answers: no provider's own form says it all.
        Answer {
            text: self.said.text() + &answer.text,
            raw: None,
            ..answer
        }
    }

    /// Keeps a message that says all that was said so far, in its place.
    pub(super) async fn keep_whole(&mut self, message: Message) -> Result<(), StoreError> {
        let message = self.masked(message);
        let last = self.history.last();
        let Some(last) = last.filter(|last| self.said.row == Some(last.row)) else {
            self.said = Said::default();
            return self.keep(message).await;
        };
        let same = last.message.plain_text() == message.plain_text()
            && message.tool_calls().next().is_none();
        self.said = Said::default();
        match same {
            true => Ok(()),
            false => self.keep_instead(message).await,
        }
    }

    /// Keeps a piece of an answer that ran into its limit; the next one goes on where it stopped.
    pub(super) async fn keep_piece(&mut self, answer: &Answer) -> Result<(), StoreError> {
        let held = self.said.held.clone();
        let fragments = self.said.fragments.clone() + &answer.text;
        let text = self.said.text() + &answer.text;
        self.keep_whole(Message::text(Role::Assistant, text))
            .await?;
        self.said = Said {
            held,
            fragments,
            row: self.history.last().map(|entry| entry.row),
        };
        Ok(())
    }

    /// Keeps a whole answer that must not be the last yet.
    pub(super) async fn hold(&mut self, whole: &Answer) -> Result<(), StoreError> {
        self.keep_whole(whole.to_message(Vec::new())).await?;
        self.said = Said {
            held: whole.text.trim().to_owned(),
            fragments: String::new(),
            row: self.history.last().map(|entry| entry.row),
        };
        Ok(())
    }

    /// Leaves what was said as it is: what comes next stands on its own.
    pub(super) fn leave_said(&mut self) {
        self.said = Said::default();
    }

    /// Keeps a remark of the user's. What the model is in the middle of saying stays the last of the history.
    pub(super) async fn keep_remark(&mut self, remark: Remark) -> Result<(), StoreError> {
        let Remark { text, rows } = remark;
        let remark = self.masked(Message::text(Role::User, steered(&text)));
        let last = self.history.last();
        let Some(last) = last.filter(|last| self.said.row == Some(last.row)) else {
            self.keep_from(rows, remark).await?;
            return Ok(());
        };
        let (row, said) = (last.row, last.message.clone());
        let (session, store) = (&self.around.spec.id, &self.around.services.store);
        let records = vec![(&remark).into(), (&*said).into()];
        let kept = store.take_up(rows, session, Some(row), records).await?;
        let Some(rows) = kept else {
            return Ok(());
        };
        self.history.pop();
        let messages = [remark.into(), said];
        let entries = rows.into_iter().zip(messages);
        self.history
            .extend(entries.map(|(row, message)| Entry::new(row, message)));
        self.said.row = self.history.last().map(|entry| entry.row);
        Ok(())
    }

    /// Finds what was said again when rows were written anew, under other ids. `last` is what the history ended
    /// with; where somebody else wrote behind it, it is left as it is.
    pub(super) fn find_said(&mut self, last: Option<&Entry>) {
        let same = |one: &Message, other: &Message| {
            one.role == other.role && one.plain_text() == other.plain_text()
        };
        let was_last =
            |entry: &&Entry| last.is_some_and(|last| same(&last.message, &entry.message));
        match self.history.last().filter(was_last) {
            Some(entry) if self.said.row.is_some() => self.said.row = Some(entry.row),
            _ => self.leave_said(),
        }
    }
}
