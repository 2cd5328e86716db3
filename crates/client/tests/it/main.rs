//! Sessions in a world whose lobby and host are part of the test: refusals, and leaving.

mod leaving;
mod refusals;
mod test_world;
