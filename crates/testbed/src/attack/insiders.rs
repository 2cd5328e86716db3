//! Players with a good token and a program of their own.

use super::strangers::{connect, ending, endpoint, hello, native, say};
use super::{Arena, Fate, PROTOCOL, Seen, noise};
use client::{HostInfo, Lobby, SessionInfo};
use game::PlayerId;
use machine::{Rng, Time};
use net::frame::{self, Assembler, Control, HOST_FRAME_MAX};
use quinn::{Connection, Endpoint, RecvStream, SendStream};
use space::{Epoch, Motion};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use zone::{Down, Msg, Peer, Up};

/// How long a host gets to close a connection that must be closed, or not to close one that must not.
const LOOK_AFTER: Duration = Duration::from_millis(500);

/// What is sent at once, beyond any rate.
const FLOOD: usize = 400;

pub(super) fn spawn(arena: &Arc<Arena>, fighting: &mut JoinSet<()>) {
    for number in 1..arena.insiders.len() {
        let it = arena.clone();
        fighting.spawn(async move {
            if let Err(error) = misbehave(&it, number).await {
                it.surprise(format!("insiders: {error:#}"));
            }
        });
    }
}

/// A message of a zone, framed for one.
fn framed(zone: u32, msg: &Msg) -> Vec<u8> {
    let mut message = vec![0];
    message.extend(postcard::to_stdvec(msg).expect("plain data encodes"));
    frame::framed(zone, &message).to_vec()
}

/// What an insider does: its name, what goes over the stream and by datagram, and what must come of it.
struct Deed {
    attack: &'static str,
    stream: Vec<Vec<u8>>,
    datagrams: Vec<Vec<u8>>,
    fate: Fate,
}

const CLOSED: Fate = Fate::Closed(&[PROTOCOL]);

fn says(attack: &'static str, bytes: Vec<u8>, fate: Fate) -> Deed {
    Deed { attack, stream: vec![bytes], datagrams: Vec::new(), fate }
}

fn act(number: u64, length: usize) -> Msg {
    let action = vec![7; length].into();
    Msg::Up(Up::Act { number, acked: 0, motion: Motion::default(), action })
}

fn enter(player: u64, session: u64, name: &str) -> Msg {
    Msg::Up(Up::Enter { player: PlayerId(player), session, name: name.to_owned(), seen: None })
}

/// As many kinds as `draw` knows.
const KINDS: u64 = 20;

fn draw(kind: u64, info: &SessionInfo, rng: &mut Rng) -> Deed {
    let msg = |attack, msg: &Msg| says(attack, framed(1, msg), CLOSED);
    let control = |attack, it: &Control| says(attack, frame::control(it).to_vec(), CLOSED);
    let (me, session, name) = (info.player, info.session, info.name.as_str());
    let moves = || framed(1, &Msg::Up(Up::Move(Motion::default())));
    match kind {
        0 => says("noise for a zone", frame::framed(1, &noise(rng, 60)).to_vec(), CLOSED),
        1 => says("a message cut short", frame::framed(1, &[0, 1, 1, 200]).to_vec(), CLOSED),
        2 => {
            let nowhere = framed(77, &Msg::Up(Up::Ack(1)));
            let stream = vec![nowhere; 50];
            Deed {
                attack: "messages for a zone that is not there",
                stream,
                datagrams: Vec::new(),
                fate: Fate::GoesOn,
            }
        }
        3 => msg("a beacon as if from a replica", &Msg::Peer(Epoch(99), Peer::Beacon { sent: Time::ZERO })),
        4 => msg(
            "records as if from a primary",
            &Msg::Peer(Epoch(99), Peer::Append { first: 1, records: Vec::new() }),
        ),
        5 => msg(
            "news as if from a zone",
            &Msg::Down(space::ZoneId(1), Epoch(99), Down::NotHere { primary: None }),
        ),
        6 => msg("entering as somebody else", &enter(me + 1, session, name)),
        7 => msg("entering another session", &enter(me, session + 1, name)),
        8 => msg("entering under another name", &enter(me, session, "admin")),
        9 => msg("an action of 4100 bytes", &act(1, 4_100)),
        10 => says("a frame of 5000 bytes", frame::framed(1, &vec![0; 5_000]).to_vec(), CLOSED),
        11 => says("a frame that claims 2 GiB", vec![0xff, 0xff, 0xff, 0xff, 0x07, 0], CLOSED),
        12 => control("a second greeting", &Control::Hello { version: 1, token: "again".to_owned() }),
        13 => control("a welcome for the host", &Control::Welcome { host: 1, zones: vec![1] }),
        14 => says("an unknown control message from inside", frame::framed(0, &[200]).to_vec(), CLOSED),
        15 => says("poses for a zone", frame::framed(1, &[1, 1, 2, 3]).to_vec(), CLOSED),
        16 => {
            let datagrams = vec![noise(rng, 300)];
            Deed { attack: "datagrams of noise", stream: Vec::new(), datagrams, fate: CLOSED }
        }
        17 => {
            let stream: Vec<_> = (1..=FLOOD as u64).map(|it| framed(1, &act(it, 900))).collect();
            Deed { attack: "actions beyond the rate", stream, datagrams: Vec::new(), fate: Fate::GoesOn }
        }
        18 => {
            let stream = vec![framed(1, &enter(me, session, name)); FLOOD];
            Deed { attack: "entering beyond the rate", stream, datagrams: Vec::new(), fate: Fate::GoesOn }
        }
        _ => {
            let datagrams = vec![moves(); 10 * FLOOD];
            Deed { attack: "datagrams beyond the rate", stream: Vec::new(), datagrams, fate: Fate::GoesOn }
        }
    }
}

