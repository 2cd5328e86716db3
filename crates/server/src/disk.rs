//! A replica's disk: a thread that does one request after the other.

use crate::tally::Tally;
use history::{HistoryWriter, disk_keeps, disk_recalled};
use machine::Address;
use machine::disk::{Done, Request};
use net::cell::Handle;
use node::Host;
use std::path::Path;
use std::sync::{Arc, mpsc};
use store::{Files, Limits, Log};
use zone::Command;

/// The way to a disk.
pub struct Disk(mpsc::Sender<(Request, Option<Arc<Tally>>)>);

impl Disk {
    /// Opens the log in a folder; answers go to the replica.
    pub fn open(
        folder: &Path,
        schema: u64,
        me: Address,
        history: HistoryWriter,
        replica: Handle<Host>,
    ) -> anyhow::Result<Self> {
        let (mut log, opened) = Log::open(Files::open(folder)?, schema, Limits::default())?;
        if opened.recovery.is_damaged() {
            tracing::warn!(recovery = %opened.recovery, "the disk lost records; the other replica has them");
        }
        let (sender, requests) = mpsc::channel::<(Request, Option<Arc<Tally>>)>();
        let zone = net::address::zone_of(me).unwrap_or_default();
        let run = move || {
            for (request, tally) in requests {
                if let (Some(tally), Request::Append { records, .. }) = (tally, &request) {
                    tally.count(zone, records);
                }
                let keeps = disk_keeps(&request);
                let began = std::time::Instant::now();
                let done = log.serve(request);
                metrics::histogram!("ecumene_disk_seconds").record(began.elapsed().as_secs_f64());
                let what = match &done {
                    Done::Persisted { .. } => keeps,
                    Done::Recalled { recalled, .. } => Some(disk_recalled(recalled)),
                    Done::Failed { .. } => None,
                };
                if let Some(what) = what {
                    history.write(me, what);
                }
                if !replica.command(Command::Disk(done)) {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("disk".to_owned()).spawn(run)?;
        Ok(Self(sender))
    }

    /// Asks for something. What is to be counted is counted on the disk's thread, where nobody waits.
    pub fn ask(&self, request: Request, tally: Option<Arc<Tally>>) {
        // A disk that has ended was told to, or has said why.
        drop(self.0.send((request, tally)));
    }
}
