//! What an export writes, read from the database a conversation at a time.

use hermes_core::SessionId;

use super::mask::Mask;
use super::{ExportOptions, Format, Lineage, Rows};
use crate::error::StoreError;
use crate::messages::records;
use crate::record::{Record, Session};
use crate::reference_row::Beside;
use crate::sessions;
use crate::store::Store;

/// One session with its messages.
pub(super) struct Part {
    pub(super) session: Session,
    pub(super) beside: Beside,
    pub(super) records: Vec<Record>,
}

/// The sessions of one conversation, the last being where it can go on.
pub(super) struct Conversation {
    earlier: Vec<Part>,
    head: Part,
}

impl Conversation {
    pub(super) fn head(&self) -> &Part {
        &self.head
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.earlier.iter().chain([&self.head])
    }

    pub(super) fn is_chain(&self) -> bool {
        !self.earlier.is_empty()
    }

    pub(super) fn messages(&self) -> usize {
        self.parts().map(|part| part.records.len()).sum()
    }
}

impl Store {
    /// The conversation as the options want it; `None` when the session is gone.
    pub(super) fn gather(
        &self,
        session: &SessionId,
        options: &ExportOptions,
    ) -> Result<Option<Conversation>, StoreError> {
        let follows = match options.format {
            Format::Markdown | Format::Quarto | Format::Html => options.lineage == Lineage::Logical,
            Format::Jsonl | Format::UserPrompts | Format::Trace => false,
        };
        let chain = match follows {
            true => self.lineage(session).wait()?,
            false => vec![session.clone()],
        };
        let mut parts = Vec::with_capacity(chain.len());
        for id in chain {
            parts.extend(self.part(id, options)?);
        }
        Ok(parts.pop().map(|head| Conversation {
            earlier: parts,
            head,
        }))
    }

    fn part(&self, id: SessionId, options: &ExportOptions) -> Result<Option<Part>, StoreError> {
        let condition = match options.rows {
            Rows::Active => "AND m.active = 1",
            Rows::All => "",
        };
        let part = self.read(move |connection| {
            let Some(session) = sessions::get(connection, &id)? else {
                return Ok(None);
            };
            Ok(Some(Part {
                beside: Beside::read(connection, &session)?,
                records: records(connection, &id, condition)?,
                session,
            }))
        });
        let mut part = part.wait()?;
        if let (Some(part), Some(scope)) = (&mut part, options.scope()) {
            Mask::new(&options.redactor, scope).part(part);
        }
        Ok(part)
    }
}
