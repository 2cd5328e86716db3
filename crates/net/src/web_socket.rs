//! Players who connect by WebSocket, at a host: frames that arrive are checked and handed to zones, queued frames are sent.
//!
//! All of it happens on tasks beside the reactors: TCP where UDP is blocked, and not the fast way.

use crate::close::Close;
use crate::frame::{self, Assembler, Control, PLAYER_FRAME_MAX, VERSION};
use crate::host_context::{
    AuthenticatedClient, HELLO_MAX, HELLO_TIMEOUT, HostContext, PlayerAllowance, on_player_control,
};
use crate::link_router::RemoteEnd;
use crate::pipe::{MessageSink, MessageStream, SocketMessage, TransportKind, close_socket, write};
use crate::send_queue::{SendLimits, SendQueue};
use crate::worker::Inbound;
use crate::{address, metric};
use axum::extract::ws::{CloseFrame, Message as WebMessage, WebSocket};
use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use machine::Machine;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use wire::Message;

/// First of WebSocket's close codes for private use; our reasons follow it.
pub const SOCKET_CODES: u16 = 4_000;

/// A client that is silent over WebSocket for this long is sent a ping, because TCP alone would not notice for hours
/// that it is gone. Clients ping every second, but a browser lets a hidden page do so only once a minute. It always
/// lets the page answer.
const PING_AFTER: Duration = Duration::from_secs(5);
/// Silence after which a client over WebSocket counts as gone. More than QUIC's 5 seconds, because a TCP segment that
/// must be sent again holds up everything behind it.
const GONE_AFTER: Duration = Duration::from_secs(10);

/// The most messages of one player that may wait in zones.
const WAITING_MAX: usize = 64;

/// Serves a player who connected by WebSocket from this address.
pub async fn serve_socket<M: Machine>(socket: WebSocket, from: IpAddr, context: Arc<HostContext<M>>)
where
    M::Msg: Message + Send,
    M::Command: Send,
{
    // `serve` reads frames and knows nothing about axum; these two adapters are all that does.
    let (sink, stream) = socket.split();
    let sink: MessageSink = Box::pin(
        sink.with(|it| std::future::ready(Ok::<_, axum::Error>(outgoing(it)))).sink_map_err(|_| Close::Gone),
    );
    let stream: MessageStream = Box::pin(stream.map(|it| match it {
        Ok(WebMessage::Binary(bytes)) if bytes.is_empty() => Err(Close::Protocol),
        Ok(WebMessage::Binary(bytes)) => Ok(bytes),
        // The library answers a ping. It is passed on empty, so that it still counts against the player's rate.
        Ok(WebMessage::Ping(_) | WebMessage::Pong(_)) => Ok(Bytes::new()),
        Ok(WebMessage::Text(_)) => Err(Close::Protocol),
        Ok(WebMessage::Close(_)) | Err(_) => Err(Close::Gone),
    }));
    match context.router.connection_limits().reserve(from) {
        Some(slot) => serve(context, sink, stream, slot).await,
        None => {
            metric::refused(Close::Full);
            close_socket(sink, Close::Full).await;
        }
    }
}

fn outgoing(it: SocketMessage) -> WebMessage {
    match it {
        SocketMessage::Frames(bytes) => WebMessage::Binary(bytes),
        SocketMessage::End(why) => {
            let code = SOCKET_CODES + why.code() as u16;
            WebMessage::Close(Some(CloseFrame { code, reason: why.reason().into() }))
        }
    }
}

