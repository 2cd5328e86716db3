//! Bots as real clients: each has its own session and connections, and is measured.

use crate::Failure;
use crate::bench::walker;
use client::{Book, Counts, Lobby, LobbyError, SessionInfo, Stay, StayOptions, Transport};
use game::{Bot, Intent, Sight};
use hdrhistogram::Histogram;
use machine::{Rng, Span};
use net::dial::Dialer;
use node::Client as Node;
use serde::{Deserialize, Serialize};
use space::{Polygon, Position};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{RwLock, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;
use zone::{Happening, Outcome, PlayerConfig};

/// Log-ins at once.
const LOGINS: usize = 16;

/// How often in a row a bot asks a lobby that says "too often". Bots take turns then, so more than two only happen
/// where others come in from the same address.
const TRIES: usize = 10;

/// How long bots may take to hear their last answers: what has not come by then counts as an error, so a busy machine
/// gets more than enough.
const LAST_ANSWERS: Duration = Duration::from_secs(30);

/// What a crowd is like.
#[derive(Clone)]
pub struct CrowdOptions {
    /// The lobby.
    pub lobby: String,
    /// How many.
    pub count: usize,
    /// What they do: a bot's name, or `mixed`.
    pub behaviour: String,
    /// How they connect.
    pub transport: Transport,
    /// Where to write their history.
    pub book: Book,
    /// Where their chance starts.
    pub seed: u64,
    /// How often each decides; `None` as bots do.
    pub pace: Option<Span>,
}

/// What was measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CrowdReport {
    /// How many bots there were.
    pub clients: usize,
    /// Actions that were answered.
    pub actions_acked: u64,
    /// Of these, those that were refused.
    pub actions_refused: u64,
    /// Half of the answers took less.
    pub action_latency_p50_ms: f64,
    /// One in a hundred took longer.
    pub action_latency_p99_ms: f64,
    /// The longest.
    pub action_latency_max_ms: f64,
    /// Actions answered per second, all together.
    pub actions_per_second: f64,
    /// Poses that arrived, per bot and second.
    pub updates_per_client_second: f64,
    /// Bytes of frames that arrived, per bot and second.
    pub bytes_per_client_second: f64,
    /// UDP packets (or WebSocket messages) that arrived, per bot and second.
    pub packets_per_client_second: f64,
    /// UDP bytes that arrived, per bot and second.
    pub udp_bytes_per_client_second: f64,
    /// UDP packets that left, per bot and second.
    pub packets_out_per_client_second: f64,
    /// UDP bytes that left, per bot and second.
    pub udp_bytes_out_per_client_second: f64,
    /// How often a bot came back in after its server was silent.
    pub reconnects: u64,
    /// Connections that were dialled again.
    pub redials: u64,
    /// Actions that were neither done nor refused by the end, and sessions lost.
    pub errors: u64,
    /// For how long, in seconds.
    pub seconds: f64,
}

/// What passed over all connections.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    bytes: u64,
    packets: u64,
    udp_bytes: u64,
    packets_out: u64,
    udp_bytes_out: u64,
    poses: u64,
}

#[derive(Debug)]
struct Tally {
    latency: Histogram<u64>,
    acked: u64,
    refused: u64,
    entered: u64,
    closed: u64,
}

/// A crowd of bots.
pub struct Crowd {
    stays: Vec<Stay>,
    calm: Arc<AtomicBool>,
    tally: Arc<Mutex<Tally>>,
    began: Instant,
    /// What had passed when measuring began.
    base: Passed,
    failed: u64,
}

/// A bot whose will can be taken away.
struct Calmable {
    bot: Box<dyn Bot>,
    calm: Arc<AtomicBool>,
}

impl Bot for Calmable {
    fn decide(&mut self, sight: &Sight<'_>, rng: &mut Rng, wants: &mut Vec<Intent>) {
        if !self.calm.load(Ordering::Relaxed) {
            self.bot.decide(sight, rng, wants);
        }
    }
}

