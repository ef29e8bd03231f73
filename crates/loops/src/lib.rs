//! The loops of the host test. None of them reads a clock, and none is inlined into its caller, so
//! that they are compiled with the optimisation of this crate.

/// Calculates steps of n = mod(n, 999999) + sqrt(f), for f = `first` …, in double precision: the
/// formula of `doctor --cpu-test`, which takes the time of additions, divisions and square roots that
/// wait for each other.
#[must_use]
#[inline(never)]
pub fn steps(n: f64, first: u32, count: u32) -> f64 {
    (first..first.saturating_add(count)).fold(n, |n, f| n % 999_999.0 + f64::from(f).sqrt())
}

/// Calculates a = b + `factor` · c, as the triad of McCalpin's STREAM: it reads two arrays and writes
/// one, 24 bytes per element. The arrays have one length; of longer ones, the rest stays.
#[inline(never)]
pub fn triad(a: &mut [f64], b: &[f64], c: &[f64], factor: f64) {
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = *b + factor * *c;
    }
}

/// A line of a processor's cache, 64 bytes; its first number is the index of the next line.
pub type Line = [u32; 16];

/// Lines that make one cycle in random order (Sattolo's algorithm): whoever follows them reads each
/// line once before the first one again, and no prefetcher guesses the next. `seed` gives the order.
///
/// # Panics
/// With more lines than a `u32` counts.
#[must_use]
#[inline(never)]
pub fn cycle(lines: usize, seed: u64) -> Vec<Line> {
    let count = u32::try_from(lines).expect("a chase has at most 2^32 lines");
    let mut all: Vec<Line> = (0..count).map(|index| [index; 16]).collect();
    let mut random = seed | 1;
    for last in (1..lines).rev() {
        // Marsaglia's xorshift is random enough for an order.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let below = usize::try_from(random % last as u64).expect("less than a usize");
        let (low, high) = all.split_at_mut(last);
        std::mem::swap(&mut low[below][0], &mut high[0][0]);
    }
    all
}

/// Follows the lines of a cycle from `start`, and returns where that ends: each read waits for the
/// one before.
#[must_use]
#[inline(never)]
pub fn chase(lines: &[Line], start: u32, count: u32) -> u32 {
    (0..count).fold(start, |at, _| lines[at as usize][0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_has_its_known_result() {
        let half = steps(0.0, 1, 5_000_000);
        assert_eq!(format!("{:.2}", steps(half, 5_000_001, 5_000_000)), "873729.72");
    }

    #[test]
    fn a_cycle_visits_every_line_once() {
        for lines in [1_usize, 2, 3, 1000] {
            let all = cycle(lines, 7);
            let mut seen = vec![false; lines];
            let mut at = 0;
            for _ in 0..lines {
                assert!(!std::mem::replace(&mut seen[at as usize], true), "{lines}: twice");
                at = chase(&all, at, 1);
            }
            assert_eq!(at, 0, "{lines}");
        }
        assert_ne!(cycle(100, 1), cycle(100, 5), "the seed gives the order");
    }

    #[test]
    fn the_triad_adds_and_multiplies() {
        let mut a = [0.0; 3];
        triad(&mut a, &[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0], 0.5);
        assert_eq!(a, [6.0, 12.0, 18.0]);
    }
}
