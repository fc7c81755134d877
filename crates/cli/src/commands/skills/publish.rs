//! `hermes skills publish`: giving a skill to others.

use std::borrow::Cow;

use hermes_config::Variable;
use hermes_core::FailureKind;
use hermes_secrets::{Redactor, Scope};
use hermes_skills::guard::{Depth, Trust, Verdict};
use hermes_skills::hub::{Bundle, HubError, Target};

use super::ground::Ground;
use super::{Ended, show};
use crate::args::skills::{PublishArgs, PublishTo};
use crate::complaint::{Complaint, Outcome};
use crate::output::Output;

/// Where a skill holds a value that is not for others.
fn secret_in(bundle: &Bundle, redactor: &Redactor) -> Option<String> {
    bundle.contents().find_map(|(path, bytes)| {
        let Cow::Owned(masked) = redactor.redact_bytes(Scope::Known, bytes) else {
            return None;
        };
        let alike = bytes
            .iter()
            .zip(&masked)
            .take_while(|(one, other)| one == other);
        let lines = alike.filter(|(byte, _)| **byte == b'\n').count();
        Some(format!("{path}:{}", lines + 1))
    })
}

pub(super) fn run(args: &PublishArgs, ground: &Ground<'_>, output: &mut Output) -> Outcome<Ended> {
    let hub = ground.hub()?;
    let bundle = hub.read(&args.path)?;
    let report = bundle.scan(Depth::Usual).map_err(HubError::from)?;
    show::report(&report, Trust::Community, output)?;
    if report.verdict() == Verdict::Dangerous {
        return Err(HubError::Blocked {
            name: bundle.name.to_string(),
            trust: Trust::Community,
            verdict: report.verdict(),
            overridable: false,
        }
        .into());
    }
    if let Some(place) = secret_in(&bundle, &ground.context.redactor.snapshot()) {
        let message = format!("{place} holds a secret of yours, and nothing was sent");
        return Err(Complaint::new(FailureKind::Refused, message)
            .hint("a skill names the variable it needs, and everybody sets their own"));
    }
    let (target, place) = match args.to {
        PublishTo::Github => {
            let repo = args.repo.as_deref().ok_or_else(|| {
                Complaint::bad_request("no repository is named").hint("add --repo OWNER/NAME")
            })?;
            let repository = repo.parse()?;
            (Target::Github { repository }, repo.to_owned())
        }
        PublishTo::Clawhub => {
            let token = ground.loaded.environment.filled(&Variable::CLAWHUB_TOKEN);
            let needed = HubError::NeedsKey {
                variable: "CLAWHUB_TOKEN",
            };
            let token = token.ok_or(needed)?.to_owned();
            let version = bundle.skill().version.unwrap_or_else(|| "1.0.0".to_owned());
            (Target::Clawhub { token, version }, "ClawHub".to_owned())
        }
    };
    let files: Vec<String> = bundle.files().map(|(path, _)| path.to_string()).collect();
    output.line(format!("files     {}", files.join(", ")))?;
    output.flush()?;
    let question = format!(
        "Send {} to {place}, where everybody can read it",
        bundle.name
    );
    if !ground.agreed(&question, args.yes)? {
        return Ok(Ended::NeedsYes);
    }
    let published = ground.wait(hub.publish(&bundle, &target))??;
    output.line(format!("Published: {}", published.address))?;
    Ok(Ended::Done)
}
