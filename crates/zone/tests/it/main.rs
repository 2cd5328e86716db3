//! Tests of the zone from outside.

mod models;
