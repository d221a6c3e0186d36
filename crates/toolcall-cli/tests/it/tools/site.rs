//! A small web site on this machine: a page, something that is not there, and a search.
//! It knows nothing of tools.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A site that is there until it is dropped.
pub(crate) struct Site {
    pub(crate) port: u16,
    task: JoinHandle<()>,
}

impl Site {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream));
            }
        });
        Self { port, task }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    }
    let request = String::from_utf8_lossy(&request);
    let path = request.split(' ').nth(1).unwrap_or_default();
    let (status, kind, body) = answer(path);
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await
}

fn answer(path: &str) -> (&'static str, &'static str, &'static str) {
    match path.split_once('?') {
        None if path == "/page" => (
            "200 OK",
            "text/html",
            "<h1>Tea</h1><p>Boil <a href='/water'>water</a>.</p>",
        ),
        Some(("/search", query)) if query.contains("q=tea") => (
            "200 OK",
            "application/json",
            r#"{"results": [{"title": "Tea", "url": "https://tea.example/", "content": "Boil water."}]}"#,
        ),
        Some(("/search", _)) => ("500 Broken", "text/plain", "broken"),
        None | Some(_) => ("404 Not Found", "text/plain", "there is nothing here"),
    }
}
