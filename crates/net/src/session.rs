//! One connection from the token to the end: what comes in is checked and handed to zones, what waits goes out.

use crate::bucket::Bucket;
use crate::cell::Inbound;
use crate::close::Close;
use crate::frame::{self, Assembler, Control, PLAYER_FRAME_MAX, VERSION};
use crate::mailbox::{Mailbox, Pace};
use crate::pipe::{Arrival, Receiver, Sender, overtake};
use crate::switchboard::{Peer, Switchboard};
use crate::{address, metric};
use bytes::Bytes;
use machine::Machine;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use wire::Message;

/// How long a stranger has to show a token,
const HELLO_WITHIN: Duration = Duration::from_secs(2);
/// and the most bytes read from them until then.
const HELLO_MAX: usize = 4 * 1024;

/// What one player may send: messages per second, and at once,
const MESSAGES: (f64, f64) = (60.0, 240.0);
/// and bytes.
const BYTES: (f64, f64) = (64.0 * 1024.0, 128.0 * 1024.0);

/// Whoever is silent over WebSocket for so long is asked whether they are still there: TCP itself would not tell for
/// hours. Clients ping every second, but browsers let a page that nobody looks at do so once a minute only. They always
/// let it answer.
const ASKED_AFTER: Duration = Duration::from_secs(5);
/// And after so long they are gone. It is more than QUIC's 2.5 seconds, because whatever TCP has to send again holds up
/// all that comes after it.
const GONE_AFTER: Duration = Duration::from_secs(10);

/// How many messages of one player may wait in a zone.
const WAITING_MAX: usize = 64;

/// Who somebody is, as their token says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guest {
    /// Their number.
    pub player: u64,
    /// Their session.
    pub session: u64,
    /// What they are called.
    pub name: String,
}

/// Decides who comes in, and what they may say.
pub trait Keeper<Msg>: Send + Sync {
    /// Who shows this token. It is used up.
    fn admit(&self, token: &str) -> Result<Guest, Close>;

    /// Whether a guest may say this.
    fn permits(&self, guest: &Guest, msg: &Msg) -> bool;
}

/// Everything a session needs to know of its host.
pub struct House<M: Machine> {
    /// Which host this is.
    pub host: u32,
    /// Its zones and connections.
    pub switchboard: Switchboard<M>,
    /// Who decides.
    pub keeper: Box<dyn Keeper<M::Msg>>,
    /// The most players.
    pub players_max: usize,
}

/// Serves a connection until it ends. `place` is given back as soon as its owner is no stranger.
pub async fn serve<M: Machine>(house: Arc<House<M>>, sender: Sender, mut receiver: Receiver, place: impl Send)
where
    M::Msg: Message + Send,
    M::Command: Send,
{
    let transport = sender.transport();
    let mut assembler = Assembler::new(HELLO_MAX);
    let admitted = match timeout(HELLO_WITHIN, hello(&mut receiver, &mut assembler)).await {
        Ok(Ok(token)) => admit(&house, &token),
        Ok(Err(why)) => Err(why),
        Err(_) => Err(Close::Refused),
    };
    let guest = match admitted {
        Ok(guest) => guest,
        Err(why) => {
            metric::refused(why);
            return sender.close(why).await;
        }
    };
    let mailbox = Mailbox::new(Pace::PLAYERS);
    let zones = house.switchboard.homes();
    mailbox.sure(frame::control(&Control::Welcome { host: house.host, zones }));
    let peer = Peer::Player(guest.player);
    if let Err(why) = house.switchboard.connect(peer, guest.session, &mailbox, Vec::new()) {
        metric::refused(why);
        return sender.close(why).await;
    }
    drop(place);
    metric::connected(transport, 1.0);
    tracing::debug!(player = guest.player, name = guest.name, transport = transport.name(), "came in");
    let writer = tokio::spawn(write(sender, mailbox.clone()));
    let mut reader = Reader::new(&house, guest, mailbox.clone());
    let why = tokio::select! {
        why = reader.read(receiver, assembler.with_limit(PLAYER_FRAME_MAX)) => why,
        why = mailbox.until_closed() => why,
    };
    mailbox.close(why);
    house.switchboard.disconnect(peer, &mailbox);
    drop(writer.await);
    metric::connected(transport, -1.0);
    metric::ended(why);
    tracing::debug!(player = reader.guest.player, ?why, "left");
}

