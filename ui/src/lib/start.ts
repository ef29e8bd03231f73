// Contents of the Start page: commands, groups of settings, and their wording.

import type { Form, JobDetail, JobKind, Preview, SavedTarget, SettingInfo } from '../api/types';
import { documentOf } from './document';
import { capital } from './format';
import type { Kind } from './load';
import { applies, arrivals } from './load';
import { scriptsText } from './scripts';
import { storedWorkloadFile } from './workloadFile';

/** Commands with a description of their own, the most used first. */
const COMMANDS: { command: JobKind; title: string; about: string; noun: string }[] = [
  { command: 'run', title: 'Run', about: 'Drive the workload and measure it.', noun: 'run' },
  { command: 'build', title: 'Build', about: 'Create the schema and its data.', noun: 'build' },
  { command: 'profile', title: 'Profile', about: 'Throughput over virtual users, with the fitted curve.', noun: 'profile' },
  { command: 'capacity', title: 'Capacity', about: 'The highest rate that keeps a response time within a limit.', noun: 'search' },
  { command: 'compare', title: 'Compare', about: 'Is B faster, slower or the same? Runs in pairs.', noun: 'comparison' },
  { command: 'matrix', title: 'Matrix', about: 'All combinations of some settings, as a table and a heat map.', noun: 'matrix' },
  { command: 'drill', title: 'Drill', about: 'Which commits survive a fault?', noun: 'drill' },
  { command: 'isolation', title: 'Isolation', about: 'Does the isolation level keep what it promises?', noun: 'test' },
  { command: 'check', title: 'Check', about: 'Verify every condition that the data must meet.', noun: 'check' },
  { command: 'drop', title: 'Drop', about: 'Remove what a build created.', noun: 'drop' },
];

/** Returns these and the server's other commands, in display order. */
export const described = (known: JobKind[]) => [
  ...COMMANDS.filter((c) => known.includes(c.command)),
  ...known.filter((kind) => !COMMANDS.some((c) => c.command === kind)).map((kind) => ({ command: kind, title: capital(kind), about: '', noun: kind })),
];

/** Groups of settings; the first groups are expanded, the others collapsed. */
const GROUPS: { group: SettingInfo['group']; title: string; open: boolean }[] = [
  { group: 'question', title: 'Purpose', open: true },
  { group: 'load', title: 'Load', open: true },
  { group: 'length', title: 'Length', open: true },
  { group: 'data', title: 'Data', open: true },
  { group: 'failures', title: 'Failures and requirements', open: false },
  { group: 'observe', title: 'Observe', open: false },
  { group: 'statements', title: 'How statements run', open: false },
  { group: 'workload', title: 'Options of the workload', open: false },
  { group: 'connection', title: 'Connection', open: false },
  { group: 'other', title: 'Other', open: false },
];

/** Settings that have separate fields on the page, or are only available on the command line. */
const ELSEWHERE = ['workload', 'target', 'schema', 'password-file', 'label', 'load', 'json', 'allow-shell'];

/**
 * Returns the groups of a form with their settings, without those that do not apply to the load model, or to a run of
 * queries. The options of a workload that replace the load, or have no default, come first.
 */
export function grouped(settings: SettingInfo[], load: Kind, ofQueries = false) {
  const fits = (s: SettingInfo) => !ELSEWHERE.includes(s.name) && applies(s.name, load) && !(ofQueries && s.of_transactions);
  const groups = GROUPS.map(({ group, title, open }) => ({ group, title, open, settings: settings.filter((s) => s.group === group && fits(s)) }));
  const first = (one: (typeof groups)[number]) => one.group === 'workload' && (ofQueries || one.settings.some((s) => OWN_SQL.includes(s.name)));
  return [...groups.filter(first).map((one) => ({ ...one, open: true })), ...groups.filter((one) => !first(one))]
    .filter((one) => one.settings.length > 0)
    .map(({ title, open, settings: own }) => ({ title, open, settings: own }));
}

/** The document of a run. */
type RunDocument = NonNullable<ReturnType<typeof documentOf<'run'>>>;

/** Settings with the user's own SQL. */
const OWN_SQL = ['script', 'workload-file'];

/** The value of a setting of a run: those with own SQL name files, whose texts the document has. */
function storedText(name: string, run: RunDocument, value: string): string {
  const stored = run.workload?.scripts ?? [];
  if (name === 'script') return scriptsText(stored.map(({ name, weight, text, builtin }) => (builtin ? { name, weight } : { name, weight, text })));
  return name === 'workload-file' ? storedWorkloadFile(stored) : value;
}

/** Settings that are not repeated: where a job ran, which is looked up among the server's targets, and the job that it resumed. */
const NOT_AGAIN = ['target', 'other', 'schema', 'password-file', 'resume'];

/** Returns the link to the Start form with the values of an earlier form. */
export function formAgain({ command, target, other, settings }: Form): string {
  const places: [string, string][] = Object.entries({ target, other }).flatMap(([name, value]) => (value ? [[name, value] as [string, string]] : []));
  return `#/new?${new URLSearchParams([['command', command], ...places, ...Object.entries(settings ?? {})])}`;
}

