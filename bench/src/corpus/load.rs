//! Puts a corpus into a store, through the same door every message takes.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use hermes_core::{ManualClock, MessageId, SessionId};
use hermes_secrets::RedactorHandle;
use hermes_store::{NewRecord, NewSession, Options, Pending, Store};
use serde::{Deserialize, Serialize};

use super::language::Language;
use super::needle::Kind;
use super::plan::{END, Plan, SPAN, Said};

/// A question and the message that answers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) language: Language,
    pub(crate) kind: Kind,
    pub(crate) query: String,
    pub(crate) message: MessageId,
}

/// Opens the store in `folder` as it would be on the day after the corpus ends.
pub(crate) fn open(folder: &Path) -> anyhow::Result<Store> {
    open_at(
        folder,
        Arc::new(ManualClock::new(jiff::Timestamp::from_second(
            END + 86_400,
        )?)),
    )
}

fn open_at(folder: &Path, clock: Arc<ManualClock>) -> anyhow::Result<Store> {
    Store::open(Options {
        path: folder.join("hermes.db"),
        blobs: folder.join("blobs"),
        clock,
        redactor: RedactorHandle::default(),
        vfs: None,
    })
    .with_context(|| format!("could not open the store in {}", folder.display()))
}

/// Writes the whole plan and answers where the needles are. `tell` hears how many messages are in.
pub(crate) fn fill(
    folder: &Path,
    plan: &Plan,
    mut tell: impl FnMut(usize),
) -> anyhow::Result<Vec<Answer>> {
    let clock = Arc::new(ManualClock::new(jiff::Timestamp::from_second(END - SPAN)?));
    let store = open_at(folder, clock.clone())?;
    let step = Duration::from_secs(u64::try_from(SPAN)?) / u32::try_from(plan.sessions().max(1))?;
    let mut waiting: VecDeque<Batch> = VecDeque::new();
    let mut answers = Vec::new();
    let mut count = 0;
    for index in 0..plan.sessions() {
        let said = plan.session(index);
        clock.advance(step);
        let id = SessionId::try_from(format!("bench_{index:06}"))?;
        let source = ["cli", "telegram", "discord", "cli"][index % 4];
        let created = store.create_session(NewSession::new(id.clone(), source));
        let needles: Vec<_> = said.iter().map(|said| said.needle).collect();
        let records = said.into_iter().map(record).collect();
        waiting.push_back(Batch {
            created,
            appended: store.append(&id, records),
            needles,
        });
        if waiting.len() >= 100 {
            count += waiting
                .pop_front()
                .map_or(Ok(0), |batch| batch.finish(plan, &mut answers))?;
            tell(count);
        }
    }
    for batch in waiting {
        count += batch.finish(plan, &mut answers)?;
    }
    tell(count);
    Ok(answers)
}

/// A session on its way to the disk.
struct Batch {
    created: Pending<()>,
    appended: Pending<Vec<MessageId>>,
    needles: Vec<Option<usize>>,
}

impl Batch {
    fn finish(self, plan: &Plan, answers: &mut Vec<Answer>) -> anyhow::Result<usize> {
        self.created.wait()?;
        let ids = self.appended.wait()?;
        for (id, needle) in ids.iter().zip(&self.needles) {
            let question = needle.and_then(|needle| plan.question(needle));
            answers.extend(question.map(|(language, kind, query)| Answer {
                language,
                kind,
                query: query.to_owned(),
                message: *id,
            }));
        }
        Ok(ids.len())
    }
}

fn record(said: Said) -> NewRecord {
    NewRecord {
        timestamp: Some(said.at),
        ..NewRecord::text(said.role, said.text)
    }
}
