//! Players whose programs lie: whatever they send, no other player is harmed and nothing breaks.

use crate::process::{Process, config, region};
use directory::Directory;
use game::{Hosted, HostedGame, PlayerId};
use kosmos::Kosmos;
use machine::{Address, Input, LinkNumber, Rng, Time};
use serde_bytes::ByteBuf;
use space::{Epoch, Heading, Millis, Motion, Position, Velocity, ZoneId};
use std::sync::Arc;
use store::{Log, LogLimits, MemoryDisk};
use wire::Message as _;
use zone::{BetweenReplicas, Change, FromPlayer, Replica, ZoneMsg};

fn motion(rng: &mut Rng) -> Motion {
    let wild = |rng: &mut Rng| (rng.next_u64() as i32) >> rng.below(31);
    Motion {
        position: Position::saturating(i64::from(wild(rng)), i64::from(wild(rng))),
        velocity: Velocity::new(wild(rng) >> 8, wild(rng) >> 8).unwrap_or_default(),
        heading: Heading(rng.next_u64() as u16),
        start: Millis(rng.next_u64() >> rng.below(64)),
        generation: (rng.next_u64() as u32) >> rng.below(32),
        sequence: (rng.next_u64() as u32) >> rng.below(32),
    }
}

fn bytes(rng: &mut Rng) -> ByteBuf {
    ByteBuf::from((0..rng.below(40)).map(|_| rng.next_u64() as u8).collect::<Vec<_>>())
}

fn lie(rng: &mut Rng) -> ZoneMsg {
    let number = rng.next_u64() >> rng.below(64);
    match rng.below(8) {
        0 => ZoneMsg::FromPlayer(FromPlayer::Enter {
            player: PlayerId(rng.below(5)),
            session: rng.below(4),
            name: "\u{0}\n<script>".repeat(rng.below(9) as usize),
            seen: Some((ZoneId(1), Epoch(1), number)),
        }),
        1 | 2 => ZoneMsg::FromPlayer(FromPlayer::Act {
            number: rng.below(40),
            acked: number,
            motion: motion(rng),
            action: bytes(rng),
        }),
        3 => ZoneMsg::FromPlayer(FromPlayer::Act {
            number,
            acked: number,
            motion: motion(rng),
            action: bytes(rng),
        }),
        4 => ZoneMsg::FromPlayer(FromPlayer::Move(motion(rng))),
        5 => ZoneMsg::FromPlayer(FromPlayer::Ack(number)),
        6 if rng.below(20) == 0 => ZoneMsg::FromPlayer(FromPlayer::Leave),
        // A player that pretends to be a replica.
        _ => ZoneMsg::BetweenReplicas(
            Epoch(rng.below(9) as u32),
            BetweenReplicas::Acked { index: number, synced: number },
        ),
    }
}

#[test]
fn whatever_players_send_the_world_goes_on() {
    for seed in 0..30 {
        let mut rng = Rng::seeded(seed);
        let rules: Arc<dyn HostedGame> = Arc::new(Hosted(Kosmos::new(region())));
        let (log, _) = Log::open(MemoryDisk::new(), rules.schema(), LogLimits::default()).unwrap();
        let mut directory = Directory::new(Time::ZERO);
        let replica = Replica::new(config(rules));
        let mut process = Process { replica, log, directory: &mut directory, now: Time::ZERO };
        process.live(100);
        for address in 10..15 {
            process.take(Input::LinkUp { peer: Address(address), link: LinkNumber(1) });
        }
        for _ in 0..2_000 {
            let mut encoded = Vec::new();
            lie(&mut rng).encode(&mut encoded);
            if rng.below(4) == 0 {
                let at = rng.below(encoded.len() as u64) as usize;
                encoded[at] ^= 1 << rng.below(8);
            }
            let Ok(msg) = ZoneMsg::decode(&encoded) else { continue };
            let from = Address(10 + rng.below(5));
            process.take(Input::Recv { from, link: LinkNumber(1), msg });
            if rng.below(10) == 0 {
                process.live(1);
            }
        }
        process.live(500);
        let state = process.replica.state();
        assert!(matches!(process.replica.status(), zone::ReplicaStatus::Primary(..)), "seed {seed}");
        let inside = |place: Position| region().contains(place);
        assert!(
            state.objects.iter().all(|it| inside(it.motion.position)),
            "seed {seed}: an object left the world"
        );
        let recalled = process.log.recall().unwrap();
        let mut cursors = std::collections::BTreeMap::new();
        for record in recalled.records.iter().map(|it| zone::Record::from_bytes(it).unwrap()) {
            for change in record.changes {
                if let Change::Acted { player, number, .. } = change {
                    assert_eq!(
                        cursors.insert(player, number).unwrap_or(0) + 1,
                        number,
                        "seed {seed}: {player}"
                    );
                }
            }
        }
    }
}

#[test]
fn bytes_that_are_no_message_are_refused() {
    let mut rng = Rng::seeded(7);
    for _ in 0..20_000 {
        let noise: Vec<u8> = (0..rng.below(200)).map(|_| rng.next_u64() as u8).collect();
        if let Ok(msg) = ZoneMsg::decode(&noise) {
            let mut again = Vec::new();
            msg.encode(&mut again);
            assert_eq!(ZoneMsg::decode(&again), Ok(msg), "what decodes can be sent on");
        }
    }
    let long = ZoneMsg::FromPlayer(FromPlayer::Act {
        number: 1,
        acked: 0,
        motion: Motion::default(),
        action: ByteBuf::from(vec![0; 5_000]),
    });
    let mut bytes = Vec::new();
    long.encode(&mut bytes);
    assert!(ZoneMsg::decode(&bytes).is_err(), "players send little");
}
