import { expect, test } from 'vitest';
import { parseWorkloadFile, storedWorkloadFile, withFiles, workloadFileText } from './workloadFile';

test('a form has the text of the workload file and of those that it names', () => {
  const empty = parseWorkloadFile('');
  expect(workloadFileText(empty)).toBe('');
  const file = withFiles(empty, [{ name: 'a.csv', text: 'x' }, { name: 'bank.toml', text: 'name = "Bank"' }]);
  expect(file).toEqual({ name: 'bank.toml', text: 'name = "Bank"', files: { 'a.csv': 'x' } });
  expect(parseWorkloadFile(workloadFileText(file))).toEqual(file);
  expect(parseWorkloadFile('{')).toEqual(empty);
});

test('a job is started again with the files that it stored', () => {
  expect(storedWorkloadFile([])).toBe('');
  const stored = [{ name: 'bank.toml', text: 'a' }, { name: 'a.csv', text: 'x' }];
  expect(parseWorkloadFile(storedWorkloadFile(stored))).toEqual({ name: 'bank.toml', text: 'a', files: { 'a.csv': 'x' } });
});