impl Crowd {
    /// Brings a crowd in. Returns when all are in or have failed to.
    pub async fn enter(options: CrowdOptions) -> Result<Self, Failure> {
        let dialer = Dialer::new()?;
        let calm = Arc::new(AtomicBool::new(false));
        let latency = Histogram::new_with_bounds(1, 600_000_000, 3).map_err(anyhow::Error::msg)?;
        let tally = Arc::new(Mutex::new(Tally { latency, acked: 0, refused: 0, entered: 0, closed: 0 }));
        let (logins, door) = (Arc::new(Semaphore::new(LOGINS)), Arc::default());
        let mut entering = JoinSet::new();
        for number in 0..options.count {
            let (options, dialer, calm) = (options.clone(), dialer.clone(), calm.clone());
            let (tally, logins, door) = (tally.clone(), logins.clone(), Arc::clone(&door));
            entering.spawn(async move {
                let _permit = logins.acquire().await;
                enter_one(number, options, dialer, calm, tally, &door).await
            });
        }
        let mut stays = Vec::new();
        let mut failed = 0;
        while let Some(stay) = entering.join_next().await {
            match stay.map_err(anyhow::Error::from)? {
                Ok(stay) => stays.push(stay),
                Err(Failure::Asked(why)) => return Err(Failure::Asked(why)),
                Err(Failure::Ran(error)) => {
                    failed += 1;
                    tracing::warn!(%error, "a bot did not get in");
                }
            }
        }
        if stays.is_empty() && 0 < options.count {
            return Err(anyhow::anyhow!("no bot got in; is a world running at {}?", options.lobby).into());
        }
        let crowd = Self { stays, calm, tally, began: Instant::now(), base: Passed::default(), failed };
        crowd.until(Duration::from_secs(20), |tally, count| count as u64 <= tally.entered).await;
        Ok(crowd)
    }

