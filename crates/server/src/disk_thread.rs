//! A replica's disk: a thread that serves one request after the other.

use crate::cross_zone_counters::CrossZoneCounters;
use cpu_time::ThreadTime;
use history::{HistoryWriter, disk_keeps, disk_recalled};
use machine::Address;
use machine::disk::{DiskReply, DiskRequest};
use net::worker::WorkerHandle;
use node::ReplicaNode;
use std::path::Path;
use std::sync::{Arc, mpsc};
use store::{Files, Log, LogLimits};
use zone::ReplicaCommand;

/// Sends requests to the thread of a replica's disk.
pub struct DiskThread(mpsc::Sender<(DiskRequest, Option<Arc<CrossZoneCounters>>)>);

impl DiskThread {
    /// Opens the log in a folder and starts its thread; replies go to the replica.
    pub fn open(
        folder: &Path,
        schema: u64,
        me: Address,
        history: HistoryWriter,
        replica: WorkerHandle<ReplicaNode>,
    ) -> anyhow::Result<Self> {
        let (mut log, opened) = Log::open(Files::open(folder)?, schema, LogLimits::default())?;
        if opened.recovery.is_damaged() {
            tracing::warn!(recovery = %opened.recovery, "the disk lost records; the other replica has them");
        }
        let (sender, requests) = mpsc::channel::<(DiskRequest, Option<Arc<CrossZoneCounters>>)>();
        let zone = net::address::zone_of(me).unwrap_or_default();
        let run = move || {
            for (request, counters) in requests {
                if let (Some(counters), DiskRequest::Append { records, .. }) = (counters, &request) {
                    counters.count(zone, records);
                }
                // Taken before `serve` consumes the request; written only if the disk has kept it.
                let keeps = disk_keeps(&request);
                let (began, spent) = (std::time::Instant::now(), ThreadTime::now());
                let done = log.serve(request);
                metrics::histogram!("ecumene_disk_seconds").record(began.elapsed().as_secs_f64());
                metrics::counter!("ecumene_cpu_microseconds_total", "stage" => "disk")
                    .increment(spent.elapsed().as_micros() as u64);
                let what = match &done {
                    DiskReply::Persisted { .. } => keeps,
                    DiskReply::Recalled { recalled, .. } => Some(disk_recalled(recalled)),
                    DiskReply::Failed { .. } => None,
                };
                if let Some(what) = what {
                    history.write(me, what);
                }
                // The worker has ended: a new one opens the folder with a thread of its own.
                if !replica.command(ReplicaCommand::Disk(done)) {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("disk".to_owned()).spawn(run)?;
        Ok(Self(sender))
    }

    /// Sends a request. Records are counted on the disk's thread, where it delays no zone.
    pub fn ask(&self, request: DiskRequest, counters: Option<Arc<CrossZoneCounters>>) {
        // The thread ends only with its worker or after it has reported why, so an error here tells nothing new.
        drop(self.0.send((request, counters)));
    }
}
