//! Cycles of dependencies: the smallest ones of each kind.
//!
//! Whether cycles of a class are there at all is decided by strongly connected components, in linear
//! time: of `ww` (G0), of `ww` and `wr` (G1c), of all without two adjacent anti-dependencies (what
//! snapshot isolation forbids), and of all (what serializability forbids). The smallest cycle through
//! each edge that lies in such a component is then searched for by breadth, within a budget.

use std::collections::HashSet;

use crate::anomaly::{Anomaly, Kind, Order};
use crate::graph::{ALONE, Arc, Edges, Graph, Kinds, Marks, Nonadjacent, Plain, components};
use crate::history::{Fate, Model, index};
use crate::recency::sessions;
use crate::report::{EdgeKind, Findings, Link};
use crate::versions::Versions;

const WW: Kinds = Kinds::of(&[EdgeKind::Ww]);
const FLOW: Kinds = Kinds::of(&[EdgeKind::Ww, EdgeKind::Wr]);
const ITEMS: Kinds = FLOW.and(Kinds::of(&[EdgeKind::Rw]));
const ALL: Kinds = ITEMS.and(Kinds::of(&[EdgeKind::PredicateRw]));
/// Visits of nodes by all searches of one check.
const BUDGET: u64 = 30_000_000;

/// Finds the cycles that need no more than this order; whether some were left uncounted.
pub(crate) fn find(versions: &Versions<'_>, order: Order, findings: &mut Findings<'_>) -> bool {
    let mut budget = BUDGET;
    let orders = [Order::Dependencies, Order::Session, Order::RealTime];
    for order in orders.into_iter().filter(|one| *one <= order) {
        let edges = Dependencies::of(versions, order);
        let graph = Graph::of(edges.nodes(), &edges);
        Search::of(versions, &graph, order, findings, &mut budget).all();
    }
    budget == 0
}

/// The dependencies between the transactions of a history, and an order besides.
struct Dependencies<'a> {
    versions: &'a Versions<'a>,
    /// The transactions of each client, for [`Order::Session`].
    sessions: Vec<Vec<u32>>,
    /// The transactions by the time of their ends, for [`Order::RealTime`]. Each is followed by a node
    /// of time, which leads to the next and to those that begin before it.
    ends: Vec<u32>,
}

impl<'a> Dependencies<'a> {
    fn of(versions: &'a Versions<'a>, order: Order) -> Self {
        let history = versions.history;
        let mut ends = Vec::new();
        if order == Order::RealTime {
            let is_ended = |at: &u32| history.head(*at).fate == Fate::Committed;
            ends.extend(versions.counting().filter(is_ended));
            ends.sort_by_key(|at| history.head(*at).ended);
        }
        let sessions = match order {
            Order::Session => sessions(versions),
            Order::Dependencies | Order::RealTime => Vec::new(),
        };
        Self { versions, sessions, ends }
    }

    const fn nodes(&self) -> usize {
        self.versions.history.len() + self.ends.len()
    }

    fn orders(&self, each: &mut dyn FnMut(u32, Arc)) {
        let arc = |to, kind| Arc { to, kind, key: 0 };
        for session in &self.sessions {
            for pair in session.windows(2) {
                each(pair[0], arc(pair[1], EdgeKind::Session));
            }
        }
        let history = self.versions.history;
        let time = |at: usize| index(history.len() + at);
        for (at, transaction) in self.ends.iter().enumerate() {
            each(*transaction, arc(time(at), EdgeKind::RealTime));
            if at > 0 {
                each(time(at - 1), arc(time(at), EdgeKind::RealTime));
            }
        }
        if self.ends.is_empty() {
            return;
        }
        for transaction in self.versions.counting() {
            let began = history.head(transaction).began;
            let ended = self.ends.partition_point(|at| history.head(*at).ended < began);
            if ended > 0 {
                each(time(ended - 1), arc(transaction, EdgeKind::RealTime));
            }
        }
    }
}

impl Edges for Dependencies<'_> {
    fn each(&self, each: &mut dyn FnMut(u32, Arc)) {
        self.versions.dependencies(&mut |from, to, kind, key| each(from, Arc { to, kind, key }));
        self.orders(each);
    }
}

/// The search for cycles in one graph.
struct Search<'a, 'f> {
    versions: &'a Versions<'a>,
    graph: &'a Graph,
    /// What a cycle must use besides dependencies, and the kinds of edges for it.
    order: Order,
    extra: Kinds,
    findings: &'a mut Findings<'f>,
    known: HashSet<(Anomaly, Vec<u32>)>,
    marks: Marks,
    budget: &'a mut u64,
}

