// Finds all errors of a form at once, to show beside its fields.

import { capital } from './format';
import { ApiError } from './http';

export interface Form {
  command: string;
  target: string | null;
  other: string | null;
  settings: Record<string, string>;
}

/** Errors of a form: by setting, and those that belong to no setting. */
export interface Problems<T> {
  preview: T | null;
  /** The preview of the form without the settings that have an error: the defaults of the others. */
  without: T | null;
  fields: Record<string, string>;
  other: ApiError | null;
}

/** Removes the parts that only apply to a command line: the flag, and that the value came from a request. */
export function plain(message: string, titles: Record<string, string> = {}): string {
  return capital(fieldNames(message.replace(/^--[a-z-]+(?: from the request)?: /, '').replace(/ from the request/g, '').replace(/such as --[a-z-]+ /g, 'such as '), titles));
}

/** Removes what only applies to a command line from a help text or default: repeated flags, and exit codes. */
export function plainHelp(help: string, titles: Record<string, string>, sentence = true): string {
  const text = help
    .replace(/^With --ab, /, '')
    .replace(/[,;] (?:or|also by) the flag again/g, '')
    .replace(/; can be repeated/, '; separate several with commas')
    .replace(/[.;]\s+[^.;]*exit code[^.;]*/g, '');
  return sentence ? capital(fieldNames(text, titles)) : fieldNames(text, titles);
}

/** Replaces flags with the titles of fields, and backticks with quotes. */
function fieldNames(text: string, titles: Record<string, string>): string {
  const field = (name: string) => (titles[name] ? `“${titles[name]}”` : name);
  return text
    .replace(/`--([a-z-]+)([^`]*)`/g, (_, name: string, rest: string) => field(name) + rest)
    .replace(/--([a-z][a-z-]*)/g, (_, name: string) => field(name))
    .replace(/`([^`]*)`/g, '“$1”');
}

/** Values for required settings, with which the other settings can be checked while these are missing. */
const STAND_INS: Record<string, string> = { limit: 'all.p95 < 1s' };

/**
 * Requests a preview; if the server rejects a setting, repeats it without that setting until it is accepted. The
 * server reports one error at a time, but the form shows all of them. `preview` is null if there is any error.
 */
export async function problems<T>(form: Form, ask: (form: Form) => Promise<T>, titles: Record<string, string> = {}): Promise<Problems<T>> {
  const fields: Record<string, string> = {};
  let settings = form.settings;
  for (;;) {
    try {
      const preview = await ask({ ...form, settings });
      return { preview: Object.keys(fields).length > 0 ? null : preview, without: preview, fields, other: null };
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      const { field } = problem;
      if (field === undefined) return { preview: null, without: null, fields, other: problem };
      const standIn = STAND_INS[field];
      if (standIn && !(field in settings) && !(field in fields)) {
        fields[field] = plain(problem.message, titles);
        settings = { ...settings, [field]: standIn };
        continue;
      }
      // A missing setting: it may be one that was just left out.
      if (!(field in settings)) return { preview: null, without: null, fields: { [field]: plain(problem.message, titles), ...fields }, other: null };
      fields[field] = plain(problem.message, titles);
      settings = Object.fromEntries(Object.entries(settings).filter(([name]) => name !== field));
    }
  }
}
