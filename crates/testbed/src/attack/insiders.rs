//! Players with a valid token and a program of their own.

use super::unauthenticated::{connect, ending, endpoint, hello, native, send_on_stream};
use super::{AttackRun, ExpectedOutcome, ObservedClose, PROTOCOL, noise};
use client::{HostInfo, LobbyClient, SessionInfo};
use game::PlayerId;
use machine::{Rng, Span, Time};
use net::frame::{self, Assembler, Control, HOST_FRAME_MAX};
use quinn::{Connection, Endpoint, RecvStream, SendStream};
use space::{Epoch, Motion};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use zone::{BetweenReplicas, FromPlayer, ToPlayer, ZoneMsg};

/// Time that a host gets to close a connection that must be closed, or to leave one open that must stay open.
pub(super) const OBSERVED_FOR: Duration = Duration::from_millis(500);

/// Messages sent at once, above any rate.
pub(super) const FLOOD: usize = 400;

pub(super) fn spawn(run: &Arc<AttackRun>, tasks: &mut JoinSet<()>) {
    for number in 1..super::entries::ENTERING {
        let it = run.clone();
        tasks.spawn(async move {
            if let Err(error) = attack_as_player(&it, number).await {
                it.unexpected(format!("insiders: {error:#}"));
            }
        });
    }
}

/// A message of a zone, framed for a zone.
pub(super) fn framed(zone: u32, msg: &ZoneMsg) -> Vec<u8> {
    let mut message = vec![0]; // The first byte says that a zone's message follows.
    message.extend(postcard::to_stdvec(msg).expect("plain data encodes"));
    frame::framed(zone, &message).to_vec()
}

/// One attack: its name, bytes over the stream and by datagram, and the expected outcome.
struct AttackStep {
    attack: &'static str,
    stream: Vec<Vec<u8>>,
    datagrams: Vec<Vec<u8>>,
    expected: ExpectedOutcome,
}

const CLOSED: ExpectedOutcome = ExpectedOutcome::Closed(&[PROTOCOL]);

fn over_stream(attack: &'static str, bytes: Vec<u8>, expected: ExpectedOutcome) -> AttackStep {
    AttackStep { attack, stream: vec![bytes], datagrams: Vec::new(), expected }
}

fn act(number: u64, length: usize) -> ZoneMsg {
    let action = vec![7; length].into();
    ZoneMsg::FromPlayer(FromPlayer::Act { number, acked: 0, motion: Motion::default(), action })
}

fn enter(player: u64, session: u64, name: &str) -> ZoneMsg {
    enter_again(player, session, name, None)
}

fn enter_again(player: u64, session: u64, name: &str, seen: Option<(space::ZoneId, Epoch, u64)>) -> ZoneMsg {
    ZoneMsg::FromPlayer(FromPlayer::Enter { player: PlayerId(player), session, name: name.to_owned(), seen })
}

/// Copies of frames with the highest numbers that there are. The numbers of the last ones begin anew.
fn last_copies(frames: usize) -> Vec<u8> {
    let move_frame = framed(1, &ZoneMsg::FromPlayer(FromPlayer::Move(Motion::default())));
    frame::control(&Control::Again { first: u64::MAX, frames: move_frame.repeat(frames) }).to_vec()
}

/// Number of kinds that `draw` knows.
const KINDS: u64 = 22;

fn draw(kind: u64, info: &SessionInfo, rng: &mut Rng) -> AttackStep {
    let msg = |attack, msg: &ZoneMsg| over_stream(attack, framed(1, msg), CLOSED);
    let control = |attack, it: &Control| over_stream(attack, frame::control(it).to_vec(), CLOSED);
    let (me, session, name) = (info.player, info.session, info.name.as_str());
    let moves = || framed(1, &ZoneMsg::FromPlayer(FromPlayer::Move(Motion::default())));
    match kind {
        0 => over_stream("noise for a zone", frame::framed(1, &noise(rng, 60)).to_vec(), CLOSED),
        1 => over_stream("a message cut short", frame::framed(1, &[0, 1, 1, 200]).to_vec(), CLOSED),
        2 => {
            let nowhere = framed(77, &ZoneMsg::FromPlayer(FromPlayer::Ack(1)));
            let stream = vec![nowhere; 50];
            AttackStep {
                attack: "messages for a zone that is not there",
                stream,
                datagrams: Vec::new(),
                expected: ExpectedOutcome::StaysOpen,
            }
        }
        3 => msg(
            "a beacon as if from a replica",
            &ZoneMsg::BetweenReplicas(
                Epoch(99),
                BetweenReplicas::Beacon { sent: Time::ZERO, late: Span::ZERO },
            ),
        ),
        4 => msg(
            "records as if from a primary",
            &ZoneMsg::BetweenReplicas(Epoch(99), BetweenReplicas::Append { first: 1, records: Vec::new() }),
        ),
        5 => msg(
            "news as if from a zone",
            &ZoneMsg::ToPlayer(space::ZoneId(1), Epoch(99), ToPlayer::NotHere { primary: None }),
        ),
        6 => msg("entering as another player", &enter(me + 1, session, name)),
        7 => msg("entering another session", &enter(me, session + 1, name)),
        8 => msg("entering under another name", &enter(me, session, "admin")),
        9 => msg("an action of 4100 bytes", &act(1, 4_100)),
        10 => over_stream("a frame of 5000 bytes", frame::framed(1, &vec![0; 5_000]).to_vec(), CLOSED),
        11 => over_stream("a frame that claims 2 GiB", vec![0xff, 0xff, 0xff, 0xff, 0x07, 0], CLOSED),
        12 => control("a second greeting", &Control::Hello { version: 1, token: "again".to_owned() }),
        13 => control("a welcome for the host", &Control::Welcome { host: 1, zones: vec![1] }),
        14 => {
            over_stream("an unknown control message from inside", frame::framed(0, &[200]).to_vec(), CLOSED)
        }
        15 => over_stream("poses for a zone", frame::framed(1, &[1, 1, 2, 3]).to_vec(), CLOSED),
        16 => {
            let datagrams = vec![noise(rng, 300)];
            AttackStep { attack: "datagrams of noise", stream: Vec::new(), datagrams, expected: CLOSED }
        }
        17 => {
            let stream: Vec<_> = (1..=FLOOD as u64).map(|it| framed(1, &act(it, 900))).collect();
            AttackStep {
                attack: "actions beyond the rate",
                stream,
                datagrams: Vec::new(),
                expected: ExpectedOutcome::StaysOpen,
            }
        }
        18 => {
            let stream = vec![framed(1, &enter(me, session, name)); FLOOD];
            AttackStep {
                attack: "entering beyond the rate",
                stream,
                datagrams: Vec::new(),
                expected: ExpectedOutcome::StaysOpen,
            }
        }
        19 => {
            let datagrams = (1..=5).map(last_copies).collect();
            AttackStep {
                attack: "copies with the last numbers",
                stream: Vec::new(),
                datagrams,
                expected: ExpectedOutcome::StaysOpen,
            }
        }
        20 => {
            let seen = Some((space::ZoneId(1), Epoch(1), 1));
            let stream = vec![framed(1, &enter_again(me, session, name, seen)); FLOOD];
            AttackStep {
                attack: "entering again from an old record, beyond the rate",
                stream,
                datagrams: Vec::new(),
                expected: ExpectedOutcome::StaysOpen,
            }
        }
        _ => {
            let datagrams = vec![moves(); 10 * FLOOD];
            AttackStep {
                attack: "datagrams beyond the rate",
                stream: Vec::new(),
                datagrams,
                expected: ExpectedOutcome::StaysOpen,
            }
        }
    }
}