/// Serves a connection until it ends. `slot` is dropped as soon as the client has shown a valid token.
async fn serve<M: Machine>(
    context: Arc<HostContext<M>>,
    sink: MessageSink,
    mut stream: MessageStream,
    slot: impl Send,
) where
    M::Msg: Message + Send,
    M::Command: Send,
{
    let transport = TransportKind::WebSocket;
    let mut assembler = Assembler::new(HELLO_MAX);
    let admitted = match timeout(HELLO_TIMEOUT, hello(&mut stream, &mut assembler)).await {
        Ok(Ok(token)) => context.admit(&token),
        Ok(Err(why)) => Err(why),
        Err(_) => Err(Close::Refused), // No token in time counts like a wrong one.
    };
    let client = match admitted {
        Ok(client) => client,
        Err(why) => {
            metric::refused(why);
            return close_socket(sink, why).await;
        }
    };
    let queue = SendQueue::new(SendLimits::PLAYERS);
    let zones = context.router.known_zones();
    // The welcome is queued before the links exist: no zone's message can come before it.
    queue.sure(frame::control(&Control::Welcome { host: context.host, zones }));
    let remote = RemoteEnd::Player(client.player);
    if let Err(why) = context.router.connect(remote, client.session, &queue, Vec::new()) {
        metric::refused(why);
        return close_socket(sink, why).await;
    }
    drop(slot);
    metric::connected(transport, 1.0);
    tracing::debug!(
        player = client.player,
        name = client.name,
        transport = transport.name(),
        "player connected"
    );
    let writer = tokio::spawn(write(sink, queue.clone()));
    let mut reader = SocketReader::new(&context, client, queue.clone());
    let why = tokio::select! {
        why = reader.read(stream, assembler.with_limit(PLAYER_FRAME_MAX)) => why,
        why = queue.until_closed() => why,
    };
    // Closed before it is disconnected, so that no zone queues frames for a connection without a reader.
    queue.close(why);
    context.router.disconnect(remote, &queue);
    drop(writer.await);
    metric::connected(transport, -1.0);
    metric::ended(why);
    tracing::debug!(player = reader.client.player, ?why, "player disconnected");
}