/// An edge from a node.
type From = (u32, Arc);

impl<'a, 'f> Search<'a, 'f> {
    fn of(
        versions: &'a Versions<'a>,
        graph: &'a Graph,
        order: Order,
        findings: &'a mut Findings<'f>,
        budget: &'a mut u64,
    ) -> Self {
        let extra = match order {
            Order::Dependencies => Kinds::of(&[]),
            Order::Session => Kinds::of(&[EdgeKind::Session]),
            Order::RealTime => Kinds::of(&[EdgeKind::RealTime]),
        };
        let marks = Marks::of(graph.nodes() * 2);
        Self { versions, graph, order, extra, findings, known: HashSet::new(), marks, budget }
    }

    fn all(&mut self) {
        let whole = components(&self.plain(ALL));
        if whole.iter().all(|component| *component == ALONE) {
            return;
        }
        self.through(WW, EdgeKind::Ww);
        self.through(FLOW, EdgeKind::Wr);
        let anti = self.anti(|from, arc| whole[from as usize] == whole[arc.to as usize]);
        for edge in &anti {
            self.single(*edge);
        }
        self.nonadjacent(&anti);
        let items = components(&self.plain(ITEMS));
        for edge in &anti {
            let of = |node: u32| items[node as usize];
            let is_item = edge.1.kind == EdgeKind::Rw && of(edge.0) != ALONE;
            if is_item && of(edge.0) == of(edge.1.to) {
                self.adjacent(*edge, ITEMS);
            }
        }
        if anti.iter().any(|(_, arc)| arc.kind == EdgeKind::PredicateRw) {
            for edge in &anti {
                self.adjacent(*edge, ALL);
            }
        }
    }