async fn attack_as_player(run: &AttackRun, number: usize) -> anyhow::Result<()> {
    let (endpoint, mut rng) = (endpoint(number as u8)?, run.rng());
    let lobby_client = LobbyClient::new(&run.lobby.to_string());
    let mut kind = number as u64;
    while !run.is_over() {
        let info = lobby_client.session(&run.insiders[number]).await?;
        kind = (kind + 1) % KINDS;
        let step = draw(kind, &info, &mut rng);
        let host = &info.hosts[rng.below(info.hosts.len() as u64) as usize];
        let Some((connection, send, receive)) = enter_world(&endpoint, host, &info).await? else {
            continue; // The host has no slot for new connections at the moment.
        };
        let outcome = perform(run, &step, &connection, send, receive).await;
        run.judge(step.attack, &step.expected, outcome);
        connection.close(0_u32.into(), b"");
    }
    Ok(())
}

pub(super) type PlayerStreams = (Connection, SendStream, RecvStream);

pub(super) async fn enter_world(
    endpoint: &Endpoint,
    host: &HostInfo,
    info: &SessionInfo,
) -> anyhow::Result<Option<PlayerStreams>> {
    let Some(connection) = connect(endpoint, host, &native(host)?).await else { return Ok(None) };
    let Some((mut send, mut receive)) = send_on_stream(&connection, &hello(&host.token)).await else {
        return Ok(None);
    };
    let Some(Control::Welcome { .. }) = next_control(&mut receive).await else { return Ok(None) };
    let entering = framed(1, &enter(info.player, info.session, &info.name));
    if send.write_all(&entering).await.is_err() {
        return Ok(None);
    }
    Ok(Some((connection, send, receive)))
}

/// The next control message; `None` if none comes in time.
async fn next_control(receive: &mut RecvStream) -> Option<Control> {
    let mut assembler = Assembler::new(HOST_FRAME_MAX);
    tokio::time::timeout(super::ANSWER_TIMEOUT, async {
        loop {
            while let Some(body) = assembler.body().ok()? {
                if let Ok((frame::CONTROL, message)) = frame::open(&body) {
                    return frame::open_control(message).ok();
                }
            }
            assembler.push(&receive.read_chunk(64 * 1024, true).await.ok()??.bytes);
        }
    })
    .await
    .ok()?
}

async fn perform(
    run: &AttackRun,
    step: &AttackStep,
    connection: &Connection,
    mut send: SendStream,
    mut receive: RecvStream,
) -> ObservedClose {
    for datagram in &step.datagrams {
        let _ = connection.send_datagram_wait(datagram.clone().into()).await;
    }
    run.sent(step.attack, (step.datagrams.len() + step.stream.len()) as u64);
    let flood = async {
        for bytes in &step.stream {
            if send.write_all(bytes).await.is_err() {
                return;
            }
        }
    };
    // A host that slows us down stops reading; nothing more of it is visible here.
    let _ = tokio::time::timeout(2 * OBSERVED_FOR, flood).await;
    match step.expected {
        ExpectedOutcome::Closed(_) => ending(connection, super::ANSWER_TIMEOUT).await,
        ExpectedOutcome::StaysOpen => {
            // Reads on, as an honest player would: an unread stream would get us disconnected as slow.
            let reading = async { while let Ok(Some(_)) = receive.read_chunk(64 * 1024, true).await {} };
            let _ = tokio::time::timeout(OBSERVED_FOR, reading).await;
            ending(connection, Duration::ZERO).await
        }
    }
}
