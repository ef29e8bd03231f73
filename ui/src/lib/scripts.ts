// The scripts of a form: their fields, and the text of the setting `script`.

/** A script; a built-in one has no text of its own. */
export interface Script {
  name: string;
  weight: number;
  text?: string;
}

/** The built-in scripts. */
export const BUILT_IN = ['tpcb-like', 'simple-update', 'select-only'];

/** Parses the text of the setting: the scripts themselves, or names of built-in ones, as in `select-only@2`. */
export function parseScripts(value: string): Script[] {
  if (!value.trimStart().startsWith('[')) {
    return value.split(',').map((one) => one.trim()).filter(Boolean).map((one) => {
      const [, name, weight] = /^(.*?)(?:@(\d+))?$/.exec(one)!;
      return { name: name!, weight: Number(weight ?? 1) };
    });
  }
  try {
    return JSON.parse(value) as Script[];
  } catch {
    return [];
  }
}

/** Formats the text of the setting; empty without scripts. The server validates them. */
export const scriptsText = (scripts: Script[]): string => (scripts.length > 0 ? JSON.stringify(scripts) : '');

/** Adds an empty script with a name that no other one has, or a built-in one. */
export function added(scripts: Script[], name?: string): Script[] {
  if (name) return [...scripts, { name, weight: 1 }];
  let number = scripts.length + 1;
  while (scripts.some((script) => script.name === `script-${number}.sql`)) number += 1;
  return [...scripts, { name: `script-${number}.sql`, weight: 1, text: '' }];
}
