//! The hostile bot of a game that brings none.

use game::{Bot, BotView, Intent};
use machine::Rng;
use space::{Heading, VELOCITY_MAX, Velocity};

/// The most bytes of an action that it makes up: longer than the platform takes.
const NOISE_MAX: u64 = 2_048;

/// The most bytes of an action that may well be one of the game's.
const SHORT_MAX: u64 = 12;

/// A bot that sends noise for actions, and moves as fast as no game allows.
pub struct NoiseBot;

impl Bot for NoiseBot {
    fn decide(&mut self, _: &BotView<'_>, rng: &mut Rng, intents: &mut Vec<Intent>) {
        intents.push(match rng.below(4) {
            0 => Intent::Act(noise(NOISE_MAX, rng)),
            1 => Intent::Steer(too_fast(rng), Heading(rng.next_u64() as u16)),
            // Small numbers are variants, lengths and names of a game's types: some of these decode.
            _ => Intent::Act(noise(SHORT_MAX, rng).into_iter().map(|it| it % 8).collect()),
        });
    }
}

fn noise(max: u64, rng: &mut Rng) -> Vec<u8> {
    (0..rng.below(max)).map(|_| rng.next_u64() as u8).collect()
}

fn too_fast(rng: &mut Rng) -> Velocity {
    let most = i64::from(VELOCITY_MAX);
    Velocity::new(rng.between(-most, most) as i32, rng.between(-most, most) as i32).unwrap_or(Velocity::ZERO)
}
