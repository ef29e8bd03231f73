//! Judges what was found at a level by what the product promises there.

use triphammer_core::sql::StatementCatalogue;
use triphammer_core::stats::Times;
use triphammer_dialects::isolation::of_name;
use triphammer_document::isolation::{Control, KindResult, LevelResult, Price, Staleness};
use triphammer_document::result::RunResult;
use triphammer_isolation::plant::plant;
use triphammer_isolation::{Anomaly, AnomalyKind, Order, Promise, Report};

use super::Driven;
use super::checked::Checked;
use super::example;
use super::plan::Levels;

/// What was found at a level; `control` is what the same load found at the weakest one.
pub(super) fn level(
    driven: &Driven,
    levels: &Levels,
    control: Option<&Report>,
    catalogue: &StatementCatalogue,
) -> LevelResult {
    let def = levels.level(driven.level);
    let Checked { report, unchecked, .. } = &driven.checked;
    let promise = &levels.promise(driven.level);
    let by_name = Promise { model: of_name(driven.level), ..*promise };
    let judge = Judge { driven, levels, promise, by_name: &by_name, control, catalogue };
    LevelResult {
        level: driven.level.name().to_owned(),
        promise: promise.model.name().to_owned(),
        order: promise.order.name().to_owned(),
        by_name: by_name.model.name().to_owned(),
        source: def.source.clone(),
        note: def.note.clone(),
        run: driven.run.job,
        transactions: report.transactions,
        committed: report.committed,
        in_doubt_seen: report.in_doubt_seen,
        in_doubt_unseen: report.in_doubt_unseen,
        operations: report.operations,
        kinds: judge.kinds(),
        is_blind: judge.is_blind(),
        staleness: staleness(report),
        unchecked: unchecked.clone(),
        price: price(&driven.run),
    }
}

struct Judge<'a> {
    driven: &'a Driven,
    levels: &'a Levels,
    promise: &'a Promise,
    by_name: &'a Promise,
    control: Option<&'a Report>,
    catalogue: &'a StatementCatalogue,
}

impl Judge<'_> {
    /// Every kind without an order, and those with one that were found.
    fn kinds(&self) -> Vec<KindResult> {
        let found = self.driven.checked.report.findings.keys().copied();
        let ordered = found.filter(|kind| kind.order != Order::Dependencies);
        let all = Anomaly::ALL.into_iter().map(AnomalyKind::of).chain(ordered);
        all.map(|kind| self.kind(kind)).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of transactions")]
    fn kind(&self, kind: AnomalyKind) -> KindResult {
        let report = &self.driven.checked.report;
        let finding = report.findings.get(&kind);
        let count = finding.map_or(0, |finding| finding.count);
        let promised = self.promise.forbids(kind);
        let control = match promised && count == 0 {
            true => self.control_of(kind),
            false => Control::None,
        };
        let is_searched = !(report.uncounted && kind.anomaly.is_cycle());
        let control = if is_searched { control } else { Control::None };
        let verdict = KindResult::judged(promised, count, control);
        KindResult {
            kind: kind.to_string(),
            title: kind.anomaly.title().to_owned(),
            verdict,
            words: verdict.words().to_owned(),
            promised,
            promised_by_name: self.by_name.forbids(kind),
            count,
            share: count as f64 / report.committed.max(1) as f64,
            first_s: finding.map(|finding| finding.first as f64 / 1e9),
            control,
            example: finding.map(|finding| example::of(&finding.example, self.catalogue)),
        }
    }

    /// What shows that a kind would have been found: the same load, if a weaker level allows it, or
    /// else the checker alone.
    fn control_of(&self, kind: AnomalyKind) -> Control {
        if self.control.is_some_and(|control| control.count(kind) > 0) {
            return Control::Load;
        }
        let planted = || {
            let kept = &self.driven.checked.kept;
            kept.iter().any(|history| plant(history, kind.anomaly).is_some())
        };
        if !self.is_allowed_weaker(kind) && planted() { Control::Planted } else { Control::None }
    }

    /// Whether a weaker level of the product allows a kind.
    fn is_allowed_weaker(&self, kind: AnomalyKind) -> bool {
        let levels = self.levels.known.iter();
        let mut weaker = levels.take_while(|level| **level != self.driven.level);
        weaker.any(|level| !self.levels.promise(*level).forbids(kind))
    }

    /// Whether the control showed none of the kinds that this level promises to prevent and a weaker
    /// one allows.
    fn is_blind(&self) -> bool {
        let Some(control) = self.control else { return false };
        let of_control = Anomaly::ALL.into_iter().map(AnomalyKind::of);
        let mut shown = of_control
            .filter(|kind| self.promise.forbids(*kind) && self.is_allowed_weaker(*kind))
            .peekable();
        shown.peek().is_some() && !shown.any(|kind| control.count(kind) > 0)
    }
}

#[expect(clippy::cast_precision_loss, reason = "times in milliseconds")]
fn staleness(report: &Report) -> Staleness {
    let at = |share: f64| report.ages.at(share).map(|age| age as f64 / 1e6);
    Staleness {
        reads: report.reads,
        stale: report.ages.count(),
        p50_ms: at(0.5),
        p99_ms: at(0.99),
        max_ms: at(1.0),
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts and microseconds")]
fn price(run: &RunResult) -> Price {
    let all = &run.window.total;
    let Times { p50_us, p95_us, p99_us, count, .. } = all.response;
    let ms = |us: u64| (count > 0).then_some(us as f64 / 1e3);
    let interval = run.steadiness.as_ref().and_then(|steadiness| steadiness.interval);
    Price {
        tps: run.primary_metric.value,
        tps_interval: interval.map(|interval| [interval.low, interval.high]),
        p50_ms: ms(p50_us),
        p95_ms: ms(p95_us),
        p99_ms: ms(p99_us),
        retries_per_commit: all.retries() as f64 / all.committed.max(1) as f64,
        failed: all.failed,
    }
}
