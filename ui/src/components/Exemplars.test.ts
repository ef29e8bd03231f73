import { render } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { RunResult } from '../api/types';
import Exemplars from './Exemplars.svelte';

const command = (target: string) => render(Exemplars, { result: { job: 12, target, exemplars: [] } as unknown as RunResult, titles: {} }).container.querySelector('code')?.textContent;

it('proposes a command that runs at the same target', () => {
  expect(command('postgres://bench@db1:5432/tpcc')).toBe('triphammer run postgres://bench@db1:5432/tpcc --replay-exemplar 12:1');
  expect(command("sqlite:it's here.db?a=1")).toBe(String.raw`triphammer run 'sqlite:it'\''s here.db?a=1' --replay-exemplar 12:1`);
});
