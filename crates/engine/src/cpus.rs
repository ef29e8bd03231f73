//! The CPUs of the worker threads of a duet: each run has half of those that the process may use,
//! and the two swap them at the end of each block. Otherwise, threads run where the system lets them.

use triphammer_core::clock::Elapsed;
use triphammer_core::event::Note;
use triphammer_core::pace::PairHalf;

/// Kind of the note that the CPUs are not divided.
pub const NOT_DIVIDED: &str = "cpus_not_divided";

/// The CPUs of one worker thread.
#[derive(Debug)]
pub(super) struct Placement {
    half: PairHalf,
    /// The lower and the upper half of the CPUs, of equal size.
    halves: [Vec<usize>; 2],
    /// Whether the thread is on the upper half; `None` before the first block.
    is_upper: Option<bool>,
}

impl Placement {
    /// The placement of a thread that starts now; `None` if the run has no blocks.
    ///
    /// # Errors
    /// With a note if the CPUs cannot be divided.
    pub fn new(half: Option<PairHalf>) -> Result<Option<Self>, Note> {
        let Some(half) = half.filter(|half| half.is_upper(0).is_some()) else { return Ok(None) };
        let halves = halves(&allowed()).ok_or_else(|| {
            not_divided("the process may use a single CPU, or the system does not place threads")
        })?;
        Ok(Some(Self { half, halves, is_upper: None }))
    }

    /// Moves the calling thread at the start of a block.
    ///
    /// # Errors
    /// With a note if the system refuses that.
    pub fn enter(&mut self, now: Elapsed) -> Result<(), Note> {
        let is_upper = self.half.is_upper(now.second());
        if is_upper == self.is_upper {
            return Ok(());
        }
        self.is_upper = is_upper;
        let cpus = &self.halves[usize::from(is_upper == Some(true))];
        place(cpus).map_err(|error| not_divided(&error.to_string()))
    }
}

fn not_divided(why: &str) -> Note {
    let text = format!("the CPUs are not divided between the two runs: {why}");
    Note::new(NOT_DIVIDED, None, text)
}

/// Two halves of equal size; an odd CPU is left out.
fn halves(cpus: &[usize]) -> Option<[Vec<usize>; 2]> {
    let each = cpus.len() / 2;
    (each > 0).then(|| [cpus[..each].to_vec(), cpus[each..2 * each].to_vec()])
}

/// The CPUs that the calling thread may use.
#[cfg(target_os = "linux")]
fn allowed() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None);
    let is_set = |set: &rustix::thread::CpuSet, cpu: &usize| set.is_set(*cpu);
    set.map_or_else(
        |_| Vec::new(),
        |set| (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| is_set(&set, cpu)).collect(),
    )
}

#[cfg(target_os = "linux")]
fn place(cpus: &[usize]) -> std::io::Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    cpus.iter().for_each(|cpu| set.set(*cpu));
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

#[cfg(not(target_os = "linux"))]
fn allowed() -> Vec<usize> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
fn place(_: &[usize]) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use triphammer_core::pace::Sharing;

    use super::*;

    #[test]
    fn halves_are_equal_and_one_cpu_has_none() {
        assert_eq!(halves(&[0, 2, 3]), Some([vec![0], vec![2]]));
        assert_eq!(halves(&[1, 2, 5, 6]), Some([vec![1, 2], vec![5, 6]]));
        assert_eq!((halves(&[4]), halves(&[])), (None, None));
    }

    #[test]
    fn threads_are_where_their_block_says() {
        let before = allowed();
        if before.len() < 2 {
            return;
        }
        let sharing = Sharing::Duet { alone_from_s: 0, alone_s: 0, block_s: 1 };
        let thread = std::thread::spawn(move || {
            let half =
                PairHalf { is_b: true, seed: 1, same_target: false, looks_most: None, sharing };
            let mut placement = Placement::new(Some(half)).unwrap().unwrap();
            for second in 0..20 {
                placement.enter(Elapsed::at_second(second)).unwrap();
                let upper = usize::from(half.is_upper(second) == Some(true));
                assert_eq!(allowed(), halves(&before).unwrap()[upper]);
            }
        });
        thread.join().unwrap();
        let sliced = Sharing::Slices { slice_s: 1 };
        let half =
            PairHalf { is_b: true, seed: 1, same_target: false, looks_most: None, sharing: sliced };
        assert!(Placement::new(Some(half)).unwrap().is_none());
        assert!(Placement::new(None).unwrap().is_none());
    }
}