async fn hello(receiver: &mut Receiver, assembler: &mut Assembler) -> Result<String, Close> {
    loop {
        match receiver.next().await? {
            // A WebSocket's messages are whole; a datagram that overtakes the token is nobody's.
            Arrival::Whole(bytes) if matches!(receiver, Receiver::Socket(_)) => assembler.push(&bytes),
            Arrival::Whole(_) => continue,
            Arrival::Stream(bytes) => assembler.push(&bytes),
        }
        if HELLO_MAX < assembler.waiting() {
            return Err(Close::Protocol);
        }
        if let Some(body) = assembler.body().map_err(|_| Close::Protocol)? {
            let Ok((frame::CONTROL, message)) = frame::open(&body) else { return Err(Close::Protocol) };
            return match frame::open_control(message) {
                Ok(Control::Hello { version: VERSION, token }) => Ok(token),
                _ => Err(Close::Protocol),
            };
        }
    }
}

fn admit<M: Machine>(house: &House<M>, token: &str) -> Result<Guest, Close> {
    if house.players_max <= house.switchboard.count().0 {
        return Err(Close::Full);
    }
    house.keeper.admit(token)
}

/// Sends what waits, until the mailbox is closed. A long snapshot of one zone does not hold up another's beacons.
pub(crate) async fn write(mut sender: Sender, mailbox: Mailbox) {
    let mut sent = Instant::now() - Duration::from_secs(1);
    let why = loop {
        let batch = match mailbox.next(sent).await {
            Ok(batch) => batch,
            Err(why) => break why,
        };
        sent = Instant::now();
        let overtaker = sender.overtaker();
        let sending = sender.send(batch);
        tokio::pin!(sending);
        let result = loop {
            tokio::select! {
                result = &mut sending => break result,
                why = mailbox.until_closed() => break Err(why),
                latest = mailbox.overtaking(), if overtaker.is_some() => {
                    let Some(connection) = &overtaker else { continue };
                    let (large, lost) = overtake(connection, latest);
                    large.into_iter().for_each(|it| mailbox.sure(it));
                    mailbox.lost(lost);
                }
            }
        };
        match result {
            Ok(lost) => mailbox.lost(lost),
            Err(why) => {
                mailbox.close(why);
                break why;
            }
        }
    };
    sender.close(why).await;
}

struct Reader<'a, M: Machine> {
    house: &'a House<M>,
    guest: Guest,
    mailbox: Mailbox,
    messages: Bucket,
    bytes: Bucket,
    permits: Arc<Semaphore>,
}

