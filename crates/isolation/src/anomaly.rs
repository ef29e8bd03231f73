//! The kinds of anomalies: names, definitions, and what each consistency model forbids.

use std::fmt;
use std::str::FromStr;

macro_rules! anomalies {
    ($($(#[$doc:meta])+ $anomaly:ident($name:literal, $title:literal),)+) => {
        /// An anomaly, from what corrupts data to what is only late. Names are those of Elle where it
        /// has one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Anomaly {
            $($(#[$doc])+ $anomaly,)+
        }

        impl Anomaly {
            /// Every anomaly, in the order of the list.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$anomaly),+];

            /// Name in documents and on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$anomaly => $name,)+ }
            }

            /// What happened, for people, in a few words.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Self::$anomaly => $title,)+ }
            }
        }
    };
}

anomalies! {
    /// A value was seen that no transaction of the history wrote.
    Unwritten("unwritten", "a value was seen that nobody wrote"),
    /// A list or set has an element twice: a write took effect more than once.
    Duplicate("duplicate", "a write took effect twice"),
    /// Two committed reads of a list, neither of which is the beginning of the other.
    IncompatibleOrder("incompatible-order", "reads disagree about the order of writes"),
    /// A cycle of `ww`: transactions overwrote each other's versions in different orders.
    G0("G0", "dirty write: writes of two transactions are mixed"),
    /// A committed version was made from one of an aborted transaction.
    DirtyUpdate("dirty-update", "a commit is built on a write that was rolled back"),
    /// A committed transaction saw a version of an aborted one.
    G1a("G1a", "aborted read: a write that was rolled back was seen"),
    /// A committed transaction saw a version that its writer replaced itself.
    G1b("G1b", "intermediate read: an unfinished write was seen"),
    /// A cycle of `ww` and at least one `wr`.
    G1c("G1c", "circular information flow"),
    /// A transaction did not see what it had written itself.
    OwnWrite("own-write", "a transaction did not see its own write"),
    /// A transaction's read disagrees with what it read before, though it wrote nothing between.
    Internal("internal", "reads of one transaction disagree"),
    /// Two committed transactions read the same version of a register and both replaced it.
    LostUpdate("lost-update", "lost update: a commit overwrote another unseen"),
    /// A cycle with exactly one `rw`, of an item.
    GSingle("G-single", "read skew: a transaction saw a part of another"),
    /// A cycle with exactly one `rw`, of a predicate.
    GSinglePredicate("G-single-predicate", "phantom: a predicate was read in two states"),
    /// A cycle with several `rw`, all of items, none of which follows another.
    GNonadjacent("G-nonadjacent", "long fork: two readers saw two commits in different orders"),
    /// The same with a predicate.
    GNonadjacentPredicate("G-nonadjacent-predicate", "long fork of a predicate"),
    /// A cycle with two `rw` that follow each other, all of items.
    G2Item("G2-item", "write skew: each transaction changed what the other had read"),
    /// The same with a predicate.
    G2("G2", "write skew of a predicate: each transaction added what the other had not counted"),
    /// A client did not see what an earlier transaction of its own had committed.
    ReadYourWrites("read-your-writes", "a client did not see its own earlier commit"),
    /// A client saw an older version than an earlier transaction of its own had seen.
    MonotonicReads("monotonic-reads", "a client saw an older state than before"),
    /// A transaction did not see what had been acknowledged before it began.
    StaleRead("stale-read", "stale read: a commit acknowledged earlier was not seen"),
}

impl FromStr for Anomaly {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is = |anomaly: &Self| anomaly.name().eq_ignore_ascii_case(text);
        Self::ALL.into_iter().find(is).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|anomaly| anomaly.name()).collect();
            format!("unknown anomaly `{text}`: expected one of {}", names.join(", "))
        })
    }
}

impl Anomaly {
    /// Whether a cycle of dependencies shows it.
    #[must_use]
    pub const fn is_cycle(self) -> bool {
        matches!(
            self,
            Self::G0
                | Self::G1c
                | Self::GSingle
                | Self::GSinglePredicate
                | Self::GNonadjacent
                | Self::GNonadjacentPredicate
                | Self::G2Item
                | Self::G2
        )
    }
}

/// What a cycle may use besides dependencies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// Nothing.
    #[default]
    Dependencies,
    /// The order of each client's own transactions.
    Session,
    /// The order of all transactions in real time: one had ended before the other began.
    RealTime,
}

impl Order {
    /// Every order with its name in declarations and documents, the weakest first.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Dependencies, "none"), (Self::Session, "session"), (Self::RealTime, "real-time")];

    /// Name in declarations and documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(order, _)| *order == self).expect("ALL has every order").1
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.iter().find(|(_, name)| *name == text).map(|(order, _)| *order).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|(_, name)| *name).collect();
            format!("unknown order `{text}`: expected one of {}", names.join(", "))
        })
    }
}

