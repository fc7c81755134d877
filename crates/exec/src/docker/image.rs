//! The image containers are made from.

use std::time::Duration;

use bollard::query_parameters::CreateImageOptions;
use futures_util::TryStreamExt;
use tokio::time::timeout;

use super::engine::{Engine, chain};
use super::unavailable;
use crate::ExecError;

const PULL: Duration = Duration::from_secs(1200);

impl Engine {
    /// The image's entrypoint; fetches the image when it is missing.
    pub(super) async fn image(&self, image: &str) -> Result<Vec<String>, ExecError> {
        let look = || self.limited("looking at the image", self.docker.inspect_image(image));
        let found = match look().await {
            Err(ExecError::Gone(_)) => {
                self.pull(image).await?;
                look().await?
            }
            found => found?,
        };
        let config = found.config.unwrap_or_default();
        Ok(config.entrypoint.unwrap_or_default())
    }

    async fn pull(&self, image: &str) -> Result<(), ExecError> {
        let options = CreateImageOptions {
            from_image: Some(image.to_owned()),
            // Without a tag the engine would fetch all of them.
            tag: (!image
                .rsplit('/')
                .next()
                .is_some_and(|last| last.contains([':', '@'])))
            .then(|| "latest".to_owned()),
            ..CreateImageOptions::default()
        };
        let pull = self.docker.create_image(Some(options), None, None);
        let steps = pull.try_for_each(|_| std::future::ready(Ok(())));
        let next = format!("Fetch it with docker pull {image}, or change terminal.docker_image.");
        match timeout(PULL, steps).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(unavailable(
                format!(
                    "the image {image} is not here and cannot be fetched: {}",
                    chain(&error)
                ),
                next,
            )),
            Err(_) => Err(unavailable(
                format!(
                    "fetching the image {image} took more than {} s",
                    PULL.as_secs()
                ),
                next,
            )),
        }
    }
}
