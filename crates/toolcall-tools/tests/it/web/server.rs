//! A small web server as hostile as a test wants it.
//! It speaks just enough HTTP to be misunderstood.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What a server says to a request.
pub(crate) enum Reply {
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// These bytes, then nothing more, and no end.
    Hang(Vec<u8>),
    /// These bytes, then the second ones for ever.
    Endless(Vec<u8>, Vec<u8>),
}

/// A server, and the requests that it got.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Answers every request by its text.
    pub(crate) async fn start(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1:0", answer).await
    }

    pub(crate) async fn start_at(
        place: &str,
        answer: impl Fn(&str) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(place).await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = requests.clone();
        let answer = Arc::new(answer);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (log, answer) = (log.clone(), answer.clone());
                tokio::spawn(async move {
                    let _gone = serve(stream, &log, &*answer).await;
                });
            }
        });
        Self {
            address,
            requests,
            task,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Every request so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A whole answer with these headers.
pub(crate) fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Reply {
    let body = body.as_ref();
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n");
    Reply::Bytes([head.as_bytes(), body].concat())
}

/// A page, or whatever the type says.
pub(crate) fn ok(content_type: &str, body: impl AsRef<[u8]>) -> Reply {
    answer("200 OK", &format!("content-type: {content_type}\r\n"), body)
}

pub(crate) fn redirect(status: u16, location: &str) -> Reply {
    answer(
        &format!("{status} Moved"),
        &format!("location: {location}\r\n"),
        "gone",
    )
}

async fn serve(
    mut stream: TcpStream,
    log: &Mutex<Vec<String>>,
    answer: &(impl Fn(&str) -> Reply + Sync),
) -> std::io::Result<()> {
    let request = read_request(&mut stream).await?;
    log.lock().unwrap().push(request.clone());
    match answer(&request) {
        Reply::Bytes(bytes) => stream.write_all(&bytes).await,
        Reply::Hang(bytes) => {
            stream.write_all(&bytes).await?;
            std::future::pending().await
        }
        Reply::Endless(head, piece) => {
            stream.write_all(&head).await?;
            loop {
                stream.write_all(&piece).await?;
            }
        }
    }
}

/// A head and the body that it announces.
async fn read_request(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap_or(0)) {
                return Ok(text);
            }
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}
