//! `hermes sessions export`

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use hermes_core::{FailureKind, SessionId};
use hermes_store::{
    ExportOptions, Format, Lineage, Masking, MediaForm, Rows, SessionFilter, Store, verify_document,
};

use super::filter::session_filter;
use crate::args::sessions::{ExportArgs, ExportFormat, LineageArg};
use crate::commands::ask;
use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::number;
use crate::output::Output;

pub(crate) fn export(args: &ExportArgs, context: &Context, output: &mut Output) -> Outcome {
    refuse_sharing(args)?;
    let store = context.conversations()?;
    let options = options(args, context);
    let filter = SessionFilter {
        include_archived: true,
        ..session_filter(&args.filter, context)?
    };
    let narrowed = !filter.is_empty();
    let sessions = match &args.session_id {
        Some(wanted) => vec![store.resolve_exact(wanted).wait()?],
        None => store.session_ids(filter).wait()?,
    };
    let documents = matches!(args.format, ExportFormat::Md | ExportFormat::Qmd);
    if documents && args.session_id.is_none() && !narrowed {
        return Err(
            Complaint::bad_request("documents for every conversation are many files")
                .hint("say which with a filter such as --newer-than 30d, or --session-id"),
        );
    }
    if args.bulk.dry_run {
        for session in &sessions {
            output.line(session.as_str())?;
        }
        return Ok(output.line(format!(
            "{} would be exported; nothing was written",
            sessions.len()
        ))?);
    }
    if args.delete_after_verified && !args.bulk.yes {
        ask::confirm(&format!(
            "Delete {} once they are exported",
            number::of(sessions.len(), "conversation")
        ))?;
    }
    if documents && !is_one_file(args) {
        return write_documents(args, &store, &sessions, &options, context, output);
    }
    match args.output.as_deref() {
        None => write_stream(args, &store, &sessions, &options, output),
        Some(path) if path == Path::new("-") => {
            write_stream(args, &store, &sessions, &options, output)
        }
        Some(path) => write_file(path, args, &store, &sessions, &options, output),
    }
}

/// Whether one document is wanted as a file of a name, and not in a folder under its own.
fn is_one_file(args: &ExportArgs) -> bool {
    let output = args.output.as_deref().and_then(Path::extension);
    let plain = args.session_id.is_some() && !args.delete_after_verified;
    plain && output.is_some_and(|end| end == "md" || end == "qmd")
}

fn refuse_sharing(args: &ExportArgs) -> Outcome {
    if args.delete_after_verified && (args.redact || args.only.is_some()) {
        return Err(
            Complaint::bad_request("what is masked or left out would be lost")
                .hint("export everything to delete it, or keep the conversations"),
        );
    }
    let by_session = matches!(args.format, ExportFormat::Jsonl | ExportFormat::Trace);
    if args.lineage == LineageArg::Logical && by_session {
        return Err(
            Complaint::bad_request("jsonl and trace hold one session a line")
                .hint("use --format md, qmd or html for a whole conversation in one piece"),
        );
    }
    if args.only.is_some() && args.format != ExportFormat::Jsonl {
        return Err(
            Complaint::bad_request("--only user-prompts is written as jsonl")
                .hint("leave --format out"),
        );
    }
    if args.upload || args.public {
        return Err(
            Complaint::bad_request("conversations are not uploaded anywhere")
                .hint("export to a file and share that yourself"),
        );
    }
    if args.no_redact && args.format == ExportFormat::Trace {
        return Err(Complaint::bad_request("a trace is always masked")
            .hint("use --format jsonl for the stored text"));
    }
    Ok(())
}

fn options(args: &ExportArgs, context: &Context) -> ExportOptions {
    let format = match (args.only, args.format) {
        (Some(_), _) => Format::UserPrompts,
        (None, ExportFormat::Jsonl) => Format::Jsonl,
        (None, ExportFormat::Md) => Format::Markdown,
        (None, ExportFormat::Qmd) => Format::Quarto,
        (None, ExportFormat::Html) => Format::Html,
        (None, ExportFormat::Trace) => Format::Trace,
    };
    ExportOptions {
        // What is deleted afterwards must be in the file, to the last row and picture.
        rows: if args.all || args.delete_after_verified {
            Rows::All
        } else {
            Rows::Active
        },
        media: if args.with_media || args.delete_after_verified {
            MediaForm::Inline
        } else {
            MediaForm::Hash
        },
        lineage: match args.lineage {
            LineageArg::Single => Lineage::Single,
            LineageArg::Logical => Lineage::Logical,
        },
        masking: if args.redact {
            Masking::Full
        } else {
            Masking::AsStored
        },
        ..ExportOptions::new(format, context.redactor.snapshot())
    }
}

