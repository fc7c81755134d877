//! Pictures that a provider finds too large.

use std::io::Cursor;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hermes_core::MediaReader;
use image::{DynamicImage, ImageFormat, ImageReader};
use serde_json::Value as Json;

use super::*;
use crate::suite::lab::PROTOCOLS;

/// A picture of 3,000 by 1,500 pixels.
struct Large(Vec<u8>);

impl Large {
    fn new() -> Self {
        let mut bytes = Cursor::new(Vec::new());
        DynamicImage::new_rgb8(3_000, 1_500)
            .write_to(&mut bytes, ImageFormat::Png)
            .unwrap();
        Self(bytes.into_inner())
    }
}

impl MediaReader for Large {
    fn read(&self, hash: &str) -> Option<Vec<u8>> {
        (hash == "picture").then(|| self.0.clone())
    }
}

fn refusal(protocol: WireProtocol) -> Step {
    let message = "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels";
    let body = match protocol {
        WireProtocol::Gemini => {
            json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": message}})
        }
        WireProtocol::Converse => json!({"message": message}),
        _ => {
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}})
        }
    };
    error(400).body(body).into()
}

/// The longest text in a document that is a picture, and its size.
fn shown(body: &Json) -> Option<(u32, u32)> {
    let mut longest = "";
    let mut left = vec![body];
    while let Some(next) = left.pop() {
        match next {
            Json::String(text) if text.len() > longest.len() => longest = text,
            Json::Array(items) => left.extend(items),
            Json::Object(fields) => left.extend(fields.values()),
            _ => {}
        }
    }
    let data = longest.rsplit("base64,").next()?;
    let reader = ImageReader::new(Cursor::new(STANDARD.decode(data).ok()?));
    reader.with_guessed_format().ok()?.into_dimensions().ok()
}

// AG-44, IN-20: in every protocol.
#[tokio::test]
async fn a_picture_that_is_too_large_is_made_smaller_and_left_out_only_if_that_does_not_help() {
    for protocol in PROTOCOLS {
        let server = serve([
            refusal(protocol),
            text("smaller").into(),
            refusal(protocol),
            refusal(protocol),
            text("without").into(),
        ]);
        let mut lab = Lab::new();
        lab.caller.transport.media = Arc::new(Large::new());
        let route = lab.route(protocol, &server);
        let mut message = user("What is this?");
        message.parts.push(picture());
        let request = request(vec![message]);
        assert_eq!(
            lab.ask(&route, &request).await.text,
            "smaller",
            "{protocol:?}"
        );
        // Once for each call: the next conversation begins with the whole picture again.
        assert_eq!(
            lab.ask(&route, &request).await.text,
            "without",
            "{protocol:?}"
        );
        server.assert_done();
        let sizes: Vec<_> = server
            .requests()
            .iter()
            .map(|request| shown(request.expect_json()))
            .collect();
        let (whole, small) = (Some((3_000, 1_500)), Some((2_000, 1_000)));
        assert_eq!(sizes, [whole, small, whole, small, None], "{protocol:?}");
        let second = server.requests()[1].expect_json().to_string();
        assert!(
            second.contains("jpeg") && !second.contains("png"),
            "{protocol:?}"
        );
    }
}
