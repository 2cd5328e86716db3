//! Limits the lines that each place in the code may log, so that no client fills a disk with them.
//!
//! Lines of level `debug` and `trace` are written only if a filter asks for them, and are not limited.

use server::config::LogFormat;
use std::collections::HashMap;
use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tracing::callsite::Identifier;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Context, Layer};

/// Lines that one place may log per second, and in a burst: when a world starts, a hundred hosts may connect at once.
const LINES: (f64, f64) = (1.0, 200.0);

/// Counts the lines of each place. Cheap to clone; all clones share one count.
#[derive(Clone)]
pub struct LogLimiter {
    began: Instant,
    /// The map grows with the code, not with what clients do.
    places: Arc<Mutex<HashMap<Identifier, LineBudget>>>,
}

/// The lines that a place may still log.
#[derive(Clone, Copy, Debug)]
struct LineBudget {
    level: f64,
    /// Seconds after the start at which the level was right.
    at: f64,
    skipped: u64,
}

impl LineBudget {
    /// Takes one line at this time, in seconds. Returns whether it may be written.
    fn takes(&mut self, now: f64) -> bool {
        self.level = (self.level + LINES.0 * (now - self.at)).min(LINES.1);
        self.at = now;
        let takes = 1.0 <= self.level;
        if takes {
            self.level -= 1.0;
        } else {
            self.skipped += 1;
        }
        takes
    }
}

impl LogLimiter {
    /// No line was logged yet.
    pub fn new() -> Self {
        Self { began: Instant::now(), places: Arc::default() }
    }

    fn places(&self) -> MutexGuard<'_, HashMap<Identifier, LineBudget>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A writer that also says how many lines were skipped.
    pub fn noting<W>(&self, inner: W, format: LogFormat) -> NotingWriter<W> {
        NotingWriter { limiter: self.clone(), inner, format }
    }

    /// Lines of this place that were skipped since the last one.
    fn take_skipped(&self, place: &Identifier) -> u64 {
        self.places().get_mut(place).map_or(0, |it| std::mem::take(&mut it.skipped))
    }
}

impl<S: Subscriber> Layer<S> for LogLimiter {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let metadata = event.metadata();
        if Level::INFO < *metadata.level() {
            return true;
        }
        let now = self.began.elapsed().as_secs_f64();
        let full = LineBudget { level: LINES.1, at: now, skipped: 0 };
        self.places().entry(metadata.callsite()).or_insert(full).takes(now)
    }
}

/// Writes before a line how many lines of its place were skipped.
pub struct NotingWriter<W> {
    limiter: LogLimiter,
    inner: W,
    format: LogFormat,
}

impl<'a, W: MakeWriter<'a>> MakeWriter<'a> for NotingWriter<W> {
    type Writer = W::Writer;

    fn make_writer(&'a self) -> Self::Writer {
        self.inner.make_writer()
    }

    fn make_writer_for(&'a self, metadata: &Metadata<'_>) -> Self::Writer {
        let mut writer = self.inner.make_writer_for(metadata);
        let skipped = self.limiter.take_skipped(&metadata.callsite());
        // A log that cannot be written cannot say so.
        if 0 < skipped {
            let _ = match self.format {
                LogFormat::Text => writeln!(writer, "{skipped} lines like the next one were skipped"),
                LogFormat::Json => {
                    writeln!(
                        writer,
                        r#"{{"skipped":{skipped},"message":"lines like the next one were skipped"}}"#
                    )
                }
            };
        }
        writer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing_subscriber::layer::SubscriberExt as _;

    /// The lines that a program logs.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn lines_of(format: LogFormat, program: impl FnOnce()) -> Vec<String> {
        let lines = Lines::default();
        let (limiter, written) = (LogLimiter::new(), lines.clone());
        let writer = limiter.noting(move || written.clone(), format);
        let subscriber = tracing_subscriber::fmt().with_writer(writer).finish().with(limiter);
        tracing::subscriber::with_default(subscriber, program);
        let text = lines.0.lock().unwrap().clone();
        String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_place_that_logs_without_end_is_limited_and_no_other() {
        let lines = lines_of(LogFormat::Text, || {
            for number in 0..100_000 {
                tracing::warn!(number, "noise of a client");
            }
            tracing::warn!("the disk is full");
        });
        // On a slow computer a few seconds pass, each with a line more.
        let noise = lines.iter().filter(|it| it.contains("noise of a client")).count();
        assert!((LINES.1 as usize..1_000).contains(&noise), "{noise} lines");
        assert!(lines.last().unwrap().contains("the disk is full"));
    }

    #[test]
    fn the_next_line_says_how_many_were_skipped() {
        for (format, note) in [
            (LogFormat::Text, "3 lines like the next one were skipped"),
            (LogFormat::Json, r#"{"skipped":3,"message":"lines like the next one were skipped"}"#),
        ] {
            let limiter = LogLimiter::new();
            let lines = Lines::default();
            let written = lines.clone();
            let writer = limiter.noting(move || written.clone(), format);
            let places = limiter.clone();
            let subscriber = tracing_subscriber::fmt().with_writer(writer).finish().with(limiter);
            let log = || tracing::warn!("again");
            tracing::subscriber::with_default(subscriber, || {
                log();
                // As if all lines were used up, and no time passed.
                places.places().values_mut().for_each(|it| it.skipped = 3);
                log();
                log();
            });
            let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
            let lines: Vec<_> = text.lines().collect();
            assert_eq!(lines.len(), 4, "{text}");
            assert_eq!(lines[1], note);
        }
    }

    #[test]
    fn a_budget_refills_with_time() {
        let mut budget = LineBudget { level: LINES.1, at: 0.0, skipped: 0 };
        assert_eq!((0..1_000).filter(|_| budget.takes(0.0)).count(), LINES.1 as usize);
        assert_eq!((0..1_000).filter(|_| budget.takes(3.0)).count(), 3 * LINES.0 as usize);
        assert_eq!(budget.skipped, 2_000 - LINES.1 as u64 - 3);
        assert_eq!((0..1_000).filter(|_| budget.takes(1e6)).count(), LINES.1 as usize);
    }
}
