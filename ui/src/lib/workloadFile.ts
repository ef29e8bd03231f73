// The workload file of a form: its fields, and the text of the setting `workload-file`.

/** A workload file, and the files that it names. */
export interface WorkloadFile {
  name: string;
  text: string;
  files?: Record<string, string>;
}

/** Parses the text of the setting; an empty file for one that is not set. */
export function parseWorkloadFile(value: string): WorkloadFile {
  const empty = { name: 'workload.toml', text: '' };
  if (!value.trimStart().startsWith('{')) return empty;
  try {
    return JSON.parse(value) as WorkloadFile;
  } catch {
    return empty;
  }
}

/** Formats the text of the setting; empty without a file. The server validates it. */
export const workloadFileText = (file: WorkloadFile): string => (file.text.trim() ? JSON.stringify(file) : '');

/** The text of the setting for the files that a job stored, of which the first is the workload file. */
export function storedWorkloadFile(stored: { name: string; text: string }[]): string {
  const [first, ...rest] = stored;
  if (!first) return '';
  return JSON.stringify({ name: first.name, text: first.text, files: Object.fromEntries(rest.map(({ name, text }) => [name, text])) });
}

/** Adds chosen files: one that ends in `.toml` is the workload file, others are files that it names. */
export function withFiles(file: WorkloadFile, chosen: { name: string; text: string }[]): WorkloadFile {
  return chosen.reduce<WorkloadFile>((all, { name, text }) => (name.endsWith('.toml') ? { ...all, name, text } : { ...all, files: { ...all.files, [name]: text } }), file);
}
