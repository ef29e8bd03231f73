// The load model of a form: its fields, and the text of the setting `load`.

/** The available load models, each with its meaning. */
export const MODELS = [
  { kind: 'closed', title: 'Closed: users without pauses', help: 'Each virtual user starts its next transaction when the last one ends.' },
  { kind: 'rate', title: 'Open: arrivals at a rate', help: 'Transactions arrive at this rate, however long each takes.' },
  { kind: 'ramp', title: 'Open: a rising rate', help: 'The rate of arrivals rises evenly from the first value to the second.' },
  { kind: 'keyed', title: 'Terminals with keying and thinking times', help: 'Each terminal waits as the workload describes.' },
] as const;

export type Kind = (typeof MODELS)[number]['kind'];

/** Fields of a load model, as the text that was typed. */
export interface Load {
  kind: Kind;
  rate: string;
  constant: boolean;
  from: string;
  to: string;
  over: string;
}

/** Parses the text of the setting to fields; those of a closed load if it is empty or unknown. */
export function parseLoad(text: string): Load {
  const load: Load = { kind: 'closed', rate: '', constant: false, from: '', to: '', over: '' };
  // Changes of the rate stay as they were typed.
  if (/^rate:.*at=/.test(text)) return { ...load, kind: 'rate', rate: text.slice('rate:'.length).replace(/\/s$/, '') };
  const rate = /^rate:([^,]*)(,constant)?/.exec(text);
  if (rate) return { ...load, kind: 'rate', rate: rate[1]!.replace(/\/s$/, ''), constant: Boolean(rate[2]) };
  const ramp = /^ramp:(.*?)\.\.(.*?)\/(.*)$/.exec(text);
  if (ramp) return { ...load, kind: 'ramp', from: ramp[1]!, to: ramp[2]!, over: ramp[3]! };
  return { ...load, kind: text === 'keyed' ? 'keyed' : 'closed' };
}

/** Formats the text of a load model; empty for the default. The server validates the values. */
export function loadText(load: Load): string {
  switch (load.kind) {
    case 'closed':
      return '';
    case 'rate':
      return `rate:${load.rate.trim()}/s${load.constant ? ',constant' : ''}`;
    case 'ramp':
      return `ramp:${load.from.trim()}..${load.to.trim()}/${load.over.trim()}`;
    case 'keyed':
      return 'keyed';
  }
}

/** Settings that only some load models have. */
const ONLY: Record<string, Kind[]> = {
  late: ['rate', 'ramp'],
  backlog: ['rate', 'ramp'],
  terminals: ['keyed'],
  sessions: ['keyed'],
  'login-delay': ['keyed'],
  transactions: ['closed'],
};

/** Whether a setting applies to this load model. */
export const applies = (setting: string, kind: Kind): boolean => ONLY[setting]?.includes(kind) ?? true;

/** Describes the arrivals: `arrivals at 500 per second`, `arrivals rising from 10 to 200 per second within 1m`. */
export function arrivals(text: string): string {
  const load = parseLoad(text);
  if (load.rate.includes('at=')) return `arrivals at ${load.rate} per second`;
  if (load.kind === 'rate') return `${load.constant ? 'evenly spaced arrivals' : 'arrivals'} at ${load.rate} per second`;
  if (load.kind !== 'ramp') return `arrivals by ${text}`;
  return `arrivals ${Number(load.to) < Number(load.from) ? 'falling' : 'rising'} from ${load.from} to ${load.to} per second within ${load.over}`;
}
