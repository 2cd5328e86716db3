//! The TCP connections of a web port: how many there are, and which one is closed when a newcomer finds no place.
//!
//! A place is worth something only while a request is under way, or while it is a WebSocket. So an idle connection never
//! keeps a newcomer out, and with equal needs an address group that holds much gives way to one that holds little. This
//! module decides and does no I/O; `web` serves the connections.

use net::address_groups::{address_group, address_site};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The places of a web port, and the connections that have them.
pub struct HttpConnections {
    places: usize,
    /// The most connections of an address group; a site may have twice as many.
    each: usize,
    proxies: Vec<IpAddr>,
    table: Mutex<ConnectionTable>,
}

/// A connection's place. A WebSocket takes it along, because it outlives its request. Dropping it makes the place free.
pub struct ConnectionPlace {
    connections: Arc<HttpConnections>,
    number: u64,
    /// The address group that the connection counts for; `None` for a proxy.
    group: Option<IpAddr>,
    closing: Arc<Notify>,
}

/// A request that is under way. Its connection is idle again when this is dropped.
pub struct RequestUnderWay(Arc<ConnectionPlace>);

#[derive(Default)]
struct ConnectionTable {
    /// Counts connections and changes of what they do: a lower number is an earlier one.
    last: u64,
    open: BTreeMap<u64, OpenConnection>,
    groups: BTreeMap<IpAddr, GroupConnections>,
}

struct OpenConnection {
    group: Option<IpAddr>,
    closing: Arc<Notify>,
    use_: ConnectionUse,
}

/// What a connection does, and since when, as numbered by [`ConnectionTable::last`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionUse {
    /// It waits for a request.
    Idle(u64),
    /// Its request is under way.
    Busy(u64),
    /// It has become a WebSocket.
    WebSocket,
}

/// The connections of an address group that may be closed for a newcomer, the one that is so for longest first, and the
/// number of all of them.
#[derive(Default)]
struct GroupConnections {
    all: usize,
    idle: BTreeSet<(u64, u64)>,
    busy: BTreeSet<(u64, u64)>,
}

impl HttpConnections {
    /// No connections yet. An address group may have `each` of the places, a proxy all of them.
    pub fn new(places: usize, each: usize, proxies: Vec<IpAddr>) -> Arc<Self> {
        Arc::new(Self { places, each, proxies, table: Mutex::default() })
    }

    /// Gives a new connection a place. If its address group or site has the most it may have, or if all places are taken,
    /// another connection is closed for it; `None` if none may be.
    pub fn admit(self: &Arc<Self>, from: IpAddr) -> Option<Arc<ConnectionPlace>> {
        let is_proxy = self.proxies.iter().any(|it| it.to_canonical() == from.to_canonical());
        let group = (!is_proxy).then(|| address_group(from));
        let mut table = self.table();
        while let Some(full) = self.full(&table, group) {
            let victim = table.victim(full, group)?;
            table.close(victim);
        }
        let (number, closing) = table.insert(group);
        Some(Arc::new(ConnectionPlace { connections: self.clone(), number, group, closing }))
    }

    /// Returns what is full for a newcomer of this address group.
    fn full(&self, table: &ConnectionTable, group: Option<IpAddr>) -> Option<FullPart> {
        if let Some(group) = group {
            if self.each <= table.count(group) {
                return Some(FullPart::Group(group));
            }
            let site = address_site(group);
            if 2 * self.each <= table.site(site).map(|it| it.1.all).sum::<usize>() {
                return Some(FullPart::Site(site));
            }
        }
        (self.places <= table.open.len()).then_some(FullPart::Port)
    }

    fn table(&self) -> MutexGuard<'_, ConnectionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part of a web port that has no place for a newcomer.
#[derive(Clone, Copy)]
enum FullPart {
    Group(IpAddr),
    Site(IpAddr),
    Port,
}

impl ConnectionTable {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn count(&self, group: IpAddr) -> usize {
        self.groups.get(&group).map_or(0, |it| it.all)
    }

    /// The address groups of a site.
    fn site(&self, site: IpAddr) -> impl Iterator<Item = (&IpAddr, &GroupConnections)> {
        // The site is its own first group.
        self.groups.range(site..).take_while(move |it| address_site(*it.0) == site)
    }