/** Returns the link to the Start form with the settings of a job; null if no settings are stored. */
export function again(detail: JobDetail): string | null {
  const run = documentOf(detail, 'run');
  const given: [string, string][] = run ? run.settings.filter((s) => s.source !== 'default').map((s) => [s.name, s.value]) : Object.entries(detail.given ?? {});
  if (!run && !detail.given) return null;
  const { target, workload } = detail.job;
  const ofB = documentOf(detail, 'compare')?.b.target;
  const places: [string, string][] = [];
  // Without a target, a job ran on a file that is named after the workload.
  if (![`sqlite:${workload}.sqlite`, `duckdb:${workload}.duckdb`].includes(target)) places.push(['at', target]);
  if (ofB && ofB !== target) places.push(['other-at', ofB]);
  if (detail.job.label && !given.some(([name]) => name === 'label')) given.push(['label', detail.job.label]);
  const settings = given.filter(([name]) => !NOT_AGAIN.includes(name)).map(([name, text]): [string, string] => [name, run ? storedText(name, run, text) : text]);
  return `#/new?${new URLSearchParams([['command', detail.job.kind], ...places, ...settings])}`;
}

/** Finds the saved target where a job ran: the URL of a job has no parameters, and is not percent-encoded. */
export function targetAt(targets: SavedTarget[], url: string | null): SavedTarget | undefined {
  const decoded = (text: string) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  const bare = (text: string) => (/^[a-z]+:\/\//.test(text) ? text.replace(/\?.*$/, '') : text);
  const same = (of: (text: string) => string) => targets.find((one) => url !== null && of(decoded(one.url)) === of(decoded(url)));
  return same((text) => text) ?? same(bare);
}

/** Describes a run of queries: `the power test of TPROC-H`, `queries 1,6 of TPROC-H`. */
function queriesInWords(value: (name: string) => string, workload: string): string {
  const test = value('test');
  const chosen = value('queries');
  const what = { queries: 'the queries', both: 'the power and the throughput test' }[test] ?? `the ${test} test`;
  const which = chosen && chosen !== 'all' ? (test === 'queries' ? `queries ${chosen}` : `${what} with queries ${chosen}`) : what;
  const repeat = value('repeat');
  return `${which} of ${workload}${repeat && repeat !== '1' ? `, ${repeat} times` : ''}`;
}

/** Describes a form in one sentence. `ofQueries`: whether runs of the workload time a set of queries. */
export function sentence(command: JobKind, preview: Preview, title: string, ofQueries = false): string {
  const value = (name: string) => preview.settings.find((s) => s.name === name)?.value ?? '';
  const workload = value('script') ? `the scripts ${value('script')}` : title;
  if (ofQueries && command === 'run') return `Runs ${queriesInWords(value, workload)}, at ${preview.url}.`;
  if (ofQueries && command === 'profile') return `Runs the throughput test of ${workload} at ${preview.url} with ${value('streams')} streams, ${value('repeats')} times at each level.`;
  const beside = Number(value('streams')) > 0 ? ` and ${value('streams')} ${value('streams') === '1' ? 'stream' : 'streams'} of queries` : '';
  const users = value('vus') === '1' ? '1 virtual user' : `${value('vus')} virtual users`;
  const model = value('load');
  const load = !model || model === 'closed' ? users : model === 'keyed' ? `${value('terminals')} terminals` : `${arrivals(model)} over ${value('vus')} sessions`;
  const time = /^\d+$/.test(value('transactions')) ? `${value('transactions')} transactions per user` : `${value('duration')} after ${value('rampup')} of ramp-up`;
  const each = `each for ${time}`;
  switch (command) {
    case 'run':
      return `Drives ${workload} at ${preview.url} with ${load}${beside} for ${time}.`;
    case 'build':
      return `Builds ${workload} at ${preview.url} with a scale of ${value('scale')}.`;
    case 'check':
      return `Checks the data of ${workload} at ${preview.url}.`;
    case 'drop':
      return `Removes ${workload} and all its data from ${preview.url}.`;
    case 'profile':
      return `Runs ${workload} at ${preview.url} with ${value('vus')} virtual users, ${value('repeats')} times at each level, ${each}.`;
    case 'matrix':
      return `Runs ${workload} at ${preview.url} with every combination of ${value('over')}, ${value('repeats')} times each, ${each}.`;
    case 'capacity':
      return `Searches for the highest rate of ${workload} at ${preview.url} that keeps ${value('limit')}, with runs of ${value('duration')}.`;
    case 'drill':
      return `Writes rows at ${preview.url} with ${users} for ${value('duration')}, with these faults: ${value('fault')}. Then reads them back.`;
    case 'isolation':
      return `Makes ${users} conflict on few rows at ${preview.url} for ${value('duration')} per level, and checks what each of them saw.`;
    case 'compare':
      return `Compares A and B at ${preview.url} in ${value('pairs')} pairs of runs with ${load}, ${each}.`;
    default:
      return `Runs ${workload} at ${preview.url} several times, ${each}.`;
  }
}