async fn misbehave(arena: &Arena, number: usize) -> anyhow::Result<()> {
    let (endpoint, mut rng) = (endpoint(number as u8)?, arena.rng());
    let door = Lobby::new(&arena.lobby.to_string());
    let mut kind = number as u64;
    while !arena.is_over() {
        let info = door.session(&arena.insiders[number]).await?;
        kind = (kind + 1) % KINDS;
        let deed = draw(kind, &info, &mut rng);
        let host = &info.hosts[rng.below(info.hosts.len() as u64) as usize];
        let Some((connection, send, receive)) = come_in(&endpoint, host, &info).await? else {
            continue; // The host has no room for newcomers at the moment.
        };
        let seen = commit(arena, &deed, &connection, send, receive).await;
        arena.judge(deed.attack, &deed.fate, seen);
        connection.close(0_u32.into(), b"");
    }
    Ok(())
}

type Inside = (Connection, SendStream, RecvStream);

async fn come_in(endpoint: &Endpoint, host: &HostInfo, info: &SessionInfo) -> anyhow::Result<Option<Inside>> {
    let Some(connection) = connect(endpoint, host, &native(host)?).await else { return Ok(None) };
    let Some((mut send, mut receive)) = say(&connection, &hello(&host.token)).await else { return Ok(None) };
    let Some(Control::Welcome { .. }) = next_control(&mut receive).await else { return Ok(None) };
    let entering = framed(1, &enter(info.player, info.session, &info.name));
    if send.write_all(&entering).await.is_err() {
        return Ok(None);
    }
    Ok(Some((connection, send, receive)))
}

/// The next control message; `None` if none comes.
async fn next_control(receive: &mut RecvStream) -> Option<Control> {
    let mut assembler = Assembler::new(HOST_FRAME_MAX);
    tokio::time::timeout(super::ANSWER_WITHIN, async {
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

async fn commit(
    arena: &Arena,
    deed: &Deed,
    connection: &Connection,
    mut send: SendStream,
    mut receive: RecvStream,
) -> Seen {
    for datagram in &deed.datagrams {
        let _ = connection.send_datagram_wait(datagram.clone().into()).await;
    }
    arena.sent(deed.attack, (deed.datagrams.len() + deed.stream.len()) as u64);
    let flood = async {
        for bytes in &deed.stream {
            if send.write_all(bytes).await.is_err() {
                return;
            }
        }
    };
    // A host that slows us down does not read on; that is all we get to see of it.
    let _ = tokio::time::timeout(2 * LOOK_AFTER, flood).await;
    match deed.fate {
        Fate::Closed(_) => ending(connection, super::ANSWER_WITHIN).await,
        Fate::GoesOn => {
            // Reading on what the host says is what an honest player would do, too.
            let reading = async { while let Ok(Some(_)) = receive.read_chunk(64 * 1024, true).await {} };
            let _ = tokio::time::timeout(LOOK_AFTER, reading).await;
            ending(connection, Duration::ZERO).await
        }
    }
}
