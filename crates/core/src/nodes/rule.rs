//! Rules as users write them: `reads=round-robin:replicas`. A rule is a policy and the nodes that it
//! chooses from.

use crate::error::SpecError;

/// How one of several nodes is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The first one that can take the transaction.
    First,
    /// The last one.
    Last,
    /// Any of them, with equal probability.
    Random,
    /// Each user takes them in turn.
    RoundRobin,
    /// Any of them, with probabilities in the ratio of their weights.
    Weighted,
    /// The one that runs the fewest transactions of this process.
    LeastOutstanding,
    /// The one that the input's part of the data belongs to.
    Partition,
    /// A fixed one for each user.
    User,
}

impl Policy {
    /// All policies, each with its name and what it does.
    pub const ALL: [(Self, &'static str, &'static str); 8] = [
        (Self::First, "first", "the first node that can take the transaction"),
        (Self::Last, "last", "the last one"),
        (Self::Random, "random", "any node, with equal probability"),
        (Self::RoundRobin, "round-robin", "each user takes the nodes in turn"),
        (Self::Weighted, "weighted", "any node, in the ratio of the nodes' weights"),
        (Self::LeastOutstanding, "least-outstanding", "the node that runs the fewest transactions"),
        (Self::Partition, "partition", "the node to which the input's warehouse belongs"),
        (Self::User, "user", "a fixed node for each virtual user"),
    ];

    /// Finds a policy by its name; `_` counts as `-`.
    ///
    /// # Errors
    /// With the policies that there are.
    pub fn named(name: &str) -> Result<Self, SpecError> {
        let name = name.replace('_', "-");
        let found = Self::ALL.iter().find(|(_, known, _)| *known == name);
        found.map(|(policy, ..)| *policy).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|(_, known, _)| *known).collect();
            SpecError::new(format!("unknown policy `{name}`: use one of {}", known.join(", ")))
        })
    }

    /// Name of the policy.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(policy, ..)| *policy == self).expect("ALL has every policy").1
    }
}

/// The nodes that a rule chooses from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// All nodes.
    All,
    /// The nodes that accept writes at present.
    Primaries,
    /// The nodes that do not.
    Replicas,
    /// These nodes, by their indices in the order of the rule.
    Named(Vec<usize>),
}

/// How the transactions of a type are routed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// How one node is chosen.
    pub policy: Policy,
    /// The nodes to choose from.
    pub among: Candidates,
}

impl Rule {
    /// Reads a rule: `POLICY`, or `POLICY:NODES`, with `all`, `primaries`, `replicas`, or names with
    /// `+` between them.
    ///
    /// # Errors
    /// When the policy or a node is unknown.
    pub fn parse(text: &str, names: &[&str]) -> Result<Self, SpecError> {
        let (policy, nodes) = text.split_once(':').unwrap_or((text, "all"));
        let policy = Policy::named(policy.trim())?;
        Ok(Self { policy, among: Candidates::parse(nodes.trim(), names)? })
    }
}

impl Candidates {
    fn parse(text: &str, names: &[&str]) -> Result<Self, SpecError> {
        match text {
            "all" => return Ok(Self::All),
            "primaries" | "primary" if !names.contains(&text) => return Ok(Self::Primaries),
            "replicas" | "replica" if !names.contains(&text) => return Ok(Self::Replicas),
            _ => {}
        }
        let index = |name: &str| {
            names.iter().position(|known| *known == name).ok_or_else(|| {
                SpecError::new(format!(
                    "unknown node `{name}`: use all, primaries, replicas, or nodes of the target with + \
                     between them: {}",
                    names.join(", ")
                ))
            })
        };
        text.split('+').map(str::trim).map(index).collect::<Result<_, _>>().map(Self::Named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_a_policy_and_the_nodes_to_choose_from() {
        let names = ["a", "b", "primary"];
        for (text, policy, among) in [
            ("first", Policy::First, Candidates::All),
            ("round_robin:replicas", Policy::RoundRobin, Candidates::Replicas),
            ("user:primaries", Policy::User, Candidates::Primaries),
            ("random:b+a", Policy::Random, Candidates::Named(vec![1, 0])),
            ("last:primary", Policy::Last, Candidates::Named(vec![2])),
        ] {
            assert_eq!(Rule::parse(text, &names).unwrap(), Rule { policy, among }, "{text}");
        }
        for (text, message) in [
            ("fastest", "unknown policy `fastest`: use one of first, last"),
            ("first:c", "unknown node `c`"),
            ("first:", "unknown node ``"),
        ] {
            let error = Rule::parse(text, &names).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        for (policy, name, _) in Policy::ALL {
            assert_eq!((Policy::named(name).unwrap(), policy.name()), (policy, name));
        }
    }
}