    const fn plain(&self, kinds: Kinds) -> Plain<'a> {
        Plain { graph: self.graph, kinds: kinds.and(self.extra) }
    }

    /// The edges that a rule selects, of some kinds.
    fn edges(
        &self,
        is_kind: impl Fn(EdgeKind) -> bool,
        is: impl Fn(u32, &Arc) -> bool,
    ) -> Vec<From> {
        let nodes = 0..index(self.graph.nodes());
        let of = |node: u32| self.graph.arcs(node).iter().map(move |arc| (node, *arc));
        nodes.flat_map(of).filter(|(from, arc)| is_kind(arc.kind) && is(*from, arc)).collect()
    }

    fn anti(&self, is: impl Fn(u32, &Arc) -> bool) -> Vec<From> {
        self.edges(EdgeKind::is_anti, |from, arc| is(from, arc) && from != arc.to)
    }

    /// Cycles of some kinds of edges through each edge of one kind: G0 and G1c.
    fn through(&mut self, kinds: Kinds, kind: EdgeKind) {
        let view = self.plain(kinds);
        let components = components(&view);
        let of = |node: u32| components[node as usize];
        let is_within = |from: u32, arc: &Arc| of(from) != ALONE && of(from) == of(arc.to);
        for edge in self.edges(|one| one == kind, is_within) {
            self.close(edge, kinds);
        }
    }

    /// A cycle whose only anti-dependency is an edge.
    fn single(&mut self, edge: From) {
        self.close(edge, FLOW);
    }

    /// The smallest cycle of an edge and edges of some kinds.
    fn close(&mut self, edge: From, kinds: Kinds) {
        let view = self.plain(kinds);
        let (from, arc) = edge;
        let all = |_: u32| true;
        let path = self.marks.path(&view, arc.to, from, usize::MAX, all, self.budget);
        if let Some(path) = path {
            let rest = path.into_iter().map(|(node, at)| (node, self.graph.arcs(node)[at]));
            let cycle: Vec<From> = std::iter::once(edge).chain(rest).collect();
            self.found(&cycle);
        }
    }

    /// Cycles with several anti-dependencies, none of which follows another. A cycle that needs only
    /// one has been found by [`Self::single`].
    fn nonadjacent(&mut self, anti: &[From]) {
        let view = Nonadjacent { graph: self.graph, kinds: ALL.and(self.extra) };
        let components = components(&view);
        for edge in anti {
            let (from, arc) = *edge;
            let (begin, end) = (arc.to * 2 + 1, from * 2);
            let of = |node: u32| components[node as usize];
            if of(begin) == ALONE || of(begin) != of(end) {
                continue;
            }
            let all = |_: u32| true;
            let path = self.marks.path(&view, begin, end, usize::MAX, all, self.budget);
            if let Some(path) = path {
                let rest =
                    path.into_iter().map(|(node, at)| (node / 2, self.graph.arcs(node / 2)[at]));
                let cycle: Vec<From> = std::iter::once(*edge).chain(rest).collect();
                self.found(&cycle);
            }
        }
    }

    /// Cycles in which an anti-dependency follows an edge that is one.
    fn adjacent(&mut self, edge: From, kinds: Kinds) {
        let view = self.plain(kinds);
        let (from, arc) = edge;
        let next = self.graph.arcs(arc.to).iter();
        let next: Vec<Arc> =
            next.filter(|arc| arc.kind.is_anti() && kinds.has(arc.kind)).copied().collect();
        for second in next {
            let pair = [edge, (arc.to, second)];
            if second.to == from {
                if !self.is_lost_update(&pair) {
                    self.found(&pair);
                }
                continue;
            }
            let but = |node: u32| node != arc.to;
            let path = self.marks.path(&view, second.to, from, usize::MAX, but, self.budget);
            if let Some(path) = path {
                let rest = path.into_iter().map(|(node, at)| (node, self.graph.arcs(node)[at]));
                let cycle: Vec<From> = pair.into_iter().chain(rest).collect();
                self.found(&cycle);
            }
        }
    }

    /// Whether two anti-dependencies are between two that replaced the same version, which has a name
    /// of its own.
    fn is_lost_update(&self, pair: &[From; 2]) -> bool {
        let [(_, first), (_, second)] = pair;
        let key = self.versions.history.key_at(first.key);
        first.key == second.key && key.model == Model::Register
    }

    /// Adds a cycle that uses the order of this search, and is new.
    fn found(&mut self, cycle: &[From]) {
        let links = self.links(cycle);
        let needs = |kind: EdgeKind| match self.order {
            Order::Dependencies => true,
            Order::Session => kind == EdgeKind::Session,
            Order::RealTime => kind == EdgeKind::RealTime,
        };
        let anomaly = classify(&links);
        let weaker = [Order::Dependencies, Order::Session];
        let is_weaker = |order: &Order| *order < self.order;
        let is_known = weaker.into_iter().filter(is_weaker);
        if !links.iter().any(|link| needs(link.kind))
            || is_known.into_iter().any(|order| self.findings.has(Kind { anomaly, order }))
        {
            return;
        }
        let transactions: Vec<u32> = links.iter().map(|link| link.from).collect();
        let mut set = transactions.clone();
        set.sort_unstable();
        set.dedup();
        if set.len() == transactions.len() && self.known.insert((anomaly, set)) {
            self.findings.add(Kind { anomaly, order: self.order }, &transactions, &links);
        }
    }

    /// The dependencies of a cycle: a way through nodes of time is one.
    fn links(&self, cycle: &[From]) -> Vec<Link> {
        let transactions = index(self.versions.history.len());
        let begin = cycle.iter().position(|(from, _)| *from < transactions);
        let mut links: Vec<Link> = Vec::with_capacity(cycle.len());
        for at in 0..cycle.len() {
            let (from, arc) = cycle[(begin.unwrap_or(0) + at) % cycle.len()];
            match links.last_mut() {
                Some(last) if from >= transactions => last.to = arc.to,
                _ => {
                    let is_order = matches!(arc.kind, EdgeKind::Session | EdgeKind::RealTime);
                    let key = (!is_order).then_some(arc.key);
                    links.push(Link { from, to: arc.to, kind: arc.kind, key });
                }
            }
        }
        links
    }
}

/// The name of a cycle by its edges.
fn classify(links: &[Link]) -> Anomaly {
    let anti = links.iter().filter(|link| link.kind.is_anti()).count();
    let has = |kind: EdgeKind| links.iter().any(|link| link.kind == kind);
    let follows = |at: usize| links[(at + 1) % links.len()].kind.is_anti();
    let is_adjacent = (0..links.len()).any(|at| links[at].kind.is_anti() && follows(at));
    match (anti, is_adjacent, has(EdgeKind::PredicateRw)) {
        (0, ..) if has(EdgeKind::Wr) => Anomaly::G1c,
        (0, ..) => Anomaly::G0,
        (1, _, false) => Anomaly::GSingle,
        (1, _, true) => Anomaly::GSinglePredicate,
        (_, false, false) => Anomaly::GNonadjacent,
        (_, false, true) => Anomaly::GNonadjacentPredicate,
        (_, true, false) => Anomaly::G2Item,
        (_, true, true) => Anomaly::G2,
    }
}
