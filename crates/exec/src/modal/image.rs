//! The image sandboxes are made from.

use std::time::Duration;

use tokio::time::Instant;

use super::control::{Control, explain};
use super::proto::{
    EnvironmentGetOrCreateRequest, EnvironmentGetOrCreateResponse, GenericResult, Image,
    ImageGetOrCreateRequest, ImageGetOrCreateResponse, ImageJoinStreamingRequest,
    ImageJoinStreamingResponse, STATUS_SUCCESS, STATUS_UNKNOWN,
};
use super::unavailable;
use crate::ExecError;

/// How long building an image may take.
const BUILD: Duration = Duration::from_secs(1200);
/// How long one call waits for news of it.
const NEWS: f32 = 55.0;
const NEWS_AT_MOST: Duration = Duration::from_secs(90);
const PAUSE: Duration = Duration::from_millis(500);
const ADD_PYTHON: &str = "RUN command -v python3 || (apt-get update && apt-get install -y --no-install-recommends \
                          python3 && rm -rf /var/lib/apt/lists/*)";
/// How much of a failed build's log is shown.
const MAX_LOG: usize = 2000;

/// The id of an image: of a stored one as it is, of one in a registry after the vendor has fetched it.
pub(super) async fn find(
    control: &Control,
    app: &str,
    environment: &str,
    image: &str,
) -> Result<String, ExecError> {
    if image.starts_with("im-") {
        return Ok(image.to_owned());
    }
    let what = "fetching the image";
    let request = EnvironmentGetOrCreateRequest {
        deployment_name: environment.to_owned(),
    };
    let about: EnvironmentGetOrCreateResponse = control
        .call("EnvironmentGetOrCreate", &request, what)
        .await?;
    let settings = about.metadata.and_then(|about| about.settings);
    let request = ImageGetOrCreateRequest {
        image: Some(Image {
            dockerfile_commands: commands(image),
        }),
        app_id: app.to_owned(),
        builder_version: settings.unwrap_or_default().image_builder_version,
    };
    let found: ImageGetOrCreateResponse = control.call("ImageGetOrCreate", &request, what).await?;
    let known = found
        .result
        .filter(|result| result.status != STATUS_UNKNOWN);
    let (result, log) = match known {
        Some(result) => (result, String::new()),
        None => built(control, &found.image_id).await?,
    };
    if result.status == STATUS_SUCCESS {
        return Ok(found.image_id);
    }
    let said = format!("{} {log}", result.exception);
    Err(unavailable(
        format!("the image {image} cannot be fetched: {}", said.trim()),
        "Check terminal.modal_image.".to_owned(),
    ))
}

/// How it is made. Plain images of these systems come without the Python that scripts need.
fn commands(image: &str) -> Vec<String> {
    let last = image.rsplit('/').next().unwrap_or(image);
    let name = last.split([':', '@']).next().unwrap_or(last);
    let mut commands = vec![format!("FROM {image}")];
    if matches!(name, "debian" | "ubuntu") {
        commands.push(ADD_PYTHON.to_owned());
    }
    commands
}

/// Waits for a build, with the end of its log.
async fn built(control: &Control, image: &str) -> Result<(GenericResult, String), ExecError> {
    let what = "building the image";
    let deadline = Instant::now() + BUILD;
    let mut request = ImageJoinStreamingRequest {
        image_id: image.to_owned(),
        timeout: NEWS,
        last_entry_id: String::new(),
    };
    let mut log = String::new();
    while Instant::now() < deadline {
        let news = control
            .service
            .stream::<ImageJoinStreamingResponse>("ImageJoinStreaming", &request, NEWS_AT_MOST)
            .await;
        let mut news = match news {
            Ok(news) => news,
            Err(failure) if failure.is_transient() => {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            Err(failure) => return Err(explain(&failure, what)),
        };
        // A stream that breaks off is asked for again from the last entry on.
        while let Ok(Some(entry)) = news.next().await {
            for line in &entry.task_logs {
                log.push_str(&line.data);
            }
            let extra = log.len().saturating_sub(MAX_LOG);
            let cut = (extra..=log.len()).find(|at| log.is_char_boundary(*at));
            log.drain(..cut.unwrap_or(0));
            if !entry.entry_id.is_empty() {
                request.last_entry_id = entry.entry_id;
            }
            if let Some(result) = entry.result
                && result.status != STATUS_UNKNOWN
            {
                return Ok((result, log));
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(ExecError::TimedOut {
        what: what.to_owned(),
        limit: BUILD,
    })
}

#[cfg(test)]
mod tests {
    use super::commands;

    // EX-28
    #[test]
    fn plain_systems_get_the_python_that_scripts_need() {
        for image in ["debian:12", "docker.io/library/ubuntu@sha256:ab", "ubuntu"] {
            let made = commands(image);
            assert_eq!(made[0], format!("FROM {image}"));
            assert!(made[1].contains("install -y --no-install-recommends python3"));
        }
        for image in ["python:3.12", "debian/other:1", "my-ubuntu"] {
            assert_eq!(commands(image), [format!("FROM {image}")]);
        }
    }
}
