//! Which node a transaction goes to: a function of its type, its origin, the part of the data that
//! its input is about, and the state of the nodes. Random choices depend on the seed and the origin
//! only, so a run with the same seed makes the same ones.

use std::ops::RangeInclusive;

use super::rule::{Candidates, Policy, Rule};
use super::states::{NodeStates, bit};
use super::{NODES_MAX, Node, NodeSet};
use crate::error::SpecError;
use crate::origin::Origin;
use crate::random::Rng;
use crate::session::Access;
use crate::workload::TransactionDef;

/// Purpose of the random streams that choose nodes.
const ROUTES: u64 = 11;

/// What decides where a transaction goes.
#[derive(Clone, Copy, Debug)]
pub struct Destination {
    /// Index of the transaction type.
    pub transaction: usize,
    /// User and count, or arrival.
    pub origin: Origin,
    /// Part of the data that the input is about; `None` if the workload has none.
    pub partition: Option<u64>,
}

/// The rules of a run.
#[derive(Clone, Debug)]
pub struct Routing {
    seed: u64,
    /// By transaction type: its rule, and whether it writes.
    rules: Vec<(Rule, bool)>,
    weights: Vec<u32>,
    partitions: Vec<Option<RangeInclusive<u64>>>,
}

impl Routing {
    /// Creates the routing of a run. `rules` has rules by key, in order: a transaction type's name,
    /// `reads`, `writes` or `all`; the most specific one counts. Without a rule, a write goes to a
    /// primary and a read to a replica, each to a fixed one per user.
    ///
    /// # Errors
    /// When a key, a policy or a node is unknown.
    pub fn new<D>(
        nodes: &[Node<D>],
        rules: &[(String, String)],
        transactions: &[TransactionDef],
        seed: u64,
    ) -> Result<Self, SpecError> {
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        let mut by_type: Vec<Option<(u8, Rule)>> = vec![None; transactions.len()];
        for (key, text) in rules {
            let rule = Rule::parse(text, &names)
                .map_err(|error| SpecError::new(format!("route of {key}: {error}")))?;
            if rule.policy == Policy::Weighted && has_no_weight(&rule.among, nodes) {
                let message = format!("route of {key}: the weights of its nodes are all 0");
                return Err(SpecError::new(message));
            }
            let mut is_known = ["all", "reads", "writes"].contains(&key.as_str());
            for (of_type, def) in by_type.iter_mut().zip(transactions) {
                let rank = rank(key, def);
                is_known |= rank == 3;
                if rank > 0 && of_type.as_ref().is_none_or(|(known, _)| rank >= *known) {
                    *of_type = Some((rank, rule.clone()));
                }
            }
            if !is_known {
                let known: Vec<_> = transactions.iter().map(|def| &*def.name).collect();
                return Err(SpecError::new(format!(
                    "route of `{key}`: no such transaction type; use all, reads, writes, or one of {}",
                    known.join(", ")
                )));
            }
        }
        let of_type = |(rule, def): (Option<(u8, Rule)>, &TransactionDef)| {
            let writes = def.access == Access::Write;
            let among = if writes { Candidates::Primaries } else { Candidates::Replicas };
            (rule.map_or(Rule { policy: Policy::User, among }, |(_, rule)| rule), writes)
        };
        Ok(Self {
            seed,
            rules: by_type.into_iter().zip(transactions).map(of_type).collect(),
            weights: nodes.iter().map(|node| node.weight).collect(),
            partitions: nodes.iter().map(|node| node.partitions.clone()).collect(),
        })
    }

    /// Whether a rule needs to know which part of the data an input is about.
    #[must_use]
    pub fn needs_partition(&self) -> bool {
        self.rules.iter().any(|(rule, _)| rule.policy == Policy::Partition)
    }

    /// Whether transactions of a type write.
    #[must_use]
    pub fn writes(&self, transaction: usize) -> bool {
        self.rules[transaction].1
    }

    /// The node that a transaction goes to; `None` if no node can take it. If all nodes of its rule
    /// are lost, it goes to another that can.
    #[must_use]
    pub fn route(&self, to: Destination, states: &NodeStates) -> Option<usize> {
        let (rule, writes) = &self.rules[to.transaction];
        let all = candidates(rule, states);
        let able = able(*writes, states);
        let usable = if all & able == 0 { able } else { all & able };
        let count = usable.count_ones();
        if count <= 1 {
            return (count == 1).then(|| usable.trailing_zeros() as usize);
        }
        let (user, turn) = match to.origin {
            Origin::User { user, nth } => (u64::from(user), nth.wrapping_add(u64::from(user))),
            Origin::Arrival(number) => (number, number),
        };
        Some(match rule.policy {
            Policy::First => in_order(&rule.among, usable).next().expect("some are usable"),
            Policy::Last => in_order(&rule.among, usable).last().expect("some are usable"),
            Policy::Random => nth(usable, self.draws(to.origin).below(count.into())),
            Policy::RoundRobin => nth(usable, turn),
            Policy::Weighted => self.weighted(usable, to.origin),
            Policy::LeastOutstanding => least(usable, turn, states),
            Policy::Partition => match to.partition {
                Some(part) => preferred(self.owners(part, all), usable, part),
                None => nth(usable, user),
            },
            Policy::User => preferred(all, usable, user),
        })
    }

