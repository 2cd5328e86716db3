//! All clients of a system in one process: lets them enter, walk and measure.

use crate::measurements::Measurements;
use crate::meter::UdpTotals;
use crate::walker::Walker;
use crate::{ClientsOptions, MOVES_PER_SECOND, Move, Ping, Stamp, Update, half};
use anyhow::{Result, ensure};
use std::io::Write as _;
use std::time::{Duration, Instant};

/// Number of clients that measure times. They read every [`PROBE_TURN`], or the time of an arrival would not be known.
const PROBES: usize = 8;

const PROBE_TURN: Duration = Duration::from_millis(2);

/// Interval at which clients send, and the others read, as a game of 20 pictures a second would.
const TURN: Duration = Duration::from_millis(50);

const MOVE_EVERY: Duration = Duration::from_millis(1_000 / MOVES_PER_SECOND as u64);

/// Interval of the pings of a client that measures times. No multiple of a tick, or all pings would wait equally long for
/// the server's next one.
const PING_EVERY: Duration = Duration::from_millis(263);

/// Number of clients that connect at the same time.
const TOGETHER: u16 = 10;

/// Time that all clients together may take to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// Time before measuring begins, in which the clients learn of each other; as in `ecumene bench server`.
const WARM_UP: Duration = Duration::from_secs(3);

/// What a client has to send.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outgoing {
    /// False if the client only reads, to learn the time of an arrival: then its library sends nothing of its own either.
    pub sends: bool,
    /// The avatar's move.
    pub step: Option<Move>,
    /// A ping.
    pub ping: Option<Ping>,
}

/// What a client was sent.
#[derive(Debug, Default)]
pub struct Received {
    /// Moves of other avatars.
    pub updates: Vec<Update>,
    /// Answers to pings.
    pub pongs: Vec<Ping>,
}

/// A client of a system.
pub trait Client {
    /// True once the client can send.
    fn is_connected(&self) -> bool;

    /// Reads what has arrived, then sends.
    fn turn(&mut self, outgoing: &Outgoing, received: &mut Received) -> Result<()>;
}

/// All clients of a system.
pub(crate) struct Crowd<C> {
    members: Vec<Member<C>>,
    received: Received,
    measurements: Measurements,
}

struct Member<C> {
    client: C,
    walker: Walker,
    next_turn: Instant,
    next_move: Instant,
    /// `None` if the client measures no times.
    probe: Option<Probe>,
}

/// The further deadlines of a client that measures times.
struct Probe {
    next_read: Instant,
    next_ping: Instant,
}

impl<C: Client> Crowd<C> {
    /// Lets all clients enter and walk; prints when measuring begins and ends, then the report.
    pub fn measure(
        options: &ClientsOptions,
        connect: impl Fn(&ClientsOptions, u16) -> Result<C>,
    ) -> Result<()> {
        let measurements = Measurements::new(usize::from(options.clients));
        let mut crowd = Self { members: Vec::new(), received: Received::default(), measurements };
        crowd.enter(options, connect)?;
        crowd.walk_for(WARM_UP)?;
        crowd.measurements.reset();
        let (began, before) = (Instant::now(), UdpTotals::now());
        print_line("measuring")?;
        let half_time = Duration::from_secs_f64(options.seconds / 2.0);
        crowd.walk_for(half_time)?;
        let visible = crowd.measurements.visible(Stamp::now());
        crowd.walk_for(half_time)?;
        print_line("measured")?;
        let (took, udp) = (began.elapsed().as_secs_f64(), UdpTotals::now().since(before));
        let report = crowd.measurements.report(took, visible, udp);
        print_line(&serde_json::to_string(&report)?)
    }

    fn enter(
        &mut self,
        options: &ClientsOptions,
        connect: impl Fn(&ClientsOptions, u16) -> Result<C>,
    ) -> Result<()> {
        let deadline = Instant::now() + CONNECT_TIMEOUT;
        for number in 0..options.clients {
            let walker = Walker::new(number, half(options.clients));
            self.members.push(Member::new(connect(options, number)?, walker, number));
            if number % TOGETHER == 0 {
                self.walk_for(Duration::from_millis(20))?;
            }
        }
        while !self.members.iter().all(|it| it.client.is_connected()) {
            let missing = self.members.iter().filter(|it| !it.client.is_connected()).count();
            ensure!(Instant::now() < deadline, "{missing} clients could not connect");
            self.walk_for(Duration::from_millis(20))?;
        }
        Ok(())
    }

    fn walk_for(&mut self, time: Duration) -> Result<()> {
        let end = Instant::now() + time;
        while Instant::now() < end {
            for number in 0..self.members.len() {
                self.turn(number)?;
            }
            // Short enough for the clients that measure times, long enough not to use up the core.
            std::thread::sleep(Duration::from_micros(500));
        }
        Ok(())
    }

    fn turn(&mut self, number: usize) -> Result<()> {
        let Self { members, received, measurements } = self;
        let member = &mut members[number];
        let Some(outgoing) = member.due(Instant::now()) else { return Ok(()) };
        measurements.moves += u64::from(outgoing.step.is_some());
        member.client.turn(&outgoing, received)?;
        let now = Stamp::now();
        for update in received.updates.drain(..) {
            measurements.on_update(number, update, now, number < PROBES);
        }
        received.pongs.drain(..).for_each(|it| measurements.on_pong(it.0, now));
        Ok(())
    }
}

impl<C: Client> Member<C> {
    fn new(client: C, walker: Walker, number: u16) -> Self {
        let now = Instant::now();
        let probe = (usize::from(number) < PROBES).then_some(Probe { next_read: now, next_ping: now });
        // Clients that connect at the same time do not move at the same time.
        let next_move = now + MOVE_EVERY * u32::from(number % 97) / 97;
        Self { client, walker, next_turn: next_move, next_move, probe }
    }

    /// What the client has to send now; `None` if its turn has not come.
    fn due(&mut self, now: Instant) -> Option<Outgoing> {
        let pings = self.probe.as_ref().is_some_and(|it| it.next_ping <= now);
        let sends = pings || self.next_turn <= now || self.next_move <= now;
        let reads = self.probe.as_ref().is_some_and(|it| it.next_read <= now);
        if let Some(it) = self.probe.as_mut().filter(|_| sends || reads) {
            it.next_read = now + PROBE_TURN;
        }
        if !sends {
            return reads.then(Outgoing::default);
        }
        self.next_turn = now + TURN;
        if !self.client.is_connected() {
            return Some(Outgoing { sends, ..Outgoing::default() });
        }
        let at = Stamp::now();
        let step = (self.next_move <= now).then(|| self.next_step(now, at));
        let ping = self.probe.as_mut().filter(|_| pings).map(|it| {
            it.next_ping = now + PING_EVERY;
            Ping(at)
        });
        Some(Outgoing { sends, step, ping })
    }

    fn next_step(&mut self, now: Instant, at: Stamp) -> Move {
        // A client that is late by several moves leaves them out; the runner then says that clients fell behind.
        let earliest = now.checked_sub(3 * MOVE_EVERY).unwrap_or(now);
        self.next_move = (self.next_move + MOVE_EVERY).max(earliest);
        let (x, y) = self.walker.step();
        Move { x, y, at }
    }
}

fn print_line(line: &str) -> Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}
