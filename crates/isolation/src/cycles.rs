//! Cycles of dependencies: the smallest ones of each kind.
//!
//! Whether cycles of a class are there at all is decided by strongly connected components, in linear
//! time: of `ww` (G0), of `ww` and `wr` (G1c), of all without two adjacent anti-dependencies (what
//! snapshot isolation forbids), and of all (what serializability forbids). The smallest cycle through
//! each edge that lies in such a component is then searched for by breadth, within a budget.

use std::collections::HashSet;

use crate::anomaly::{Anomaly, AnomalyKind, Order};
use crate::graph::{ALONE, Arc, Edges, Graph, Kinds, Marks, Nonadjacent, Plain, View, components};
use crate::history::{Fate, Model, index};
use crate::report::{EdgeKind, Findings, Link};
use crate::versions::Versions;

const WW: Kinds = Kinds::of(&[EdgeKind::Ww]);
const FLOW: Kinds = Kinds::of(&[EdgeKind::Ww, EdgeKind::Wr]);
const ITEMS: Kinds = FLOW.and(Kinds::of(&[EdgeKind::Rw]));
const ALL: Kinds = ITEMS.and(Kinds::of(&[EdgeKind::PredicateRw]));
/// Visits of nodes by all searches of one check.
const BUDGET: u64 = 30_000_000;

/// Finds the cycles that need no more than this order; whether some were left uncounted. `sessions`
/// are the transactions of each client.
pub(crate) fn find(
    versions: &Versions<'_>,
    sessions: &[Vec<u32>],
    order: Order,
    findings: &mut Findings<'_>,
) -> bool {
    let edges = Dependencies::of(versions, sessions, order);
    let graph = Graph::of(edges.nodes(), &edges);
    let mut search = Search::of(versions, &graph, findings);
    for (order, _) in Order::ALL.into_iter().filter(|(one, _)| *one <= order) {
        search.in_order(order);
    }
    search.budget == 0
}

/// The dependencies between the transactions of a history, and the orders besides that are asked for.
struct Dependencies<'a> {
    versions: &'a Versions<'a>,
    /// The transactions of each client, from [`Order::Session`] on.
    sessions: &'a [Vec<u32>],
    /// The transactions by the time of their ends, for [`Order::RealTime`]. Each is followed by a node
    /// of time, which leads to the next and to those that begin before it.
    ends: Vec<u32>,
}

impl<'a> Dependencies<'a> {
    fn of(versions: &'a Versions<'a>, sessions: &'a [Vec<u32>], order: Order) -> Self {
        let history = versions.history;
        let mut ends = Vec::new();
        if order == Order::RealTime {
            let is_ended = |at: &u32| history.head(*at).fate == Fate::Committed;
            ends.extend(versions.counting().filter(is_ended));
            ends.sort_by_key(|at| history.head(*at).ended);
        }
        let sessions = if order >= Order::Session { sessions } else { &[] };
        Self { versions, sessions, ends }
    }

    const fn nodes(&self) -> usize {
        self.versions.history.len() + self.ends.len()
    }

    fn orders(&self, each: &mut dyn FnMut(u32, Arc)) {
        let arc = |to, kind| Arc { to, kind, key: 0 };
        for session in self.sessions {
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

/// The strongly connected components of a view, by node.
struct Within<'a>(&'a [u32]);

impl Within<'_> {
    /// Whether two nodes are in the same component, so that cycles go through both.
    fn has(&self, one: u32, other: u32) -> bool {
        let of = |node: u32| self.0[node as usize];
        of(one) != ALONE && of(one) == of(other)
    }
}

/// The search for cycles in a graph.
struct Search<'a, 'f> {
    versions: &'a Versions<'a>,
    graph: &'a Graph,
    /// What a cycle must use besides dependencies, and the kinds of edges for it.
    order: Order,
    extra: Kinds,
    findings: &'a mut Findings<'f>,
    known: HashSet<(AnomalyKind, Vec<u32>)>,
    marks: Marks,
    /// Visits of nodes that are left.
    budget: u64,
}

/// An edge from a node.
type From = (u32, Arc);

impl<'a, 'f> Search<'a, 'f> {
    fn of(versions: &'a Versions<'a>, graph: &'a Graph, findings: &'a mut Findings<'f>) -> Self {
        Self {
            versions,
            graph,
            order: Order::Dependencies,
            extra: Kinds::of(&[]),
            findings,
            known: HashSet::new(),
            marks: Marks::of(graph.nodes() * 2),
            budget: BUDGET,
        }
    }

