//! The part of a result about where the CPUs of this host were (`--cpu-profile`): stacks that `perf`
//! sampled in the timed window, by whose they are.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Functions of a side that are listed.
const FUNCTIONS_MAX: usize = 20;
/// Frames of a side that are kept, the most sampled first.
const FRAMES_MAX: usize = 2_000;
/// Deepest frame that is kept; what is above counts as its own.
const DEPTH_MAX: u32 = 96;
/// A frame has at least one in so many samples of its side; what has less counts as its caller's own.
const RARE: u64 = 500;

/// Where the CPUs of this host were in the timed window, by samples of their stacks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuProfile {
    /// What sampled: `perf version 6.1.187`.
    pub tool: String,
    /// Seconds that were sampled.
    #[schemars(range(min = 0.0))]
    pub seconds: f64,
    /// Samples per second of each CPU.
    pub frequency_hz: u32,
    /// Whether all processes of the host were sampled, not only this one.
    pub is_of_host: bool,
    /// The sides that used a CPU, in the order of `CpuSide`.
    pub sides: Vec<ProfiledSide>,
}

/// Whose a sample is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CpuSide {
    /// The database server's processes.
    Server,
    /// This process, also if the database works in it.
    Client,
    /// All other processes of the host.
    Others,
}

impl CpuSide {
    /// Name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
            Self::Others => "others",
        }
    }
}

/// What the CPUs did for a side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfiledSide {
    /// Whose samples they are.
    pub side: CpuSide,
    /// Number of samples.
    pub samples: u64,
    /// CPUs that it used on average.
    #[schemars(range(min = 0.0))]
    pub cpus: f64,
    /// Functions by samples of their own, without what they call; at most 20.
    pub functions: Vec<ProfiledFunction>,
    /// The tree of calls in pre-order: each frame is followed by what it calls, which is one deeper. Frames with less
    /// than 0.2 % of the side's samples are left out.
    pub frames: Vec<StackFrame>,
}

/// A function with its own samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfiledFunction {
    /// Name; that of the module in brackets if the module has no symbols.
    pub name: String,
    /// File name of the program or library; `kernel` for the kernel.
    pub module: String,
    /// Samples in the function itself.
    pub samples: u64,
}

/// A frame of the tree of calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackFrame {
    /// 0 for those that nothing calls.
    pub depth: u32,
    /// Name of the function; that of the module in brackets if the module has no symbols.
    pub name: String,
    /// File name of the program or library; `kernel` for the kernel.
    pub module: String,
    /// Samples in the function and in what it calls.
    pub samples: u64,
}

/// A function of a stack: name and module.
pub type Function = (String, String);

/// Adds up the samples of a side.
#[derive(Debug, Default)]
pub struct StackTree {
    root: Node,
    own: BTreeMap<Function, u64>,
}

#[derive(Debug, Default)]
struct Node {
    samples: u64,
    calls: BTreeMap<Function, Node>,
}

impl StackTree {
    /// Adds a sample: its stack from the outermost function to the innermost.
    pub fn add(&mut self, stack: Vec<Function>) {
        let Some(last) = stack.last() else { return };
        *self.own.entry(last.clone()).or_default() += 1;
        let mut node = &mut self.root;
        node.samples += 1;
        for function in stack.into_iter().take(DEPTH_MAX as usize) {
            node = node.calls.entry(function).or_default();
            node.samples += 1;
        }
    }

    /// What the CPUs did for a side, of which so many samples are a CPU; `None` without samples.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "numbers of samples")]
    pub fn into_side(self, side: CpuSide, samples_of_cpu: f64) -> Option<ProfiledSide> {
        let samples = self.root.samples;
        let function = |((name, module), samples)| ProfiledFunction { name, module, samples };
        let mut functions: Vec<_> = self.own.into_iter().map(function).collect();
        functions.sort_by_key(|of| std::cmp::Reverse(of.samples));
        functions.truncate(FUNCTIONS_MAX);
        let least = samples.div_ceil(RARE);
        let mut frames = Vec::new();
        self.root.flatten(0, least.max(self.root.least_of(FRAMES_MAX)), &mut frames);
        let cpus = samples as f64 / samples_of_cpu;
        (samples > 0).then_some(ProfiledSide { side, samples, cpus, functions, frames })
    }
}

impl Node {
    /// Appends the calls with at least so many samples, the largest first.
    fn flatten(&self, depth: u32, least: u64, frames: &mut Vec<StackFrame>) {
        let mut calls: Vec<_> = self.calls.iter().filter(|(_, of)| of.samples >= least).collect();
        calls.sort_by_key(|(_, of)| std::cmp::Reverse(of.samples));
        for ((name, module), node) in calls {
            let (name, module) = (name.clone(), module.clone());
            frames.push(StackFrame { depth, name, module, samples: node.samples });
            node.flatten(depth + 1, least, frames);
        }
    }

    /// The fewest samples of a frame, if so many frames are kept.
    fn least_of(&self, frames: usize) -> u64 {
        fn all(node: &Node, found: &mut Vec<u64>) {
            for call in node.calls.values() {
                found.push(call.samples);
                all(call, found);
            }
        }
        let mut found = Vec::new();
        all(self, &mut found);
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.get(frames).map_or(0, |samples| samples + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(names: &[&str]) -> Vec<Function> {
        names.iter().map(|name| ((*name).to_owned(), "postgres".to_owned())).collect()
    }

    #[test]
    fn samples_add_up_from_the_outermost_function_to_the_innermost() {
        let mut tree = StackTree::default();
        for (names, times) in [
            (&["main", "exec", "sort"][..], 6),
            (&["main", "exec"], 1),
            (&["main", "parse"], 3),
            (&[], 5),
        ] {
            (0..times).for_each(|_| tree.add(stack(names)));
        }
        let side = tree.into_side(CpuSide::Server, 20.0).unwrap();
        assert_eq!((side.samples, side.cpus), (10, 0.5));
        let frames: Vec<_> =
            side.frames.iter().map(|of| (of.depth, of.name.as_str(), of.samples)).collect();
        assert_eq!(frames, [(0, "main", 10), (1, "exec", 7), (2, "sort", 6), (1, "parse", 3)]);
        let own: Vec<_> = side.functions.iter().map(|of| (of.name.as_str(), of.samples)).collect();
        assert_eq!(own, [("sort", 6), ("parse", 3), ("exec", 1)]);
        assert_eq!(StackTree::default().into_side(CpuSide::Client, 1.0), None);
    }

    #[test]
    fn rare_frames_are_left_out_and_the_tree_is_bounded() {
        let mut tree = StackTree::default();
        (0..1_000).for_each(|_| tree.add(stack(&["main", "often"])));
        tree.add(stack(&["main", "once"]));
        let side = tree.into_side(CpuSide::Client, 1.0).unwrap();
        assert!(!side.frames.iter().any(|of| of.name == "once"), "{side:?}");
        let mut tree = StackTree::default();
        for name in 0..5_000 {
            (0..2).for_each(|_| tree.add(stack(&[&format!("f{name}")])));
        }
        tree.add(vec![("deep".to_owned(), String::new()); 500]);
        let side = tree.into_side(CpuSide::Client, 1.0).unwrap();
        assert!(side.frames.len() <= FRAMES_MAX, "{}", side.frames.len());
    }
}
