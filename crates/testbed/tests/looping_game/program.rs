//! A test program: the control plane or a host of a game one of whose actions loops for ever. It is called as `ecumene` is, by
//! [`testbed::cluster`]; `LOOPING_GAME_TRIES` names a file that grows by a byte with every attempt at the loop.

#[path = "game.rs"]
#[allow(dead_code, reason = "the test uses the rest")]
mod looping;

use anyhow::{Context as _, Result, bail};
use server::{ConfigTemplate, ControlPlane, HostProcess, HostStuck, Page};
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The part of the command line that a cluster uses.
#[derive(Default)]
struct Arguments {
    verb: String,
    data: PathBuf,
    config: Option<PathBuf>,
    listen: Option<SocketAddr>,
    lobby: Option<SocketAddr>,
    directory: Option<SocketAddr>,
    id: u32,
}

impl Arguments {
    fn read() -> Result<Self> {
        let mut given = std::env::args().skip(1);
        let mut it = Self { verb: given.next().context("which process?")?, ..Self::default() };
        while let Some(name) = given.next() {
            if name == "--tethered" {
                continue;
            }
            let value = given.next().context("a value is missing")?;
            match name.as_str() {
                "--data" => it.data = value.into(),
                "--config" => it.config = Some(value.into()),
                "--listen" => it.listen = Some(value.parse()?),
                "--lobby" => it.lobby = Some(value.parse()?),
                "--directory" => it.directory = Some(value.parse()?),
                "--id" => it.id = value.parse()?,
                _ => bail!("unknown: {name}"),
            }
        }
        Ok(it)
    }
}

/// Returns when standard input ends: the process that started this one is gone.
async fn tether() {
    let (sender, ended) = oneshot::channel();
    std::thread::spawn(move || {
        drop(std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
        sender.send(())
    });
    drop(ended.await);
}

#[tokio::main]
async fn run(arguments: &Arguments) -> Result<()> {
    let mut config = ConfigTemplate::default().load(arguments.config.as_deref())?;
    config.data.clone_from(&arguments.data);
    config.directory.listen = arguments.listen.unwrap_or(config.directory.listen);
    config.lobby.listen = arguments.lobby.unwrap_or(config.lobby.listen);
    server::web::count();
    let rules = Arc::new(game::Hosted(looping::LoopingGame { on_loop: note_attempt }));
    if arguments.verb == "directory" {
        let _control_plane = ControlPlane::start(&config, &*rules, Page::default()).await?;
        tether().await;
        return Ok(());
    }
    config.host.id = arguments.id;
    let directory = arguments.directory.unwrap_or(config.directory.listen);
    HostProcess::start(&config, directory, rules).await?.run(tether()).await
}

/// Notes on disk that the loop is about to be tried.
fn note_attempt() {
    let Some(path) = std::env::var_os("LOOPING_GAME_TRIES") else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    let noted = file.and_then(|mut it| it.write_all(b"x"));
    assert!(noted.is_ok(), "the attempt must be counted: {noted:?}");
}

fn main() -> ExitCode {
    let ended = Arguments::read().and_then(|it| run(&it));
    let Err(error) = ended else { return ExitCode::SUCCESS };
    drop(writeln!(std::io::stderr(), "{error:#}"));
    if error.is::<HostStuck>() {
        let failed = server::restart_process();
        drop(writeln!(std::io::stderr(), "cannot start again: {failed}"));
    }
    ExitCode::FAILURE
}