impl<'a, M: Machine> Reader<'a, M>
where
    M::Msg: Message,
{
    fn new(house: &'a House<M>, guest: Guest, mailbox: Mailbox) -> Self {
        Self {
            house,
            guest,
            mailbox,
            messages: Bucket::new(MESSAGES.0, MESSAGES.1),
            bytes: Bucket::new(BYTES.0, BYTES.1),
            permits: Arc::new(Semaphore::new(WAITING_MAX)),
        }
    }

    async fn read(&mut self, mut receiver: Receiver, mut assembler: Assembler) -> Close {
        loop {
            while let Some(body) = match assembler.body() {
                Ok(body) => body,
                Err(_) => return Close::Protocol,
            } {
                if let Err(why) = self.take(body, true).await {
                    return why;
                }
            }
            match self.next(&mut receiver).await {
                Ok(Arrival::Stream(bytes)) => assembler.push(&bytes),
                Ok(Arrival::Whole(bytes)) if bytes.is_empty() && matches!(receiver, Receiver::Socket(_)) => {
                    self.pay(0).await;
                }
                Ok(Arrival::Whole(bytes)) => {
                    let sure = matches!(receiver, Receiver::Socket(_));
                    let Ok(bodies) = frame::bodies(&bytes, PLAYER_FRAME_MAX) else { return Close::Protocol };
                    for body in bodies {
                        if let Err(why) = self.take(body, sure).await {
                            return why;
                        }
                    }
                }
                Err(why) => return why,
            }
        }
    }

    /// Waits for what arrives next, and over WebSocket not for ever. QUIC notices by itself that nobody is there.
    async fn next(&self, receiver: &mut Receiver) -> Result<Arrival, Close> {
        if !matches!(receiver, Receiver::Socket(_)) {
            return receiver.next().await;
        }
        if let Ok(arrival) = timeout(ASKED_AFTER, receiver.next()).await {
            return arrival;
        }
        self.mailbox.sure(frame::control(&Control::Ping(0)));
        self.mailbox.ring();
        timeout(GONE_AFTER - ASKED_AFTER, receiver.next()).await.unwrap_or(Err(Close::Gone))
    }

    /// Takes a body. One that must arrive is read later if there are too many; any other is dropped then.
    async fn take(&mut self, body: Bytes, sure: bool) -> Result<(), Close> {
        if sure {
            self.pay(body.len()).await;
        } else if !self.messages.try_take(1.0) || !self.bytes.try_take(body.len() as f64) {
            metric::thinned();
            return Ok(());
        }
        let (zone, message) = frame::open(&body).map_err(|_| Close::Protocol)?;
        if zone == frame::CONTROL {
            return self.on_control(message);
        }
        let msg = M::Msg::decode(message).map_err(|_| Close::Protocol)?;
        if !self.house.keeper.permits(&self.guest, &msg) {
            return Err(Close::Protocol);
        }
        let Some(handle) = self.house.switchboard.zone(zone) else { return Ok(()) };
        let permit = match sure {
            true => self.permits.clone().acquire_owned().await.ok(),
            false => self.permits.clone().try_acquire_owned().ok(),
        };
        if permit.is_some() {
            handle.say(Inbound::Recv(address::player(self.guest.player), self.mailbox.id(), msg, permit));
        }
        Ok(())
    }

    /// Counts a message of so many bytes, and waits until there may be another.
    async fn pay(&mut self, bytes: usize) {
        let waits = [self.messages.take(1.0), self.bytes.take(bytes as f64)];
        if let Some(wait) = waits.into_iter().flatten().max() {
            tokio::time::sleep(wait).await;
        }
    }

    fn on_control(&self, message: &[u8]) -> Result<(), Close> {
        match frame::open_control(message) {
            Ok(Control::Ping(number)) => {
                self.mailbox.sure(frame::control(&Control::Pong(number)));
                self.mailbox.ring();
                Ok(())
            }
            Ok(Control::Pong(_)) => Ok(()),
            _ => Err(Close::Protocol),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipe::SocketMessage;
    use futures_util::{StreamExt as _, sink, stream};
    use machine::{Input, Outbox, Time};
    use tokio::sync::mpsc;
    use wire::DecodeError;

    #[derive(Clone, Debug)]
    struct Word;

    impl Message for Word {
        fn encode(&self, _: &mut Vec<u8>) {}

        fn decode(_: &[u8]) -> Result<Self, DecodeError> {
            Ok(Self)
        }
    }

    struct Nothing;

    impl Machine for Nothing {
        type Msg = Word;
        type Command = ();
        type Event = ();

        fn handle(&mut self, _: Time, _: Input<Word, ()>, _: &mut Outbox<Word, ()>) {}

        fn deadline(&self) -> Option<Time> {
            None
        }
    }

    struct Open;

    impl Keeper<Word> for Open {
        fn admit(&self, _: &str) -> Result<Guest, Close> {
            Ok(Guest { player: 1, session: 1, name: "guest".to_owned() })
        }

        fn permits(&self, _: &Guest, _: &Word) -> bool {
            true
        }
    }

    /// For how long, and whether still after an hour, a player is there who comes by WebSocket and then says only what
    /// `answer` says to each message. Time flies while everybody waits.
    async fn stayed(answer: impl Fn(&Bytes) -> Option<Bytes> + Send + 'static) -> (u64, bool) {
        let switchboard = Switchboard::<Nothing>::new(1);
        let house = Arc::new(House { host: 1, switchboard, keeper: Box::new(Open), players_max: 1 });
        let hello = Control::Hello { version: VERSION, token: String::new() };
        let (say, mut said) = mpsc::unbounded_channel();
        say.send(frame::control(&hello)).unwrap();
        let heard = sink::unfold((), move |(), message: SocketMessage| {
            if let SocketMessage::Frames(frames) = message
                && let Some(answer) = answer(&frames)
            {
                say.send(answer).unwrap();
            }
            std::future::ready(Ok(()))
        });
        let said = stream::poll_fn(move |context| said.poll_recv(context)).map(Ok);
        let (sender, receiver) = (Sender::Socket(Box::pin(heard)), Receiver::Socket(Box::pin(said)));
        let began = Instant::now();
        drop(timeout(Duration::from_secs(3_600), serve(house.clone(), sender, receiver, ())).await);
        (began.elapsed().as_secs(), house.switchboard.is_connected(Peer::Player(1)))
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_vanishes_is_missed_over_web_socket_too() {
        assert_eq!(stayed(|_| None).await, (GONE_AFTER.as_secs(), false));
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_answers_stays() {
        let pong = |heard: &Bytes| {
            let asked = *heard == frame::control(&Control::Ping(0));
            asked.then(|| frame::control(&Control::Pong(0)))
        };
        assert_eq!(stayed(pong).await, (3_600, true));
    }
}
