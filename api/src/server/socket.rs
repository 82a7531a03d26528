//! A socket that gives up a client who takes nothing, and parts from one in a way that lets it read its last answer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// How long what a client still sends is read and thrown away once it has been answered for the last time. Closing a socket with
/// bytes that nobody has read resets the connection, and the client may lose the answer, which says why it was not read on.
const FAREWELL: Duration = Duration::from_secs(1);
/// How much of it is read at a time.
const THROWN_AWAY_BYTES: usize = 16 << 10;

/// A client's socket.
pub(super) struct Socket {
    stream: TcpStream,
    /// How long the client may take nothing.
    patience: Duration,
    /// When that is over; `None` while it takes what it is sent.
    impatient: Option<Pin<Box<Sleep>>>,
    /// When parting is over; `None` before it begins.
    parted: Option<Pin<Box<Sleep>>>,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, patience: Duration) -> Self {
        Self { stream, patience, impatient: None, parted: None }
    }

    /// What came of sending, or that it has waited for too long.
    fn within_patience<T>(&mut self, context: &mut Context<'_>, sent: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if sent.is_ready() {
            self.impatient = None;
            return sent;
        }
        let impatient = self.impatient.get_or_insert_with(|| Box::pin(sleep(self.patience)));
        ready!(impatient.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing of what it is sent")))
    }

    /// Reads until the client has closed its side, too, or the time for it is over.
    fn poll_part(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.parted.as_mut().is_none_or(|parted| parted.as_mut().poll(context).is_ready()) {
            return Poll::Ready(());
        }
        let mut bytes = [0; THROWN_AWAY_BYTES];
        loop {
            let mut buffer = ReadBuf::new(&mut bytes);
            let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                return Poll::Ready(());
            }
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, bytes)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let socket = self.get_mut();
        let sent = Pin::new(&mut socket.stream).poll_write(context, bytes);
        socket.within_patience(context, sent)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let socket = self.get_mut();
        let sent = Pin::new(&mut socket.stream).poll_write_vectored(context, slices);
        socket.within_patience(context, sent)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let socket = self.get_mut();
        if socket.parted.is_none() {
            ready!(Pin::new(&mut socket.stream).poll_shutdown(context))?;
            socket.parted = Some(Box::pin(sleep(FAREWELL)));
        }
        socket.poll_part(context).map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::time::Instant;

    use super::*;

    const PATIENCE: Duration = Duration::from_millis(200);

    /// Both ends of a connection: the server's and the client's.
    async fn connected() -> (Socket, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (Socket::new(listener.accept().await.unwrap().0, PATIENCE), client)
    }

    #[tokio::test]
    async fn a_client_that_takes_nothing_is_given_up() {
        let (mut socket, _client) = connected().await;
        let error = socket.write_all(&vec![0; 64 << 20]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_client_that_takes_a_piece_now_and_then_gets_all() {
        let (mut socket, mut client) = connected().await;
        let sent = tokio::spawn(async move {
            socket.write_all(&vec![0; 32 << 20]).await.unwrap();
            socket.shutdown().await.unwrap();
        });
        let started = Instant::now();
        let mut piece = vec![0; 4 << 20];
        for _ in 0..8 {
            client.read_exact(&mut piece).await.unwrap();
            tokio::time::sleep(PATIENCE / 4).await;
        }
        assert_eq!(client.read(&mut piece).await.unwrap(), 0);
        assert!(started.elapsed() > PATIENCE);
        drop(client);
        sent.await.unwrap();
    }

    #[tokio::test]
    async fn the_last_answer_reaches_a_client_that_still_sends() {
        let (mut socket, mut client) = connected().await;
        client.write_all(&vec![0; 256 << 10]).await.unwrap();
        let parted = tokio::spawn(async move {
            socket.write_all(b"answer").await.unwrap();
            socket.shutdown().await.unwrap();
        });
        tokio::time::sleep(PATIENCE).await;
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "answer");
        drop(client);
        parted.await.unwrap();
    }

    #[tokio::test]
    async fn a_client_that_does_not_part_is_left() {
        let (mut socket, _client) = connected().await;
        let started = Instant::now();
        socket.shutdown().await.unwrap();
        assert!((FAREWELL..2 * FAREWELL).contains(&started.elapsed()));
    }
}
