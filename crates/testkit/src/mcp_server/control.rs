//! The routes that steer the server.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use super::state::{Mode, Server, Stats};

/// What `POST /ctl/arm` takes: the method, how it goes wrong and how often.
#[derive(Deserialize)]
pub(super) struct Arm {
    op: String,
    #[serde(flatten)]
    mode: Mode,
    #[serde(default = "once")]
    count: usize,
}

fn once() -> usize {
    1
}

pub(super) async fn arm(State(server): State<Arc<Server>>, Json(arm): Json<Arm>) {
    server.arm(&arm.op, arm.mode, arm.count);
}

pub(super) async fn drop_sessions(State(server): State<Arc<Server>>) {
    server.drop_sessions();
}

pub(super) async fn down(State(server): State<Arc<Server>>) {
    server.set_down(true);
}

pub(super) async fn up(State(server): State<Arc<Server>>) {
    server.set_down(false);
}

pub(super) async fn stats(State(server): State<Arc<Server>>) -> Json<Stats> {
    Json(server.stats())
}