    /// The connection to close for a newcomer: of the address group with the most connections, the one that is idle for
    /// longest. If no connection is idle, a request is ended, but only that of a group that has more than the newcomer's
    /// would have.
    fn victim(&self, full: FullPart, newcomer: Option<IpAddr>) -> Option<u64> {
        let groups: Vec<&GroupConnections> = match full {
            FullPart::Group(group) => self.groups.get(&group).into_iter().collect(),
            FullPart::Site(site) => self.site(site).map(|it| it.1).collect(),
            FullPart::Port => self.groups.values().collect(),
        };
        let largest = |it: &&&GroupConnections| it.all;
        let idle = groups.iter().filter(|it| !it.idle.is_empty()).max_by_key(largest);
        if let Some(idle) = idle.and_then(|it| it.idle.first()) {
            return Some(idle.1);
        }
        let after = newcomer.map_or(0, |it| self.count(it)) + 1;
        let busy = groups.iter().filter(|it| !it.busy.is_empty() && after < it.all).max_by_key(largest);
        busy.and_then(|it| it.busy.first()).map(|it| it.1)
    }

    fn insert(&mut self, group: Option<IpAddr>) -> (u64, Arc<Notify>) {
        let (number, closing) = (self.next(), Arc::new(Notify::new()));
        let use_ = ConnectionUse::Idle(number);
        self.open.insert(number, OpenConnection { group, closing: closing.clone(), use_ });
        if let Some(group) = group {
            let group = self.groups.entry(group).or_default();
            group.all += 1;
            group.list(number, use_);
        }
        (number, closing)
    }

    fn set_use(&mut self, number: u64, use_: ConnectionUse) {
        let Some(it) = self.open.get_mut(&number) else { return };
        let before = std::mem::replace(&mut it.use_, use_);
        if let Some(group) = it.group.and_then(|it| self.groups.get_mut(&it)) {
            group.unlist(number, before);
            group.list(number, use_);
        }
    }

    fn close(&mut self, number: u64) {
        if let Some(closing) = self.remove(number) {
            closing.notify_one();
        }
    }

    /// Makes a place free. Does nothing if it is free already.
    fn remove(&mut self, number: u64) -> Option<Arc<Notify>> {
        let it = self.open.remove(&number)?;
        if let Some(address_group) = it.group
            && let Some(group) = self.groups.get_mut(&address_group)
        {
            group.unlist(number, it.use_);
            group.all -= 1;
            if group.all == 0 {
                self.groups.remove(&address_group);
            }
        }
        Some(it.closing)
    }
}

impl GroupConnections {
    fn list(&mut self, number: u64, use_: ConnectionUse) {
        match use_ {
            ConnectionUse::Idle(since) => _ = self.idle.insert((since, number)),
            ConnectionUse::Busy(since) => _ = self.busy.insert((since, number)),
            ConnectionUse::WebSocket => (),
        }
    }

    fn unlist(&mut self, number: u64, use_: ConnectionUse) {
        match use_ {
            ConnectionUse::Idle(since) => _ = self.idle.remove(&(since, number)),
            ConnectionUse::Busy(since) => _ = self.busy.remove(&(since, number)),
            ConnectionUse::WebSocket => (),
        }
    }
}

impl ConnectionPlace {
    /// Returns whether a proxy is at the other end, whose connections carry the requests of many.
    pub fn is_of_proxy(&self) -> bool {
        self.group.is_none()
    }

    /// Waits until the connection must be closed for a newcomer.
    pub async fn closing(&self) {
        self.closing.notified().await;
    }

    /// A request arrived.
    pub fn begin_request(self: &Arc<Self>) -> RequestUnderWay {
        let mut table = self.connections.table();
        let since = table.next();
        table.set_use(self.number, ConnectionUse::Busy(since));
        RequestUnderWay(self.clone())
    }

