//! A small HTTP server on this machine, as hostile as a test wants it. It speaks just enough HTTP to be misunderstood.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What a server sends when a request came.
pub enum Reply {
    /// These bytes, then the end of the connection.
    Bytes(Vec<u8>),
    /// These bytes, then it reads the next request.
    Keep(Vec<u8>),
    /// These bytes, then nothing more, and no end.
    Hang(Vec<u8>),
    /// These bytes, then the second ones for ever.
    Endless(Vec<u8>, Vec<u8>),
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// The first line and the headers.
    pub head: String,
    /// What follows them.
    pub body: Vec<u8>,
}

impl Request {
    /// The whole request.
    pub fn text(&self) -> String {
        format!(
            "{}\r\n\r\n{}",
            self.head,
            String::from_utf8_lossy(&self.body)
        )
    }
}

/// A server that is there until it is dropped, and the requests that it got.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    requests: watch::Sender<Vec<Request>>,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    /// Starts a server that replies to the text of every request.
    pub async fn start(reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1:0", reply).await
    }

    /// The same at this address.
    pub async fn start_at(
        address: &str,
        reply: impl Fn(&str) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (requests, connections) = (watch::Sender::default(), Arc::<AtomicUsize>::default());
        let (log, count, reply) = (requests.clone(), connections.clone(), Arc::new(reply));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (log, reply) = (log.clone(), reply.clone());
                // A client that is gone is no matter.
                tokio::spawn(async move { serve(stream, &log, &*reply).await.ok() });
            }
        });
        Self {
            address,
            requests,
            connections,
            task,
        }
    }

    /// The port where it listens.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Every request so far.
    pub fn received(&self) -> Vec<Request> {
        self.requests.borrow().clone()
    }

    /// The texts of every request so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.borrow().iter().map(Request::text).collect()
    }

    /// Waits until so many requests came.
    pub async fn wait_for_requests(&self, count: usize) {
        let mut requests = self.requests.subscribe();
        let came = requests.wait_for(|requests| requests.len() >= count).await;
        came.expect("the server is there");
    }

    /// How often somebody connected.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The bytes of a whole response with these header lines.
pub fn response(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// A whole response, then the end.
pub fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Reply {
    Reply::Bytes(response(status, headers, body))
}

/// A page, or whatever the type says.
pub fn ok(content_type: &str, body: impl AsRef<[u8]>) -> Reply {
    answer("200 OK", &format!("content-type: {content_type}\r\n"), body)
}

/// A redirect to this location.
pub fn redirect(status: u16, location: &str) -> Reply {
    let location = format!("location: {location}\r\n");
    answer(&format!("{status} Moved"), &location, "gone")
}

async fn serve(
    mut stream: TcpStream,
    log: &watch::Sender<Vec<Request>>,
    reply: &(impl Fn(&str) -> Reply + Sync),
) -> std::io::Result<()> {
    loop {
        let request = read(&mut stream).await?;
        let reply = reply(&request.text());
        log.send_modify(|log| log.push(request));
        match reply {
            Reply::Bytes(bytes) => return stream.write_all(&bytes).await,
            Reply::Keep(bytes) => stream.write_all(&bytes).await?,
            Reply::Hang(bytes) => {
                stream.write_all(&bytes).await?;
                return std::future::pending().await;
            }
            Reply::Endless(head, piece) => {
                stream.write_all(&head).await?;
                loop {
                    stream.write_all(&piece).await?;
                }
            }
        }
    }
}

/// Reads a head, byte by byte, and the body that it announces.
async fn read(stream: &mut TcpStream) -> std::io::Result<Request> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    head.truncate(head.len() - 4);
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut headers = head.lines().filter_map(|line| line.split_once(": "));
    let length = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|(_, length)| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await?;
    Ok(Request { head, body })
}
