//! What a client is told for whom there is no connection any more.

use std::io;

use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::problem::Problem;

/// Answers a request that is not read, and parts.
pub(super) async fn tell(mut client: impl AsyncWrite + Unpin) -> io::Result<()> {
    let problem = Problem::TooManyConnections;
    let body = problem.unread_document()?;
    let (status, seconds) = (problem.kind().status, problem.kind().retry_after_seconds.unwrap_or(1));
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/problem+json\r\ncontent-length: {}\r\nretry-after: {seconds}\r\n\
         connection: close\r\n\r\n",
        body.len()
    );
    client.write_all(&[head.as_bytes(), &body].concat()).await?;
    client.shutdown().await
}
