//! A directory service for tests: on a disk of its own, at a port that the system chooses.

use crate::directory::{self, DirectoryHandle, RemoteDirectory, ReportHandler};
use crate::keys::KeyFolder;
use history::{Header, HistoryWriter};
use net::tls::{DIRECTORY_NAME, host_name};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span;
use tracing::subscriber::DefaultGuard;

/// A folder that is removed when it is dropped.
pub struct TestFolder(pub PathBuf);

impl TestFolder {
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("ecumene-server-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// A running directory, as the control plane and as hosts reach it.
pub struct TestDirectory {
    pub handle: DirectoryHandle,
    pub remote: RemoteDirectory,
    pub folder: TestFolder,
    /// Address at which it serves hosts, and the hash of its certificate.
    pub at: SocketAddr,
    pub certificate: [u8; 32],
}

impl TestDirectory {
    /// Starts an empty directory. Tests that run at the same time give different names.
    pub fn start(name: &str) -> Self {
        Self::with_reports(name, Arc::new(|_| ()))
    }

    /// The same, with a handler of the reports that hosts send.
    pub fn with_reports(name: &str, on_report: ReportHandler) -> Self {
        let folder = TestFolder::new(name);
        let keys = KeyFolder::of(&folder.0);
        let history = HistoryWriter::begin(None, &Header::of("directory"), net::clock::now).unwrap();
        let handle = DirectoryHandle::open(&folder.0.join("directory"), history).unwrap();
        let server = keys.mesh_identity(DIRECTORY_NAME).unwrap();
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let at = directory::serve(&handle, any, &server, on_report, [any.ip()]).unwrap();
        let remote = RemoteDirectory::new(at, &keys.mesh_identity(&host_name(1)).unwrap()).unwrap();
        Self { handle, remote, folder, at, certificate: server.identity.hash() }
    }

    /// The directory as another host reaches it, on the runtime of the caller.
    pub fn another_remote(&self) -> RemoteDirectory {
        let identity = KeyFolder::of(&self.folder.0).mesh_identity(&host_name(2)).unwrap();
        RemoteDirectory::new(self.at, &identity).unwrap()
    }
}

/// The log lines of the thread that began to collect them.
#[derive(Clone, Default)]
pub struct LogLines(Arc<Mutex<Vec<String>>>);

impl LogLines {
    /// Collects lines until the guard is dropped.
    pub fn collect() -> (Self, DefaultGuard) {
        let lines = Self::default();
        (lines.clone(), tracing::subscriber::set_default(lines))
    }

    /// Lines that contain this text.
    pub fn with(&self, text: &str) -> Vec<String> {
        self.0.lock().unwrap().iter().filter(|it| it.contains(text)).cloned().collect()
    }
}

impl tracing::Subscriber for LogLines {
    fn enabled(&self, line: &tracing::Metadata<'_>) -> bool {
        // Libraries write thousands of lines at lower levels.
        *line.level() <= tracing::Level::WARN
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = LogLine(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// A line that is written field by field.
struct LogLine(String);

impl Visit for LogLine {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.push_str(&format!("{field}={value:?} "));
    }
}
