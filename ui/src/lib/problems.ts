// All that is wrong with a form at once, beside its fields, in plain words.

import { capital } from './format';
import { ApiError } from './http';

export interface Form {
  command: string;
  target: string | null;
  other: string | null;
  settings: Record<string, string>;
}

/** What is wrong with a form: by setting, and what belongs to none. */
export interface Problems<T> {
  preview: T | null;
  fields: Record<string, string>;
  other: ApiError | null;
}

/** Without what only a command line needs: the flag, and that the value came from a request. */
export function plain(message: string, titles: Record<string, string> = {}): string {
  return capital(fieldNames(message.replace(/^--[a-z-]+(?: from the request)?: /, '').replace(/ from the request/g, ''), titles));
}

/** Help or default of a setting without what only a command line has: flags given twice, and exit codes. */
export function plainHelp(help: string, titles: Record<string, string>, sentence = true): string {
  const text = help
    .replace(/^With --ab, /, '')
    .replace(/[,;] (?:or|also by) the flag again/g, '')
    .replace(/[.;]\s+[^.;]*exit code[^.;]*/g, '');
  return sentence ? capital(fieldNames(text, titles)) : fieldNames(text, titles);
}

/** A text with the names that fields have here instead of flags, and with quotes instead of backticks. */
function fieldNames(text: string, titles: Record<string, string>): string {
  const field = (name: string) => (titles[name] ? `“${titles[name]}”` : name);
  return text
    .replace(/`--([a-z-]+)([^`]*)`/g, (_, name: string, rest: string) => field(name) + rest)
    .replace(/--([a-z][a-z-]*)/g, (_, name: string) => field(name))
    .replace(/`([^`]*)`/g, '“$1”');
}

/**
 * Asks for a preview, and where the server rejects a setting, again without that one, until it has no objection: the
 * server names one problem at a time, and people want to see all of them. `preview` is null when anything is wrong.
 */
export async function problems<T>(form: Form, ask: (form: Form) => Promise<T>, titles: Record<string, string> = {}): Promise<Problems<T>> {
  const fields: Record<string, string> = {};
  let settings = form.settings;
  for (;;) {
    try {
      const preview = await ask({ ...form, settings });
      return { preview: Object.keys(fields).length > 0 ? null : preview, fields, other: null };
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      const { field } = problem;
      if (field === undefined) return { preview: null, fields, other: problem };
      // Something that is missing; after a setting was left out it may be just that one.
      if (!(field in settings)) return { preview: null, fields: { [field]: plain(problem.message, titles), ...fields }, other: null };
      fields[field] = plain(problem.message, titles);
      settings = Object.fromEntries(Object.entries(settings).filter(([name]) => name !== field));
    }
  }
}
