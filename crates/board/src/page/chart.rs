//! A chart that needs no script: the primary metric, second by second.

use maud::{Markup, html};
use triphammer_settings::format::{clock, figure};

/// Most points of a line; more are averaged.
const POINTS_MAX: usize = 400;
/// Height of the drawing, whose width is the number of points.
const HEIGHT: f64 = 100.0;
/// Fewest points of a line.
const POINTS_MIN: usize = 3;

/// Draws the seconds of a timed window; nothing if there are too few. `name` is the metric.
pub(super) fn seconds(name: &str, values: &[f64]) -> Markup {
    if values.len() < POINTS_MIN {
        return html! {};
    }
    let points = thinned(values);
    let most = values.iter().copied().fold(0.0, f64::max);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    #[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
    let (mean, length) = (values.iter().sum::<f64>() / values.len() as f64, values.len() as f64);
    let line = points
        .iter()
        .enumerate()
        .map(|(x, y)| format!("{x},{:.2}", HEIGHT * (1.0 - y / most.max(f64::MIN_POSITIVE))));
    let line = line.collect::<Vec<_>>().join(" ");
    let level = format!("{:.2}", HEIGHT * (1.0 - mean / most.max(f64::MIN_POSITIVE)));
    let place_of_mean = format!("{level}%");
    let words = format!(
        "mean {}, from {} to {} in {} seconds",
        figure(mean),
        figure(least),
        figure(most),
        values.len()
    );
    let right = points.len() - 1;
    html! {
        figure.seconds {
            figcaption { (name) " " span.quiet { "second by second: " (words) } }
            div.plot {
                span.top.quiet { (figure(most)) }
                span.bottom.quiet { "0" }
                svg viewBox={ "0 0 " (right) " " (HEIGHT) } preserveAspectRatio="none" role="img"
                    aria-label={ (name) ", " (words) } {
                    line.level x1="0" x2=(right) y1=(level) y2=(level) {}
                    polyline.line points=(line) {}
                }
                // A drawing of its own: text in the other one would be stretched.
                svg.names aria-hidden="true" { text x="0.3em" y=(place_of_mean) { "mean" } }
            }
            div.time.quiet { span { "0:00:00" } span { (clock(length)) } }
        }
    }
}

/// The values, or means of equal parts of them.
fn thinned(values: &[f64]) -> Vec<f64> {
    let each = values.len().div_ceil(POINTS_MAX);
    #[expect(clippy::cast_precision_loss, reason = "a few values")]
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    values.chunks(each).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_seconds_become_few_points() {
        let values: Vec<f64> = (0..4_001).map(f64::from).collect();
        let points = thinned(&values);
        assert!(points.len() <= POINTS_MAX && points[0] == 5.0, "{points:?}");
        let drawn = seconds("NOPM", &values).into_string();
        assert!(drawn.contains("from 0 to 4,000 in 4001 seconds"), "{drawn}");
        assert!(drawn.contains(r#"y="50.00%">mean</text>"#), "{drawn}");
        assert_eq!(seconds("NOPM", &[1.0, 2.0]).into_string(), "");
        assert!(!seconds("NOPM", &[0.0; 5]).into_string().contains("NaN"));
    }
}