/// An anomaly, and the order that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnomalyKind {
    /// The anomaly.
    pub anomaly: Anomaly,
    /// What its cycle uses besides dependencies.
    pub order: Order,
}

impl AnomalyKind {
    /// An anomaly by dependencies alone.
    #[must_use]
    pub const fn of(anomaly: Anomaly) -> Self {
        Self { anomaly, order: Order::Dependencies }
    }
}

impl fmt::Display for AnomalyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.anomaly.name())?;
        f.write_str(match self.order {
            Order::Dependencies => "",
            Order::Session => "-process",
            Order::RealTime => "-realtime",
        })
    }
}

impl FromStr for AnomalyKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let of = |name: &str, order| Ok(Self { anomaly: name.parse()?, order });
        if let Some(name) = text.strip_suffix("-process") {
            return of(name, Order::Session);
        }
        match text.strip_suffix("-realtime") {
            Some(name) => of(name, Order::RealTime),
            None => of(text, Order::Dependencies),
        }
    }
}

/// A consistency model, by the anomalies that it forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consistency {
    /// PL-1 (Adya): no dirty writes.
    ReadUncommitted,
    /// PL-2 (Adya): reads are of committed, final versions.
    ReadCommitted,
    /// PL-2.99 (Adya): what was read as an item stays; predicates may change.
    RepeatableRead,
    /// Parallel snapshot isolation, by Sovran and others, *Transactional storage for geo-replicated
    /// systems* (SOSP 2011): snapshot isolation, but readers may see commits in different orders.
    ParallelSnapshotIsolation,
    /// Snapshot isolation, by Cerone and Gotsman, *Analysing Snapshot Isolation* (PODC 2016): no cycle
    /// without two adjacent anti-dependencies.
    SnapshotIsolation,
    /// PL-3 (Adya): no cycle.
    Serializable,
}

impl Consistency {
    /// Every model with its name in declarations.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::ReadUncommitted, "read-uncommitted"),
        (Self::ReadCommitted, "read-committed"),
        (Self::RepeatableRead, "repeatable-read"),
        (Self::ParallelSnapshotIsolation, "parallel-snapshot-isolation"),
        (Self::SnapshotIsolation, "snapshot-isolation"),
        (Self::Serializable, "serializable"),
    ];

    /// Name in declarations and documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(model, _)| *model == self).expect("ALL has every model").1
    }

    /// Whether a history with this anomaly breaks the model, without a promise of order.
    const fn forbids(self, anomaly: Anomaly) -> bool {
        use Anomaly as A;
        match anomaly {
            A::Unwritten | A::Duplicate | A::G0 | A::OwnWrite => true,
            A::IncompatibleOrder | A::DirtyUpdate | A::G1a | A::G1b | A::G1c => {
                !matches!(self, Self::ReadUncommitted)
            }
            A::Internal | A::LostUpdate | A::GSingle => {
                !matches!(self, Self::ReadUncommitted | Self::ReadCommitted)
            }
            A::GNonadjacent => {
                matches!(self, Self::RepeatableRead | Self::SnapshotIsolation | Self::Serializable)
            }
            A::GSinglePredicate => matches!(
                self,
                Self::ParallelSnapshotIsolation | Self::SnapshotIsolation | Self::Serializable
            ),
            A::GNonadjacentPredicate => {
                matches!(self, Self::SnapshotIsolation | Self::Serializable)
            }
            A::G2Item => matches!(self, Self::RepeatableRead | Self::Serializable),
            A::G2 => matches!(self, Self::Serializable),
            A::ReadYourWrites | A::MonotonicReads | A::StaleRead => false,
        }
    }
}

impl FromStr for Consistency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.iter().find(|(_, name)| *name == text).map(|(model, _)| *model).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|(_, name)| *name).collect();
            format!("unknown consistency model `{text}`: expected one of {}", names.join(", "))
        })
    }
}

/// What a database promises: a model, and the order that it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promise {
    /// The model.
    pub model: Consistency,
    /// The order that every transaction respects: `Session` makes the model a *strong session* one,
    /// `RealTime` a *strong* or *strict* one.
    pub order: Order,
}

impl Promise {
    /// Whether an anomaly breaks the promise.
    #[must_use]
    pub fn forbids(&self, kind: AnomalyKind) -> bool {
        let AnomalyKind { anomaly, order } = kind;
        match anomaly {
            Anomaly::ReadYourWrites | Anomaly::MonotonicReads => self.order >= Order::Session,
            Anomaly::StaleRead => self.order >= Order::RealTime,
            _ => order <= self.order && self.model.forbids(anomaly),
        }
    }

    /// The anomalies that it forbids, without those that differ only in the order of their cycle.
    pub fn forbidden(&self) -> impl Iterator<Item = Anomaly> {
        Anomaly::ALL.into_iter().filter(|anomaly| self.forbids(AnomalyKind::of(*anomaly)))
    }
}
