//! The engine against a dull reference, under crowds, and without allocation.

mod budget;
mod reference;
mod schedule;
mod steady;
