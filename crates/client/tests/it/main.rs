//! Stays in a world whose lobby and host are played by the test: what a player's end does when they say no, or goodbye.

mod house;
mod leaving;
mod refusals;
