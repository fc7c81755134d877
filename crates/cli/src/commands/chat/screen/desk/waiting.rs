//! Messages on their way, as the session takes them, and those that wait.

use std::path::{Path, PathBuf};

use hermes_core::{InboxId, MediaSource, Op};
use hermes_tui::app::Outgoing;
use hermes_tui::composer::Attachment;
use hermes_tui::composer::paste::leading_path;

use super::super::files;
use super::Desk;
use crate::commands::chat::question;
use crate::commands::chat::waiting::Waited;
use crate::complaint::Outcome;

/// Characters of a hash that tell files apart.
const OF_HASH: usize = 12;

impl Desk<'_> {
    /// What a message asks of the session. Its pictures are in the store then.
    pub(super) fn op_of(&self, message: &Outgoing) -> Outcome<Op> {
        let attached = message.attachments.iter();
        let mut paths: Vec<PathBuf> = attached.map(|one| PathBuf::from(&one.path)).collect();
        let begins_with =
            leading_path(&message.text).and_then(|(path, _)| self.picture(&path).ok());
        paths.extend(begins_with.filter(|path| !paths.contains(path)));
        let media = question::pictures(&paths, self.conversation.house.store.blobs())?;
        Ok(match message.skills.clone() {
            None => Op::UserMessage {
                text: message.text.clone(),
                media,
            },
            Some(called) => Op::UseSkills {
                skills: called.names,
                instruction: called.instruction,
                text: called.text,
                media,
            },
        })
    }

    /// Keeps a message that waits for its turn.
    pub(in crate::commands::chat::screen) async fn keep_waiting(
        &self,
        message: &Outgoing,
    ) -> Outcome<InboxId> {
        let op = self.op_of(message)?;
        self.conversation.line_up(op).await
    }

    /// Makes a remark to the agent.
    pub(in crate::commands::chat::screen) async fn make_remark(&self, text: String) -> Outcome {
        self.conversation.remark(text).await
    }

    /// What waited, as the screen knows it.
    pub(super) fn waited(&self, waited: &[Waited]) -> Vec<Outgoing> {
        let outgoing = |one: &Waited| Outgoing {
            text: one.text.clone(),
            attachments: self.attachments_of(one),
            instead: false,
            skills: None,
            rows: vec![one.row],
        };
        waited.iter().map(outgoing).collect()
    }

    /// Pictures of a message that waited, as files: whoever takes it back can send it again.
    fn attachments_of(&self, waited: &Waited) -> Vec<Attachment> {
        let blobs = self.conversation.house.store.blobs();
        let pictures = waited.media.iter().filter_map(|media| {
            let (MediaSource::Blob(hash), Some(name)) = (&media.source, &media.name) else {
                return None;
            };
            let hash_start: String = hash.chars().take(OF_HASH).collect();
            let path = Path::new("images").join(format!("{hash_start}_{name}"));
            let there = self.context.home().ok()?.path().join(&path);
            let path = match there.exists() {
                true => there,
                false => files::keep(self.context, path, &blobs.get(hash).ok()?)?,
            };
            Some(Attachment {
                label: name.clone(),
                path: path.display().to_string(),
            })
        });
        pictures.collect()
    }
}
