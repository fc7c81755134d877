//! What we and the runner say to each other: a kind, a number, a length, the content.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Largest content of one frame; a script that prints more at once is cut into pieces by the runner.
const MOST: u32 = 64 * 1024 * 1024;

/// One frame from the runner.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// The script printed.
    Output(Vec<u8>),
    /// The script complained.
    Complaint(Vec<u8>),
    /// The script calls a tool.
    Request { number: u32, line: Vec<u8> },
    /// The script ended with this code.
    Ended(i32),
    /// The runner could not run it.
    Failed(String),
}

/// Reads the next frame; `None` at the end, and for anything that is no frame.
pub(super) async fn read(from: &mut (impl AsyncRead + Unpin)) -> Option<Frame> {
    let kind = from.read_u8().await.ok()?;
    let number = from.read_u32().await.ok()?;
    let length = from.read_u32().await.ok()?;
    if length > MOST {
        return None;
    }
    let mut content = vec![0; usize::try_from(length).ok()?];
    from.read_exact(&mut content).await.ok()?;
    let words = |content: &[u8]| String::from_utf8_lossy(content).into_owned();
    Some(match kind {
        b'o' => Frame::Output(content),
        b'e' => Frame::Complaint(content),
        b'q' => Frame::Request {
            number,
            line: content,
        },
        b'x' => Frame::Ended(words(&content).parse().ok()?),
        b'f' => Frame::Failed(words(&content)),
        _ => return None,
    })
}

/// Sends what the runner is to do, or the reply to a request.
pub(super) async fn write(
    to: &mut (impl AsyncWrite + Unpin),
    kind: u8,
    number: u32,
    content: &[u8],
) -> std::io::Result<()> {
    let length = u32::try_from(content.len()).map_err(std::io::Error::other)?;
    to.write_u8(kind).await?;
    to.write_u32(number).await?;
    to.write_u32(length).await?;
    to.write_all(content).await?;
    to.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_are_read_back_and_noise_ends_the_talk() {
        let mut bytes = Vec::new();
        write(&mut bytes, b'o', 0, "grüß".as_bytes()).await.unwrap();
        write(&mut bytes, b'q', 7, b"{}\n").await.unwrap();
        write(&mut bytes, b'x', 0, b"-9").await.unwrap();
        bytes.extend_from_slice(b"Traceback (most recent call last)");
        let mut from = bytes.as_slice();
        assert_eq!(
            read(&mut from).await,
            Some(Frame::Output("grüß".as_bytes().to_vec()))
        );
        let line = b"{}\n".to_vec();
        assert_eq!(
            read(&mut from).await,
            Some(Frame::Request { number: 7, line })
        );
        assert_eq!(read(&mut from).await, Some(Frame::Ended(-9)));
        assert_eq!(read(&mut from).await, None);
    }
}
