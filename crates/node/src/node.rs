//! Either kind of node, for drivers that run both.

use crate::{Client, Host, NodeMsg};
use machine::{Input, Machine, Outbox, Time};
use zone::{Command, Event, Happening, Want};

/// A host or a client.
pub enum Node {
    /// Servers.
    Host(Box<Host>),
    /// Players.
    Client(Box<Client>),
}

/// What an owner says to a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeCommand {
    /// To a host.
    Host(Command),
    /// To a client.
    Client(Want),
}

/// What a node says to its owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeEvent {
    /// From a host.
    Host(Event),
    /// From a client.
    Client(Happening),
}

impl Node {
    /// The host, if it is one.
    pub const fn host(&self) -> Option<&Host> {
        match self {
            Self::Host(host) => Some(host),
            Self::Client(_) => None,
        }
    }

    /// The client, if it is one.
    pub const fn client(&self) -> Option<&Client> {
        match self {
            Self::Client(client) => Some(client),
            Self::Host(_) => None,
        }
    }

    /// The client, if it is one, to take its will away.
    pub const fn client_mut(&mut self) -> Option<&mut Client> {
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
                    NodeCommand::Client(want) => Some(want),
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

/// An input whose command is of the right kind; a command of the wrong kind is nobody's.
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
