//! `hermes model pull`: the small model that runs inside the program.

use std::ffi::OsString;
use std::io::Write;

use hermes_core::FailureKind;
use hermes_local_model::pull::{Progress, PullError, smollm2};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio_util::sync::CancellationToken;

use crate::complaint::{Complaint, Outcome};
use crate::context::Context;
use crate::models::embedded_dir;
use crate::output::Output;
use crate::size;

const BYTES: &str = "{msg:<12} {bar:30} {percent}% {bytes}/{total_bytes}";
const SHARE: &str = "{msg:<12} {bar:30} {percent}%";

pub(super) fn run(context: &Context, output: &mut Output) -> Outcome {
    let directory = embedded_dir(context.home()?);
    hermes_config::create_directory(&directory)?;
    let environment: Vec<(OsString, OsString)> = context
        .environment
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    let cancel = CancellationToken::new();
    let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let pulled = runtime.block_on(async {
        let (stop, shown, into) = (cancel.clone(), bar.clone(), directory.clone());
        let mut work = tokio::task::spawn_blocking(move || {
            smollm2(
                &into,
                &environment,
                |progress| show(&shown, progress),
                &stop,
            )
        });
        loop {
            tokio::select! {
                done = &mut work => return done,
                // The work ends by itself soon after.
                _ = tokio::signal::ctrl_c() => cancel.cancel(),
            }
        }
    });
    bar.finish_and_clear();
    let pulled = pulled.map_err(|error| Complaint::caused(FailureKind::Internal, error))?;
    match pulled {
        Ok(path) => {
            let bytes = std::fs::metadata(&path)
                .map(|found| found.len())
                .unwrap_or_default();
            output.line(format!("{} ({})", path.display(), size::show(bytes)))?;
            Ok(output.line("Try it: hermes -z 'Say hello' --provider local")?)
        }
        Err(PullError::Cancelled) => {
            writeln!(
                std::io::stderr(),
                "stopped; the next pull goes on from here"
            )?;
            Err(Complaint::Code(130))
        }
        Err(error) => {
            let kind = match &error {
                PullError::DiskFull(_) => FailureKind::Exhausted,
                _ => FailureKind::Unavailable,
            };
            Err(Complaint::caused(kind, error).hint(
                "nothing was changed; a provider with a key needs no download: hermes model list",
            ))
        }
    }
}

fn show(bar: &ProgressBar, progress: Progress) {
    let (word, template, done, of) = match progress {
        Progress::Downloading { received, total } => ("downloading", BYTES, received, total),
        Progress::Checking => ("checking", SHARE, 0, 1),
        Progress::Unpacking => ("unpacking", SHARE, 0, 1),
        Progress::Converting(share) => ("converting", SHARE, permille(share), 1_000),
    };
    // A template that cannot be read leaves the one before.
    if bar.message() != word
        && let Ok(style) = ProgressStyle::with_template(template)
    {
        bar.set_style(style);
        bar.set_message(word);
    }
    bar.set_length(of);
    bar.set_position(done);
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share between 0 and 1"
)]
fn permille(share: f64) -> u64 {
    (share.clamp(0.0, 1.0) * 1_000.0) as u64
}
