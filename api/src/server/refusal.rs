//! What a client is told for whom there is no connection any more.

use std::io;

use axum::http::StatusCode;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::problem::Problem;

/// Answers a request that is not read, and parts.
pub(super) async fn tell(mut client: impl AsyncWrite + Unpin) -> io::Result<()> {
    let body = Problem::TooManyConnections.unread_document()?;
    let status = StatusCode::SERVICE_UNAVAILABLE;
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/problem+json\r\ncontent-length: {}\r\nretry-after: 1\r\n\
         connection: close\r\n\r\n",
        body.len()
    );
    client.write_all(&[head.as_bytes(), &body].concat()).await?;
    client.shutdown().await
}