    /// Finds the cycles that use an order.
    fn in_order(&mut self, order: Order) {
        self.order = order;
        self.extra = Kinds::of(match order {
            Order::Dependencies => &[],
            Order::Session => &[EdgeKind::Session],
            Order::RealTime => &[EdgeKind::RealTime],
        });
        self.all();
    }

    fn all(&mut self) {
        let whole = components(&self.plain(ALL));
        if whole.iter().all(|component| *component == ALONE) {
            return;
        }
        self.through(WW, EdgeKind::Ww);
        self.through(FLOW, EdgeKind::Wr);
        let within = Within(&whole);
        let anti = self.anti(|from, arc| within.has(from, arc.to));
        self.nonadjacent(&anti, &within);
        let items = components(&self.plain(ITEMS));
        let of_items = Within(&items);
        for edge in &anti {
            if edge.1.kind == EdgeKind::Rw && of_items.has(edge.0, edge.1.to) {
                self.adjacent(*edge, ITEMS, &of_items);
            }
        }
        if anti.iter().any(|(_, arc)| arc.kind == EdgeKind::PredicateRw) {
            for edge in &anti {
                self.adjacent(*edge, ALL, &within);
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
        let within = Within(&components);
        for edge in self.edges(|one| one == kind, |from, arc| within.has(from, arc.to)) {
            self.close(&view, &[edge], [edge.1.to, edge.0], |node| within.has(edge.0, node));
        }
    }

    /// The smallest cycle of these edges and a path in a view from its first node to its last, through
    /// nodes that it may use.
    fn close(
        &mut self,
        view: &impl View,
        first: &[From],
        [begin, end]: [u32; 2],
        may: impl Fn(u32) -> bool,
    ) {
        if let Some(path) = self.marks.path(view, begin, end, may, &mut self.budget) {
            let edge = |(node, at): (u32, usize)| {
                let node = view.transaction(node);
                (node, self.graph.arcs(node)[at])
            };
            let cycle: Vec<From> =
                first.iter().copied().chain(path.into_iter().map(edge)).collect();
            self.found(&cycle);
        }
    }

    /// Cycles without anti-dependencies that follow each other: first those that have only one, then
    /// those with several.
    fn nonadjacent(&mut self, anti: &[From], whole: &Within<'_>) {
        let view = Nonadjacent { graph: self.graph, kinds: ALL.and(self.extra) };
        let components = components(&view);
        let within = Within(&components);
        let ends = |(from, arc): &From| [arc.to * 2 + 1, from * 2];
        let is_within = |edge: &&From| {
            let [begin, end] = ends(edge);
            within.has(begin, end)
        };
        let anti: Vec<From> = anti.iter().filter(is_within).copied().collect();
        for edge in &anti {
            let may = |node: u32| whole.has(edge.0, node);
            self.close(&self.plain(FLOW), &[*edge], [edge.1.to, edge.0], may);
        }
        for edge in &anti {
            let [begin, end] = ends(edge);
            self.close(&view, &[*edge], [begin, end], |node| within.has(begin, node));
        }
    }

    /// Cycles in which an anti-dependency follows an edge that is one, in its component.
    fn adjacent(&mut self, edge: From, kinds: Kinds, within: &Within<'_>) {
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
            let may = |node: u32| node != arc.to && within.has(from, node);
            self.close(&view, &pair, [second.to, from], may);
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
        let mut weaker = Order::ALL.into_iter().take_while(|(order, _)| *order < self.order);
        if !links.iter().any(|link| needs(link.kind))
            || weaker.any(|(order, _)| self.findings.has(AnomalyKind { anomaly, order }))
        {
            return;
        }
        let kind = AnomalyKind { anomaly, order: self.order };
        let transactions: Vec<u32> = links.iter().map(|link| link.from).collect();
        let mut set = transactions.clone();
        set.sort_unstable();
        set.dedup();
        if set.len() == transactions.len() && self.known.insert((kind, set)) {
            self.findings.add(kind, &transactions, &links);
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