async fn hello(stream: &mut MessageStream, assembler: &mut Assembler) -> Result<String, Close> {
    loop {
        assembler.push(&stream.next().await.unwrap_or(Err(Close::Gone))?);
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

struct SocketReader<'a, M: Machine> {
    context: &'a HostContext<M>,
    client: AuthenticatedClient,
    queue: SendQueue,
    allowance: PlayerAllowance,
    permits: Arc<Semaphore>,
}

impl<'a, M: Machine> SocketReader<'a, M>
where
    M::Msg: Message,
{
    fn new(context: &'a HostContext<M>, client: AuthenticatedClient, queue: SendQueue) -> Self {
        let permits = Arc::new(Semaphore::new(WAITING_MAX));
        Self { context, client, queue, allowance: PlayerAllowance::default(), permits }
    }

    async fn read(&mut self, mut stream: MessageStream, mut assembler: Assembler) -> Close {
        loop {
            // Frames that came with the token.
            while let Some(body) = match assembler.body() {
                Ok(body) => body,
                Err(_) => return Close::Protocol,
            } {
                if let Err(why) = self.take(body).await {
                    return why;
                }
            }
            match self.next(&mut stream).await {
                // An empty message stands for a ping (see `serve_socket`): it costs allowance like any other.
                Ok(bytes) if bytes.is_empty() => self.pay(0).await,
                Ok(bytes) => {
                    let Ok(bodies) = frame::bodies(&bytes, PLAYER_FRAME_MAX) else { return Close::Protocol };
                    for body in bodies {
                        if let Err(why) = self.take(body).await {
                            return why;
                        }
                    }
                }
                Err(why) => return why,
            }
        }
    }

    /// Waits for the next message, but not for ever.
    async fn next(&self, stream: &mut MessageStream) -> Result<Bytes, Close> {
        if let Ok(arrival) = timeout(PING_AFTER, stream.next()).await {
            return arrival.unwrap_or(Err(Close::Gone));
        }
        // The queue may be full of frames that a dead client never reads; the second timeout does not depend on it.
        self.queue.sure(frame::control(&Control::Ping(0)));
        self.queue.wake();
        match timeout(GONE_AFTER - PING_AFTER, stream.next()).await {
            Ok(Some(arrival)) => arrival,
            Ok(None) | Err(_) => Err(Close::Gone),
        }
    }

    /// Handles a frame. Above the rate, the reader waits, which slows the player down.
    async fn take(&mut self, body: Bytes) -> Result<(), Close> {
        self.pay(body.len()).await;
        let (zone, message) = frame::open(&body).map_err(|_| Close::Protocol)?;
        if zone == frame::CONTROL {
            return on_player_control(&self.queue, message);
        }
        let msg = M::Msg::decode(message).map_err(|_| Close::Protocol)?;
        if !self.context.authenticator.permits(&self.client, &msg) {
            return Err(Close::Protocol);
        }
        let Some(handle) = self.context.router.zone(zone) else { return Ok(()) }; // The zone is being started again.
        // Waiting for a permit stops reading, so that a player who floods a zone only blocks themself.
        let permit = self.permits.clone().acquire_owned().await.ok();
        handle.send(Inbound::Recv(address::player(self.client.player), self.queue.id(), msg, permit));
        Ok(())
    }

    /// Counts a message of this many bytes, and waits until the player may send another.
    async fn pay(&mut self, bytes: usize) {
        if let Some(wait) = self.allowance.pay(bytes) {
            tokio::time::sleep(wait).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host_context::Authenticator;
    use crate::link_router::LinkRouter;
    use futures_util::{sink, stream};
    use machine::{Input, Outbox, Time};
    use tokio::sync::mpsc;
    use tokio::time::Instant;
    use wire::DecodeError;

    #[derive(Clone, Debug)]
    struct EmptyMsg;

    impl Message for EmptyMsg {
        fn encode(&self, _: &mut Vec<u8>) {}

        fn decode(_: &[u8]) -> Result<Self, DecodeError> {
            Ok(Self)
        }
    }

    struct IdleMachine;

    impl Machine for IdleMachine {
        type Msg = EmptyMsg;
        type Command = ();
        type Event = ();

        fn handle(&mut self, _: Time, _: Input<EmptyMsg, ()>, _: &mut Outbox<EmptyMsg, ()>) {}

        fn deadline(&self) -> Option<Time> {
            None
        }
    }

    struct AdmitAll;

    impl Authenticator<EmptyMsg> for AdmitAll {
        fn admit(&self, _: &str) -> Result<AuthenticatedClient, Close> {
            Ok(AuthenticatedClient { player: 1, session: 1, name: "player".to_owned() })
        }

        fn permits(&self, _: &AuthenticatedClient, _: &EmptyMsg) -> bool {
            true
        }
    }

    /// Serves a player over WebSocket who answers each message with `answer`. Returns the seconds until the connection
    /// ended and whether it was still there after an hour. Time is paused, so it passes while all tasks wait.
    async fn serve_socket_player(answer: impl Fn(&Bytes) -> Option<Bytes> + Send + 'static) -> (u64, bool) {
        let router = LinkRouter::<IdleMachine>::new(1);
        let context =
            Arc::new(HostContext { host: 1, router, authenticator: Box::new(AdmitAll), players_max: 1 });
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
        let (sink, stream): (MessageSink, MessageStream) = (Box::pin(heard), Box::pin(said));
        let began = Instant::now();
        drop(timeout(Duration::from_secs(3_600), serve(context.clone(), sink, stream, ())).await);
        (began.elapsed().as_secs(), context.router.is_connected(RemoteEnd::Player(1)))
    }

    #[tokio::test(start_paused = true)]
    async fn a_vanished_player_is_noticed_over_web_socket_too() {
        assert_eq!(serve_socket_player(|_| None).await, (GONE_AFTER.as_secs(), false));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_without_a_whole_token_is_closed_and_holds_nothing() {
        let hello = frame::control(&Control::Hello { version: VERSION, token: "A".repeat(100) });
        // An empty message stands for a ping, which counts as nothing.
        for said in [Bytes::new(), hello.slice(..50)] {
            let router = LinkRouter::<IdleMachine>::new(1);
            let context =
                Arc::new(HostContext { host: 1, router, authenticator: Box::new(AdmitAll), players_max: 1 });
            let first = stream::iter([Ok(said)]);
            let pings = stream::unfold((), async |()| {
                tokio::time::sleep(Duration::from_millis(100)).await;
                Some((Ok(Bytes::new()), ()))
            });
            let sink: MessageSink = Box::pin(sink::drain().sink_map_err(|_| Close::Gone));
            let slot = context.router.connection_limits().reserve(IpAddr::from([192, 0, 2, 7])).unwrap();
            let began = Instant::now();
            let stream: MessageStream = Box::pin(first.chain(pings));
            drop(timeout(Duration::from_secs(60), serve(context.clone(), sink, stream, slot)).await);
            assert_eq!(began.elapsed().as_secs(), HELLO_TIMEOUT.as_secs());
            assert_eq!(context.router.connection_limits().unauthenticated(), 0);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_player_who_answers_pings_stays_connected() {
        let pong = |heard: &Bytes| {
            let is_ping = *heard == frame::control(&Control::Ping(0));
            is_ping.then(|| frame::control(&Control::Pong(0)))
        };
        assert_eq!(serve_socket_player(pong).await, (3_600, true));
    }
}