    /// The connection becomes a WebSocket, which is not closed for a newcomer: a host limits those itself, by their tokens.
    pub fn begin_web_socket(&self) {
        self.connections.table().set_use(self.number, ConnectionUse::WebSocket);
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.connections.table().remove(self.number);
    }
}

impl Drop for RequestUnderWay {
    fn drop(&mut self) {
        let mut table = self.0.connections.table();
        let since = table.next();
        if table.open.get(&self.0.number).is_some_and(|it| it.use_ != ConnectionUse::WebSocket) {
            table.set_use(self.0.number, ConnectionUse::Idle(since));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv6Addr;

    const PLACES: usize = 64;
    const EACH: usize = 16;

    fn connections(proxies: &[&str]) -> Arc<HttpConnections> {
        HttpConnections::new(PLACES, EACH, proxies.iter().map(|it| it.parse().unwrap()).collect())
    }

    fn at(address: &str) -> IpAddr {
        address.parse().unwrap()
    }

    /// Connections of four addresses, which take all places.
    fn four_addresses(connections: &Arc<HttpConnections>) -> Vec<Arc<ConnectionPlace>> {
        let from = |it: usize| IpAddr::from([10, 0, 0, (it % 4) as u8]);
        (0..PLACES).map(|it| connections.admit(from(it)).unwrap()).collect()
    }

    /// The connections that were closed for others, by their place in a list.
    fn closed(connections: &Arc<HttpConnections>, list: &[Arc<ConnectionPlace>]) -> Vec<usize> {
        let table = connections.table();
        (0..list.len()).filter(|&it| !table.open.contains_key(&list[it].number)).collect()
    }

    #[test]
    fn idle_connections_never_keep_a_newcomer_out() {
        let connections = connections(&[]);
        let held = four_addresses(&connections);
        let one = connections.admit(at("192.0.2.1")).expect("a place");
        let other = connections.admit(at("2001:db8::1")).expect("a place");
        assert_eq!(closed(&connections, &held).len(), 2);
        let newcomers = [one, other];
        assert!(closed(&connections, &newcomers).is_empty());
        assert_eq!(connections.table().open.len(), PLACES);
    }

    #[test]
    fn the_largest_group_gives_way_with_the_connection_that_is_idle_for_longest() {
        let connections = connections(&[]);
        let small: Vec<_> = (0..PLACES - 10)
            .map(|it| connections.admit(IpAddr::from([10, 0, 1, it as u8])).unwrap())
            .collect();
        let large: Vec<_> = (0..10).map(|_| connections.admit(at("10.0.0.1")).unwrap()).collect();
        drop(large[0].begin_request()); // It was idle for longest, and is not any more.
        let _under_way = large[1].begin_request();
        let _newcomer = connections.admit(at("192.0.2.1")).unwrap();
        assert!(closed(&connections, &small).is_empty());
        assert_eq!(closed(&connections, &large), [2]);
    }

    #[test]
    fn a_group_that_has_all_it_may_gives_up_its_own() {
        let connections = connections(&[]);
        let from = |it: u16| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, it, 0, 0, 0, 1));
        // 256 networks of one home.
        let home: Vec<_> = (0..256).map(|it| connections.admit(from(it)).unwrap()).collect();
        assert_eq!(connections.table().open.len(), EACH);
        assert_eq!(closed(&connections, &home), (0..256 - EACH).collect::<Vec<_>>());
        // The other homes of the site have as much again, and take it from one another.
        let site: Vec<_> = (1..256).map(|it| connections.admit(from(it << 8)).unwrap()).collect();
        assert_eq!(connections.table().open.len(), 2 * EACH);
        assert!(closed(&connections, &site).len() < site.len());
        assert!(connections.admit(at("192.0.2.1")).is_some());
    }

    #[test]
    fn requests_of_a_few_addresses_give_way_and_web_sockets_do_not() {
        let connections = connections(&[]);
        let held = four_addresses(&connections);
        let under_way: Vec<_> = held.iter().map(|it| it.begin_request()).collect();
        let newcomer = connections.admit(at("192.0.2.1")).expect("those of a few addresses give way");
        assert_eq!(closed(&connections, &held).len(), 1);
        let _request = newcomer.begin_request();
        assert!(connections.admit(at("10.0.0.1")).is_none(), "with as many each, requests are not ended");
        held.iter().for_each(|it| it.begin_web_socket());
        drop(under_way);
        assert!(connections.admit(at("192.0.2.2")).is_none());
        drop(held);
        assert!(connections.admit(at("192.0.2.2")).is_some());
    }

    #[test]
    fn a_proxy_has_no_limit_of_its_own_and_is_not_closed_for_others() {
        let connections = connections(&["10.0.0.1"]);
        let proxy: Vec<_> = (0..PLACES).map(|_| connections.admit(at("::ffff:10.0.0.1")).unwrap()).collect();
        assert!(proxy.iter().all(|it| it.is_of_proxy()));
        assert!(connections.admit(at("192.0.2.7")).is_none());
        drop(proxy);
        let group: Vec<_> = (0..EACH).map(|_| connections.admit(at("192.0.2.7")).unwrap()).collect();
        assert!(closed(&connections, &group).is_empty());
        drop(group);
        let table = connections.table();
        assert!(table.open.is_empty() && table.groups.is_empty(), "what is closed is forgotten");
    }
}