fn write_stream(
    args: &ExportArgs,
    store: &Store,
    sessions: &[SessionId],
    options: &ExportOptions,
    output: &mut Output,
) -> Outcome {
    if args.delete_after_verified {
        return Err(
            Complaint::bad_request("what goes to standard output cannot be verified")
                .hint("name a file"),
        );
    }
    store.export(sessions, options, output)?;
    Ok(())
}

fn write_file(
    path: &Path,
    args: &ExportArgs,
    store: &Store,
    sessions: &[SessionId],
    options: &ExportOptions,
    output: &mut Output,
) -> Outcome {
    if args.delete_after_verified && (args.format != ExportFormat::Jsonl || args.only.is_some()) {
        return Err(
            Complaint::bad_request("only jsonl, md and qmd hold everything")
                .hint("nothing was deleted"),
        );
    }
    refuse_existing(path, args.force)?;
    let scratch = path.with_added_extension("part");
    let mut file = Summed::new(BufWriter::new(create(&scratch)?));
    let done = store.export(sessions, options, &mut file)?;
    let sum = file.finish()?;
    fs::rename(&scratch, path)?;
    output.line(format!(
        "{} with {} written to {}",
        number::of(done.sessions, "conversation"),
        number::of(done.messages, "message"),
        path.display()
    ))?;
    if args.delete_after_verified {
        let mut copy = Summed::new(io::sink());
        io::copy(&mut fs::File::open(path)?, &mut copy)?;
        verified(copy.finish()? == sum, path)?;
        delete(store, sessions, output)?;
    }
    Ok(())
}

/// Conversations are private, so their files are made for their owner only.
fn private() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn create(path: &Path) -> Outcome<fs::File> {
    private()
        .write(true)
        .truncate(true)
        .open(path)
        .map_err(|error| {
            let message = format!("{} could not be written: {error}", path.display());
            Complaint::new(FailureKind::Unavailable, message)
                .hint("check the directory, who owns it and the space left")
        })
}

/// Passes bytes on and keeps a sum of them, so that a file can be compared without holding it.
struct Summed<W> {
    inner: W,
    sum: DefaultHasher,
}

impl<W: Write> Summed<W> {
    fn new(inner: W) -> Self {
        Self {
            inner,
            sum: DefaultHasher::new(),
        }
    }

    fn finish(mut self) -> io::Result<u64> {
        self.inner.flush()?;
        Ok(self.sum.finish())
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.sum.write(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn write_documents(
    args: &ExportArgs,
    store: &Store,
    sessions: &[SessionId],
    options: &ExportOptions,
    context: &Context,
    output: &mut Output,
) -> Outcome {
    let folder = match &args.output {
        Some(folder) => folder.clone(),
        None => context.home()?.path().join("session-exports"),
    };
    hermes_config::create_directory(&folder)?;
    let mut seen: Vec<PathBuf> = Vec::new();
    for session in sessions {
        let document = store.document(session, options)?;
        let path = folder.join(&document.file_name);
        if seen.contains(&path) {
            continue;
        }
        refuse_existing(&path, args.force)?;
        hermes_config::replace_file(&path, document.text.as_bytes())?;
        let mut manifest = private().append(true).open(folder.join("manifest.jsonl"))?;
        manifest.write_all(document.entry(&path).line().as_bytes())?;
        output.line(path.display().to_string())?;
        if args.delete_after_verified {
            verified(verify_document(&fs::read_to_string(&path)?), &path)?;
            delete(store, std::slice::from_ref(session), output)?;
        }
        seen.push(path);
    }
    let documents = number::of(seen.len(), "document");
    Ok(output.line(format!("{documents} in {}", folder.display()))?)
}

fn refuse_existing(path: &Path, force: bool) -> Outcome {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(
            Complaint::bad_request(format!("{} is not a plain file", path.display()))
                .hint("- writes to standard output"),
        );
    }
    if path.exists() && !force {
        return Err(Complaint::new(
            FailureKind::Refused,
            format!("{} is there already", path.display()),
        )
        .hint("--force replaces it"));
    }
    Ok(())
}

fn verified(sound: bool, path: &Path) -> Outcome {
    if sound {
        return Ok(());
    }
    let message = format!("{} does not read back as it was written", path.display());
    Err(Complaint::new(FailureKind::Damaged, message).hint("nothing was deleted; check the disk"))
}

fn delete(store: &Store, sessions: &[SessionId], output: &mut Output) -> Outcome {
    for session in sessions {
        store.delete_session(session).wait()?;
        output.line(format!("{session} deleted"))?;
    }
    Ok(())
}