    fn tally<R>(&self, look: impl FnOnce(&mut Tally) -> R) -> R {
        look(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn until(&self, within: Duration, done: impl Fn(&mut Tally, usize) -> bool) {
        let deadline = Instant::now() + within;
        while Instant::now() < deadline && !self.tally(|it| done(it, self.stays.len())) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// How many answers there were so far, for watching.
    pub fn acked(&self) -> u64 {
        self.tally(|it| it.acked)
    }

    /// How many bots there are.
    pub fn len(&self) -> usize {
        self.stays.len()
    }

    async fn passed(&self) -> Passed {
        let mut sum = Passed::default();
        for stay in &self.stays {
            let traffic = &stay.counts.traffic;
            let read = |it: &AtomicU64| it.load(Ordering::Relaxed);
            sum.bytes += read(&traffic.bytes_in);
            sum.packets += read(&traffic.packets_in);
            sum.udp_bytes += read(&traffic.udp_bytes_in);
            sum.packets_out += read(&traffic.packets_out);
            sum.udp_bytes_out += read(&traffic.udp_bytes_out);
            sum.poses += stay.player.look(Node::poses).await.unwrap_or(0);
        }
        sum
    }

    /// Waits until all bots are in; how many are.
    pub async fn until_in(&self, within: Duration) -> usize {
        let deadline = Instant::now() + within;
        loop {
            let mut inside = 0;
            for stay in &self.stays {
                inside += usize::from(stay.player.look(|it| it.player().is_in()).await == Some(true));
            }
            if inside == self.stays.len() || deadline < Instant::now() {
                return inside;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// The avatars of others that a bot sees, on average.
    pub async fn visible(&self) -> f64 {
        let mut sum = 0;
        for stay in &self.stays {
            sum += stay.player.look(avatars_in_sight).await.unwrap_or(0);
        }
        sum as f64 / self.stays.len().max(1) as f64
    }

    /// The last round trip of every bot, in milliseconds, the shortest first; and the poses that hosts did not send
    /// because a bot was slow.
    pub fn pings(&self) -> (Vec<f64>, u64) {
        let traffics = || self.stays.iter().map(|it| &it.counts.traffic);
        let mut pings: Vec<f64> = traffics().map(|it| it.ping.load(Ordering::Relaxed) as f64 / 1e3).collect();
        pings.sort_by(f64::total_cmp);
        (pings, traffics().map(|it| it.lost.load(Ordering::Relaxed)).sum())
    }

    /// What half of the answers took since measuring began, and all but one in a hundred, in milliseconds.
    pub fn latency(&self) -> (f64, f64) {
        self.tally(|it| (quantile(&it.latency, 0.5), quantile(&it.latency, 0.99)))
    }

    /// Begins to measure.
    pub async fn measure(&mut self) {
        self.base = self.passed().await;
        self.tally(|it| {
            it.latency.reset();
            (it.acked, it.refused) = (0, 0);
            it.entered = self.stays.len() as u64;
        });
        self.began = Instant::now();
    }

    /// Lets the bots rest, waits for their last answers, and says what was measured.
    pub async fn finish(self) -> CrowdReport {
        let seconds = self.began.elapsed().as_secs_f64();
        let passed = self.passed().await;
        self.calm.store(true, Ordering::Relaxed);
        let unanswered = self.last_answers().await;
        let lost = self.stays.iter().filter(|it| it.counts.ended.load(Ordering::Relaxed)).count() as u64;
        let redials = self.stays.iter().map(|it| redials(&it.counts)).sum();
        let per_client = |sum: u64| sum as f64 / (self.stays.len().max(1) as f64 * seconds);
        let (clients, failed, base) = (self.stays.len(), self.failed, self.base);
        let report = self.tally(|it| CrowdReport {
            clients,
            actions_acked: it.acked,
            actions_refused: it.refused,
            action_latency_p50_ms: quantile(&it.latency, 0.5),
            action_latency_p99_ms: quantile(&it.latency, 0.99),
            action_latency_max_ms: it.latency.max() as f64 / 1e3,
            actions_per_second: it.acked as f64 / seconds,
            updates_per_client_second: per_client(passed.poses.saturating_sub(base.poses)),
            bytes_per_client_second: per_client(passed.bytes - base.bytes),
            packets_per_client_second: per_client(passed.packets - base.packets),
            udp_bytes_per_client_second: per_client(passed.udp_bytes - base.udp_bytes),
            packets_out_per_client_second: per_client(passed.packets_out - base.packets_out),
            udp_bytes_out_per_client_second: per_client(passed.udp_bytes_out - base.udp_bytes_out),
            reconnects: it.entered.saturating_sub(clients as u64),
            redials,
            errors: unanswered + lost + it.closed + failed,
            seconds,
        });
        let mut leaving = JoinSet::new();
        for stay in self.stays {
            leaving.spawn(stay.end());
        }
        leaving.join_all().await;
        report
    }

    /// Waits for the last answers; how many did not come.
    async fn last_answers(&self) -> u64 {
        let deadline = Instant::now() + LAST_ANSWERS;
        loop {
            let mut unanswered = 0;
            for stay in &self.stays {
                unanswered += stay.player.look(|it| it.player().unanswered() as u64).await.unwrap_or(1);
            }
            if unanswered == 0 || deadline < Instant::now() {
                return unanswered;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn quantile(latency: &Histogram<u64>, part: f64) -> f64 {
    latency.value_at_quantile(part) as f64 / 1e3
}

fn avatars_in_sight(node: &Node) -> usize {
    let Some(sight) = node.player().sight(net::clock::now()) else { return 0 };
    let shown = sight.objects.values().map(|it| postcard::from_bytes(&it.shown));
    shown.filter(|it| matches!(it, Ok(kosmos::Shown::Avatar { .. }))).count()
}

fn redials(counts: &Counts) -> u64 {
    counts.redials.load(Ordering::Relaxed)
}

async fn enter_one(
    number: usize,
    options: CrowdOptions,
    dialer: Dialer,
    calm: Arc<AtomicBool>,
    tally: Arc<Mutex<Tally>>,
    door: &Door,
) -> Result<Stay, Failure> {
    let names = kosmos::bots::NAMES;
    let behaviour = match options.behaviour.as_str() {
        "mixed" => names[number % names.len()],
        name => name,
    };
    let lobby = Lobby::new(&options.lobby);
    let name = format!("{behaviour}-{number}");
    let pass = in_turn(door, || lobby.guest(&name)).await?;
    let (heard, happenings) = mpsc::unbounded_channel();
    tokio::spawn(listen(happenings, tally));
    let seed = options.seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
    let (transport, book) = (options.transport, options.book);
    let stay_options = StayOptions { transport, dialer, book, seed };
    let begin = || {
        let calm = calm.clone();
        let make = move |config, info: &SessionInfo| bot_of(behaviour, options.pace, calm, config, info);
        Stay::begin(&lobby, &pass, stay_options.clone(), make, heard.clone())
    };
    Ok(in_turn(door, begin).await?)
}

/// Through which a crowd asks the lobby: many at a time, as long as nobody is told that it is too often.
type Door = RwLock<()>;

/// Asks the lobby. Whoever is told that it was too often asks again when they were told to, all others after them.
async fn in_turn<T, F>(door: &Door, ask: impl Fn() -> F) -> Result<T, LobbyError>
where
    F: Future<Output = Result<T, LobbyError>>,
{
    let mut answer = {
        let _many = door.read().await;
        ask().await
    };
    let Err(LobbyError::TooOften(wait, _)) = answer else { return answer };
    let mut not_before = Instant::now() + wait;
    let _alone = door.write().await;
    for _ in 1..TRIES {
        tokio::time::sleep_until(not_before).await;
        answer = ask().await;
        let Err(LobbyError::TooOften(wait, _)) = answer else { break };
        not_before = Instant::now() + wait;
    }
    answer
}

fn bot_of(
    behaviour: &str,
    pace: Option<Span>,
    calm: Arc<AtomicBool>,
    config: PlayerConfig,
    info: &SessionInfo,
) -> Node {
    let bot = region_of(info).and_then(|it| match behaviour {
        walker::NAME => Some(walker::bot(it)),
        name => kosmos::bots::by_name_near(name, &it, &borders_of(info, &it)),
    });
    let node = match bot {
        Some(bot) => Node::bot(config, Box::new(Calmable { bot, calm })),
        None => Node::new(config),
    };
    match pace {
        Some(pace) => node.paced(pace),
        None => node,
    }
}

fn region_of(info: &SessionInfo) -> Option<Polygon> {
    let corners: Result<Vec<_>, _> = info.world.region.iter().map(|it| Position::new(it[0], it[1])).collect();
    Polygon::new(&corners.ok()?).ok()
}

/// The sides of zones that are not the world's own.
fn borders_of(info: &SessionInfo, world: &Polygon) -> Vec<(Position, Position)> {
    let (low, high) = world.bounding_box();
    let is_inner = |[ax, ay]: [i32; 2], [bx, by]: [i32; 2]| {
        let on = |a: i32, b: i32, low: i32, high: i32| a == b && (a == low || a == high);
        !on(ax, bx, low.x(), high.x()) && !on(ay, by, low.y(), high.y())
    };
    let sides = info.world.zones.iter().flat_map(|it| {
        let next = it.corners.iter().cycle().skip(1);
        it.corners.iter().copied().zip(next.copied())
    });
    let inner = sides.filter(|&(from, to)| is_inner(from, to));
    inner.filter_map(|(from, to)| Some((place(from)?, place(to)?))).collect()
}

fn place([x, y]: [i32; 2]) -> Option<Position> {
    Position::new(x, y).ok()
}

async fn listen(mut happenings: mpsc::UnboundedReceiver<Happening>, tally: Arc<Mutex<Tally>>) {
    // Walking into another zone is no reason to count: nobody was silent.
    let mut searches = true;
    while let Some(happening) = happenings.recv().await {
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        match happening {
            Happening::Answered(_, outcome, took) => {
                tally.acked += 1;
                tally.refused += u64::from(outcome != Outcome::Done);
                tally.latency.saturating_record(took.as_micros().max(1));
            }
            Happening::Searching => searches = true,
            Happening::Entered(_) => tally.entered += u64::from(std::mem::take(&mut searches)),
            Happening::Closed(_) => tally.closed += 1,
            _ => (),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use client::{WorldInfo, ZoneInfo};

    #[test]
    fn borders_are_what_zones_share() {
        let zone = |zone, west, east| ZoneInfo {
            zone,
            corners: vec![[west, -10], [east, -10], [east, 10], [west, 10]],
        };
        let region = vec![[-10, -10], [10, -10], [10, 10], [-10, 10]];
        let zones = vec![zone(1, -10, 0), zone(2, 0, 10)];
        let world = WorldInfo { game: String::new(), schema: String::new(), range: 1, region, zones };
        let info = SessionInfo { session: 1, player: 1, name: String::new(), world, hosts: Vec::new() };
        let (south, north) = (place([0, -10]).unwrap(), place([0, 10]).unwrap());
        let borders = borders_of(&info, &region_of(&info).unwrap());
        assert_eq!(borders, [(south, north), (north, south)]);
    }

    /// So many bots come to a lobby that lets 20 in at once and then two a second, or nobody; how many got in, and how
    /// often they asked.
    async fn come(bots: usize, is_open: bool) -> (usize, usize) {
        let (began, door, asked) = (Instant::now(), Arc::new(Door::default()), Arc::default());
        let let_in = Arc::new(AtomicU64::new(0));
        let mut coming = JoinSet::new();
        for _ in 0..bots {
            let (door, asked, let_in) = (door.clone(), Arc::<AtomicU64>::clone(&asked), let_in.clone());
            coming.spawn(async move {
                let ask = async || {
                    asked.fetch_add(1, Ordering::Relaxed);
                    let room = 20 + began.elapsed().as_millis() as u64 / 500;
                    if !is_open || room <= let_in.load(Ordering::Relaxed) {
                        return Err(LobbyError::TooOften(Duration::from_secs(1), String::new()));
                    }
                    let_in.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                };
                in_turn(&door, ask).await
            });
        }
        let got_in = coming.join_all().await.iter().filter(|it| it.is_ok()).count();
        (got_in, asked.load(Ordering::Relaxed) as usize)
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_comes_in_as_fast_as_the_lobby_lets_it() {
        let (got_in, asked) = come(100, true).await;
        assert_eq!(got_in, 100);
        assert!(asked <= 3 * 100, "{asked}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_bot_that_is_never_let_in_gives_up() {
        assert_eq!(come(1, false).await, (0, TRIES));
    }
}
