//! Numbers between kinds, without surprises.

/// A count as a number.
#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^53")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

/// A length as a number.
#[expect(clippy::cast_precision_loss, reason = "lengths of slices are far below 2^53")]
pub(crate) fn size(length: usize) -> f64 {
    length as f64
}

/// A number as a count: cut to whole, 0 for what is negative or not a number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
pub(crate) fn whole(number: f64) -> u64 {
    number as u64
}

/// A number as a length: cut to whole, 0 for what is negative or not a number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
pub(crate) fn length(number: f64) -> usize {
    number as usize
}

/// The number, or the nearest finite one.
pub(crate) fn finite(number: f64) -> f64 {
    if number.is_nan() { 0.0 } else { number.clamp(-f64::MAX, f64::MAX) }
}

/// Mean; 0 of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / size(values.len()) }
}

/// Sum of squares about the mean.
pub(crate) fn squares(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|x| (x - centre) * (x - centre)).sum()
}

/// The finite values, brought to at most 1 either way, and what they were divided by. Sums of squares of
/// what comes back cannot overflow. All zeros come back as they are.
pub(crate) fn scaled(values: &[f64]) -> (Vec<f64>, f64) {
    let finite = values.iter().copied().filter(|x| x.is_finite());
    let scale = finite.clone().fold(0.0, |most: f64, x| most.max(x.abs()));
    let scale = if scale == 0.0 { 1.0 } else { scale };
    (finite.map(|x| x / scale).collect(), scale)
}

/// Fails when a NaN or an infinity is anywhere in a result.
#[cfg(test)]
pub(crate) fn assert_finite(result: &impl std::fmt::Debug) {
    let text = format!("{result:?}");
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
}
