//! Conversions between number types, without surprises.

/// Converts a count to a floating-point number.
#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^53")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

/// Converts an integer to a floating-point number, exactly below 2^53.
#[expect(clippy::cast_precision_loss, reason = "figures of a run do not need more digits")]
pub(crate) fn signed(number: i64) -> f64 {
    number as f64
}

/// Converts a length to a floating-point number.
#[expect(clippy::cast_precision_loss, reason = "lengths of slices are far below 2^53")]
pub(crate) fn size(length: usize) -> f64 {
    length as f64
}

/// Converts to a count: truncated, and 0 if negative or not a number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
pub(crate) fn whole(number: f64) -> u64 {
    number as u64
}

/// Converts to a length: truncated, and 0 if negative or not a number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
pub(crate) fn length(number: f64) -> usize {
    number as usize
}

/// Returns the number, or the nearest finite one.
pub(crate) fn finite(number: f64) -> f64 {
    if number.is_nan() { 0.0 } else { number.clamp(-f64::MAX, f64::MAX) }
}

/// Arithmetic mean; 0 without values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / size(values.len()) }
}

/// Sum of squares about the mean.
pub(crate) fn squares(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|x| (x - centre) * (x - centre)).sum()
}

/// Scales the finite values to at most 1 in either direction, and returns the divisor too. Sums of
/// squares of the result cannot overflow. All zeros are returned unchanged.
pub(crate) fn scaled(values: &[f64]) -> (Vec<f64>, f64) {
    let finite = values.iter().copied().filter(|x| x.is_finite());
    let scale = finite.clone().fold(0.0, |most: f64, x| most.max(x.abs()));
    let scale = if scale == 0.0 { 1.0 } else { scale };
    (finite.map(|x| x / scale).collect(), scale)
}

/// Panics if a result contains a NaN or an infinity anywhere.
#[cfg(test)]
pub(crate) fn assert_finite(result: &impl std::fmt::Debug) {
    let text = format!("{result:?}");
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
}
