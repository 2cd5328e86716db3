//! A node of either kind, for drivers that run both.

use crate::{ClientNode, NodeMsg, ReplicaNode};
use machine::{Input, Machine, Outbox, Time};
use zone::{PlayerCommand, PlayerEvent, ReplicaCommand, ReplicaEvent};

/// The machine of a replica or of a client.
pub enum Node {
    /// A zone's replica on a host, with its carrier.
    Host(Box<ReplicaNode>),
    /// The machine of a player.
    Client(Box<ClientNode>),
}

/// A command of the program that runs a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeCommand {
    /// A command to a host's replica.
    Host(ReplicaCommand),
    /// A command to a client's player.
    Client(PlayerCommand),
}

/// An event of a node for the program that runs it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeEvent {
    /// An event of a host's replica.
    Host(ReplicaEvent),
    /// An event of a client's player.
    Client(PlayerEvent),
}

impl Node {
    /// The replica's machine, if it is one.
    pub const fn host(&self) -> Option<&ReplicaNode> {
        match self {
            Self::Host(host) => Some(host),
            Self::Client(_) => None,
        }
    }

    /// The client, if it is one.
    pub const fn client(&self) -> Option<&ClientNode> {
        match self {
            Self::Client(client) => Some(client),
            Self::Host(_) => None,
        }
    }

    /// The client's machine, if it is one, for changes by its program.
    pub const fn client_mut(&mut self) -> Option<&mut ClientNode> {
        match self {
            Self::Client(client) => Some(client),
            Self::Host(_) => None,
        }
    }
}

impl Machine for Node {
    type Msg = NodeMsg;
    type Command = NodeCommand;
    type Event = NodeEvent;

    fn handle(
        &mut self,
        now: Time,
        input: Input<NodeMsg, NodeCommand>,
        out: &mut Outbox<NodeMsg, NodeEvent>,
    ) {
        match self {
            Self::Host(host) => {
                let Some(input) = narrowed(input, |it| match it {
                    NodeCommand::Host(command) => Some(command),
                    NodeCommand::Client(_) => None,
                }) else {
                    return;
                };
                let mut part = Outbox::new();
                host.handle(now, input, &mut part);
                out.absorb(&mut part, |msg| msg, |event| Some(NodeEvent::Host(event)));
            }
            Self::Client(client) => {
                let Some(input) = narrowed(input, |it| match it {
                    NodeCommand::Client(command) => Some(command),
                    NodeCommand::Host(_) => None,
                }) else {
                    return;
                };
                let mut part = Outbox::new();
                client.handle(now, input, &mut part);
                out.absorb(&mut part, |msg| msg, |event| Some(NodeEvent::Client(event)));
            }
        }
    }

    fn deadline(&self) -> Option<Time> {
        match self {
            Self::Host(host) => host.deadline(),
            Self::Client(client) => client.deadline(),
        }
    }
}

/// The input with its command narrowed to one kind; `None` for a command of the other kind, which is dropped.
fn narrowed<C>(
    input: Input<NodeMsg, NodeCommand>,
    narrow: impl FnOnce(NodeCommand) -> Option<C>,
) -> Option<Input<NodeMsg, C>> {
    Some(match input {
        Input::Command(command) => Input::Command(narrow(command)?),
        Input::LinkUp { peer, link } => Input::LinkUp { peer, link },
        Input::LinkDown { peer, link } => Input::LinkDown { peer, link },
        Input::Recv { from, link, msg } => Input::Recv { from, link, msg },
        Input::Wake => Input::Wake,
    })
}
