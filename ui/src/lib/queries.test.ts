import { expect, test } from 'vitest';
import { figure, figureName, unitOf } from './queries';

test('a figure has the unit of its name, and times have more digits than whole milliseconds', () => {
  expect(figure('geomean_ms', 17.216)).toBe('17.2 ms');
  expect(figure('geomean_ms', 3940)).toBe('3.94 s');
  expect(figure('power', 2850.4)).toBe('2,850');
  expect(figure('geomean_ms', null)).toBe('–');
  expect(figureName('geomean_of_chosen_ms')).toBe('geomean of chosen');
});

test('queries that are all short are listed in milliseconds', () => {
  const short = unitOf([{ max_s: 0.0021 }, { max_s: null }]);
  expect([short.name, short.show(0.0021), short.show(null)]).toEqual(['milliseconds', '2.1', '–']);
  expect(unitOf([{ max_s: 0.002 }, { max_s: 12 }]).show(0.002)).toBe('0.002');
});