    /// The nodes that a user's transactions will go to while the nodes stay as they are.
    #[must_use]
    pub fn likely(&self, user: u32, states: &NodeStates) -> NodeSet {
        let mut likely = 0;
        for (transaction, (rule, writes)) in self.rules.iter().enumerate() {
            let origin = Origin::User { user, nth: 1 };
            let to = Destination { transaction, origin, partition: None };
            likely |= match rule.policy {
                Policy::First | Policy::Last | Policy::User => {
                    self.route(to, states).map_or(0, bit)
                }
                _ => {
                    let set = candidates(rule, states) & able(*writes, states);
                    if set == 0 { self.route(to, states).map_or(0, bit) } else { set }
                }
            };
        }
        likely
    }

    /// The nodes that the transactions of so many users will go to while the nodes stay as they are.
    #[must_use]
    pub fn likely_of_all(&self, users: u32, states: &NodeStates) -> NodeSet {
        // Which nodes a user has repeats with the number of nodes.
        let some = u32::try_from(NODES_MAX).unwrap_or(u32::MAX).min(users);
        (0..some).fold(0, |set, user| set | self.likely(user, states))
    }

    /// The random numbers of a transaction.
    fn draws(&self, origin: Origin) -> Rng {
        match origin {
            Origin::User { user, nth } => Rng::of(self.seed, &[ROUTES, 0, user.into(), nth]),
            Origin::Arrival(number) => Rng::of(self.seed, &[ROUTES, 1, number]),
        }
    }

    fn weighted(&self, usable: NodeSet, origin: Origin) -> usize {
        let weight = |node: usize| u64::from(self.weights[node]);
        let sum: u64 = members(usable).map(weight).sum();
        if sum == 0 {
            return usable.trailing_zeros() as usize;
        }
        let drawn = self.draws(origin).weighted(members(usable).map(weight));
        drawn.and_then(|place| members(usable).nth(place)).unwrap_or_else(|| last(usable))
    }

    /// The nodes among `all` to which a part of the data belongs; all of them if it belongs to none.
    fn owners(&self, part: u64, all: NodeSet) -> NodeSet {
        let owns =
            |node: &usize| self.partitions[*node].as_ref().is_some_and(|p| p.contains(&part));
        match members(all).filter(owns).fold(0, |set, node| set | bit(node)) {
            0 => all,
            owners => owners,
        }
    }
}

/// How specific a rule's key is for a transaction type; 0 if it does not apply.
fn rank(key: &str, def: &TransactionDef) -> u8 {
    let writes = def.access == Access::Write;
    match key {
        "all" => 1,
        "reads" if !writes => 2,
        "writes" if writes => 2,
        "reads" | "writes" => 0,
        _ => 3 * u8::from(key.replace('-', "_") == def.name.replace('-', "_")),
    }
}

/// The nodes of a rule, whether they answer or not; all nodes if it has none at present.
fn candidates(rule: &Rule, states: &NodeStates) -> NodeSet {
    let set = match &rule.among {
        Candidates::All => states.all(),
        Candidates::Primaries => states.writable(),
        Candidates::Replicas => states.all() & !states.writable(),
        Candidates::Named(nodes) => nodes.iter().fold(0, |set, node| set | bit(*node)),
    };
    if set == 0 { states.all() } else { set }
}

/// The usable nodes in the order of their rule: those that it does not name after the others.
fn in_order(among: &Candidates, usable: NodeSet) -> impl Iterator<Item = usize> {
    let named: &[usize] = match among {
        Candidates::Named(nodes) => nodes,
        _ => &[],
    };
    let is_usable = move |node: &usize| usable & bit(*node) != 0;
    let others = members(usable).filter(|node| !named.contains(node));
    named.iter().copied().filter(is_usable).chain(others)
}

/// Whether a rule by weight has nodes that all have the weight 0.
fn has_no_weight<D>(among: &Candidates, nodes: &[Node<D>]) -> bool {
    match among {
        Candidates::Named(named) => named.iter().all(|node| nodes[*node].weight == 0),
        _ => nodes.iter().all(|node| node.weight == 0),
    }
}

/// The nodes that can take a transaction now.
fn able(writes: bool, states: &NodeStates) -> NodeSet {
    if writes { states.up() & states.writable() } else { states.up() }
}

/// The node of `wanted` that has this number, or, while it is not usable, one of the usable nodes.
fn preferred(wanted: NodeSet, usable: NodeSet, number: u64) -> usize {
    let node = nth(wanted, number);
    if usable & bit(node) == 0 { nth(usable, number) } else { node }
}

/// The node that runs the fewest transactions; of several, which one depends on the turn.
fn least(usable: NodeSet, turn: u64, states: &NodeStates) -> usize {
    let count = u64::from(usable.count_ones());
    let in_turn = (0..count).map(|place| nth(usable, turn.wrapping_add(place)));
    in_turn.min_by_key(|node| states.outstanding(*node)).expect("a set with nodes")
}

/// The last node of a set that is not empty.
const fn last(set: NodeSet) -> usize {
    (63 - set.leading_zeros()) as usize
}

/// The nodes of a set.
fn members(mut set: NodeSet) -> impl Iterator<Item = usize> + Clone {
    std::iter::from_fn(move || {
        let node = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (node < 64).then_some(node as usize)
    })
}

/// The node with a number in a set that is not empty; counts around it.
fn nth(set: NodeSet, number: u64) -> usize {
    let place = number % u64::from(set.count_ones());
    members(set).nth(usize::try_from(place).expect("below 64")).expect("as many as bits")
}

#[cfg(test)]
mod tests;
