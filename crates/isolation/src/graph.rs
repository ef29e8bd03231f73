//! The graph of dependencies: compressed rows, components, paths.

use std::collections::VecDeque;

use crate::report::EdgeKind;

/// A set of kinds of edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const fn of(kinds: &[EdgeKind]) -> Self {
        let (mut set, mut at) = (0, 0);
        while at < kinds.len() {
            set |= 1 << kinds[at] as u8;
            at += 1;
        }
        Self(set)
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn has(self, kind: EdgeKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }
}

/// An edge to a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arc {
    pub(crate) to: u32,
    pub(crate) kind: EdgeKind,
    /// Index of the key; no meaning for orders.
    pub(crate) key: u32,
}

/// A directed graph whose edges have kinds. Several edges may join the same nodes.
pub(crate) struct Graph {
    begins: Vec<u32>,
    arcs: Vec<Arc>,
}

/// What enumerates the edges of a graph: it is asked twice, and must answer the same.
pub(crate) trait Edges {
    fn each(&self, each: &mut dyn FnMut(u32, Arc));
}

impl Graph {
    pub(crate) fn of(nodes: usize, edges: &dyn Edges) -> Self {
        let mut begins = vec![0_u32; nodes + 1];
        edges.each(&mut |from, _| begins[from as usize + 1] += 1);
        for at in 0..nodes {
            begins[at + 1] += begins[at];
        }
        let mut places = begins.clone();
        let nothing = Arc { to: 0, kind: EdgeKind::Ww, key: 0 };
        let mut arcs = vec![nothing; begins[nodes] as usize];
        edges.each(&mut |from, arc| {
            let place = &mut places[from as usize];
            arcs[*place as usize] = arc;
            *place += 1;
        });
        Self { begins, arcs }
    }

    pub(crate) const fn nodes(&self) -> usize {
        self.begins.len() - 1
    }

    pub(crate) fn arcs(&self, from: u32) -> &[Arc] {
        let at = from as usize;
        &self.arcs[self.begins[at] as usize..self.begins[at + 1] as usize]
    }
}

/// A view of a graph whose nodes have states, such as the kind of the edge by which a path came.
pub(crate) trait View {
    /// Number of nodes with their states.
    fn nodes(&self) -> usize;
    /// The edge number `at` from a node that is not before `at`: its number, and where it leads.
    fn next(&self, node: u32, at: usize) -> Option<(usize, u32)>;
    /// The node of the graph behind one with its state.
    fn transaction(&self, node: u32) -> u32;
}

/// A graph by some kinds of its edges.
pub(crate) struct Plain<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) kinds: Kinds,
}

impl View for Plain<'_> {
    fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    fn next(&self, node: u32, at: usize) -> Option<(usize, u32)> {
        let arcs = self.graph.arcs(node);
        let found = arcs[at..].iter().position(|arc| self.kinds.has(arc.kind))?;
        Some((at + found, arcs[at + found].to))
    }

    fn transaction(&self, node: u32) -> u32 {
        node
    }
}

/// The same, without two anti-dependencies that follow each other: node `2 n` of node `n` was reached
/// by another edge, `2 n + 1` by an anti-dependency.
pub(crate) struct Nonadjacent<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) kinds: Kinds,
}

impl View for Nonadjacent<'_> {
    fn nodes(&self) -> usize {
        self.graph.nodes() * 2
    }

    fn next(&self, node: u32, at: usize) -> Option<(usize, u32)> {
        let is_after_anti = node % 2 == 1;
        let arcs = self.graph.arcs(node / 2);
        let may = |arc: &Arc| self.kinds.has(arc.kind) && !(is_after_anti && arc.kind.is_anti());
        let found = at + arcs[at..].iter().position(may)?;
        let arc = arcs[found];
        Some((found, arc.to * 2 + u32::from(arc.kind.is_anti())))
    }

    fn transaction(&self, node: u32) -> u32 {
        node / 2
    }
}

/// Number of the strongly connected component of each node with a cycle; [`ALONE`] of the others.
pub(crate) const ALONE: u32 = u32::MAX;

/// Tarjan's algorithm (SIAM J. Comput. 1972), without recursion.
pub(crate) fn components(view: &impl View) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let nodes = view.nodes();
    let mut low = vec![NEW; nodes];
    let mut component = vec![ALONE; nodes];
    let mut on_stack = vec![false; nodes];
    let (mut stack, mut path): (Vec<u32>, Vec<(u32, usize, u32)>) = (Vec::new(), Vec::new());
    let (mut visited, mut components) = (0, 0);
    for root in 0..u32::try_from(nodes).expect("nodes are numbered by four bytes") {
        if low[root as usize] != NEW {
            continue;
        }
        path.push((root, 0, visited));
        while let Some((node, at, number)) = path.pop() {
            let here = node as usize;
            if low[here] == NEW {
                low[here] = number;
                visited += 1;
                on_stack[here] = true;
                stack.push(node);
            }
            if let Some((found, next)) = view.next(node, at) {
                path.push((node, found + 1, number));
                let there = next as usize;
                if low[there] == NEW {
                    path.push((next, 0, visited));
                } else if on_stack[there] {
                    low[here] = low[here].min(low[there]);
                }
                continue;
            }
            if let Some((parent, ..)) = path.last() {
                let above = *parent as usize;
                low[above] = low[above].min(low[here]);
            }
            if low[here] == number {
                let size = stack.iter().rev().position(|on| *on == node).expect("it is there") + 1;
                for member in stack.drain(stack.len() - size..) {
                    on_stack[member as usize] = false;
                    if size > 1 {
                        component[member as usize] = components;
                    }
                }
                components += 1;
            }
        }
    }
    component
}

/// Marks of a search that need not be cleared for the next one.
pub(crate) struct Marks {
    round: u32,
    rounds: Vec<u32>,
    came_from: Vec<(u32, u32)>,
}

impl Marks {
    pub(crate) fn of(nodes: usize) -> Self {
        Self { round: 0, rounds: vec![0; nodes], came_from: vec![(0, 0); nodes] }
    }

    /// A shortest path in a view from one node to another, through nodes that it may use: its edges, as
    /// (node, number of the edge). Counts what it visits down from `budget`.
    pub(crate) fn path(
        &mut self,
        view: &impl View,
        from: u32,
        to: u32,
        may: impl Fn(u32) -> bool,
        budget: &mut u64,
    ) -> Option<Vec<(u32, usize)>> {
        self.round += 1;
        self.rounds[from as usize] = self.round;
        let mut waiting = VecDeque::from([from]);
        while let Some(node) = waiting.pop_front() {
            if node == to {
                return Some(self.back(from, to));
            }
            *budget = budget.saturating_sub(1);
            if *budget == 0 {
                continue;
            }
            let mut at = 0;
            while let Some((found, next)) = view.next(node, at) {
                at = found + 1;
                let mark = &mut self.rounds[next as usize];
                if *mark != self.round && may(next) {
                    *mark = self.round;
                    let edge = u32::try_from(found).expect("edges are numbered by four bytes");
                    self.came_from[next as usize] = (node, edge);
                    waiting.push_back(next);
                }
            }
        }
        None
    }

    fn back(&self, from: u32, to: u32) -> Vec<(u32, usize)> {
        let (mut path, mut at) = (Vec::new(), to);
        while at != from {
            let (before, edge) = self.came_from[at as usize];
            path.push((before, edge as usize));
            at = before;
        }
        path.reverse();
        path
    }
}
