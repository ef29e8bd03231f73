// Formats numbers: a thin thousands separator, a unit, and no more digits than are significant.

const integer = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const exact = new Intl.NumberFormat('en', { maximumFractionDigits: 3 });
const oneDigit = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const twoDigits = new Intl.NumberFormat('en', { maximumSignificantDigits: 2 });
const threeDigits = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** Shown if there is no value. */
export const NONE = '–';

/** Formats a count or a rate: `67,630`, `8.4` below ten, and `0.043` below one. */
export function count(value: number | null | undefined): string {
  if (value == null || !Number.isFinite(value)) return NONE;
  const size = Math.abs(value);
  const format = size >= 10 || Number.isInteger(value) ? integer : size >= 1 ? oneDigit : twoDigits;
  return format.format(value);
}

/** Formats a measured value, as text reports do: three significant digits below a hundred, and all whole ones above. */
export function figure(value: number | null | undefined): string {
  if (value == null || !Number.isFinite(value) || Math.abs(value) >= 100) return count(value);
  return threeDigits.format(value);
}

/** Formats a count with its unit, given in the plural: `1 warehouse`, `20 warehouses`, `0.01 SF`. A scale has up to three fractional digits. */
export function counted(n: number, units: string): string {
  if (n < 1 && units.startsWith('million ')) return counted(n * 1_000_000, units.slice('million '.length));
  const one = units.replace(/s( of .*)?$/, '$1').replace(/che$/, 'ch');
  return `${exact.format(n)} ${n === 1 ? one : units}`;
}

/** Formats the size of the data; empty if it says nothing, as that of data whose size triphammer does not know. */
export const sizeOf = (scale: number, units: string) => (scale === 0 || (scale === 1 && units === 'units of scale') ? '' : counted(scale, units));

/** Formats a share from 0 to 1 in per cent. */
export function percent(share: number | null | undefined, digits = 1): string {
  if (share == null || !Number.isFinite(share)) return NONE;
  const shown = share * 100;
  return share > 0 && shown < 10 ** -digits ? `<${10 ** -digits} %` : `${shown.toFixed(digits)} %`;
}

/** Formats microseconds in a suitable unit: `870 µs`, `4.21 ms`, `1.30 s`. */
export function time(us: number | null | undefined): string {
  if (us == null || !Number.isFinite(us)) return NONE;
  if (us < 1000) return `${Math.round(us)} µs`;
  if (us < 1_000_000) return `${three(us / 1000)} ms`;
  return `${three(us / 1_000_000)} s`;
}

/** Formats an interval of microseconds, in the unit of its upper end: `4.02–4.31 ms`. */
export function between({ low, high }: { low: number; high: number }): string {
  const [divisor, unit] = high < 1000 ? [1, 'µs'] : high < 1_000_000 ? [1000, 'ms'] : [1_000_000, 's'];
  return `${three(low / divisor)}–${three(high / divisor)} ${unit}`;
}

/** Distances between the ticks of a time axis, in seconds. */
export const CLOCK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];

/** Distances between the ticks of an axis of dates, in seconds: up to a year. */
export const DAY_STEPS = [...CLOCK_STEPS, ...[2, 7, 14, 30, 90, 365].map((days) => days * 86400)];

/** Formats seconds as `1:02:03`, or `0:07`. */
export function clock(seconds: number | null | undefined): string {
  if (seconds == null || !Number.isFinite(seconds)) return NONE;
  if (seconds < 0) return `−${clock(-seconds)}`;
  const whole = Math.floor(seconds);
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n: number) => String(n).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** Formats seconds as `5m`, `1h30m`, `45s`, `2.9s`, `250ms`, as the command line accepts them. */
export function duration(seconds: number | null | undefined): string {
  if (seconds == null || !Number.isFinite(seconds)) return NONE;
  if (seconds > 0 && seconds < 0.9995) return `${Math.round(seconds * 1000)}ms`;
  const tenths = Math.round(seconds * 10);
  if (tenths < 600) return `${tenths / 10}s`;
  const whole = Math.round(seconds);
  const parts: [number, string][] = [
    [Math.floor(whole / 3600), 'h'],
    [Math.floor(whole / 60) % 60, 'm'],
    [whole % 60, 's'],
  ];
  return parts.filter(([n]) => n > 0).map(([n, unit]) => `${n}${unit}`).join('') || '0s';
}

/** How long a job took: `4.2s`, `1h2m`. */
export const took = (job: { started_at: string; ended_at?: string | null }): string =>
  job.ended_at ? duration((Date.parse(job.ended_at) - Date.parse(job.started_at)) / 1000) : '–';

/** Formats the time since an RFC 3339 instant: `just now`, `3 min ago`, `2 days ago`. */
export function ago(instant: string | null | undefined, now = Date.now()): string {
  if (!instant) return NONE;
  const seconds = (now - Date.parse(instant)) / 1000;
  if (!Number.isFinite(seconds)) return NONE;
  const steps: [number, string, string][] = [
    [86400, 'day', 'days'],
    [3600, 'hour', 'hours'],
    [60, 'min', 'min'],
  ];
  for (const [length, one, many] of steps) {
    const n = Math.floor(seconds / length);
    if (n >= 1) return `${n} ${n === 1 ? one : many} ago`;
  }
  return 'just now';
}

/** Formats an RFC 3339 instant in the reader's time zone: `2026-11-21 23:51:07`. */
export function instant(text: string | null | undefined): string {
  if (!text) return NONE;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return NONE;
  const two = (n: number) => String(n).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}

/** Formats three significant digits without an exponent. */
function three(value: number): string {
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  const text = value.toFixed(Math.min(digits, 3));
  return text.includes('.') && value >= 1 && Number.isInteger(value) ? String(value) : text;
}

/** Formats a bottleneck as one word: `load_limited` becomes `load`. */
export const bottleneck = (kind: string) => kind.replace(/_(limited|bound)$/, '');

/** Capitalizes a name for the start of a line: `Run`. */
export const capital = (text: string) => bare(text.charAt(0).toUpperCase() + text.slice(1));

/** Removes the marks of code, which mean something only where text is all there is. */
const bare = (text: string) => text.replaceAll('`', '');

/** Formats a figure in its declared unit. */
export const inUnit = (unit: 'us' | 'share' | 'number', value: number | null) => ({ us: time, share: percent, number: figure })[unit](value);

/** Formats the version of a server without what its packager added: `15.18 (Debian 15.18-0+deb12u1)` becomes `15.18`. */
export const brief = (version: string | null | undefined) => (version ?? '').replace(/\s*\(.*\)\s*$/, '');

/** Keeps numbers and their units on one line. */
export const unbroken = (text: string): string => text.replace(/(\d) (?=(%|µs|ms|s)(\W|$))/g, '$1\u00a0');

/** Formats a sentence of a document for the start of a line. */
export const sentenceOf = (text: string): string => unbroken(capital(text));
