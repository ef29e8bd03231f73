import { describe, expect, it } from 'vitest';
import { NONE, ago, between, brief, clock, count, counted, duration, figure, percent, time, sizeOf, unbroken } from './format';

describe('numbers', () => {
  it('stay on one line with their units, unlike other words', () => {
    expect(unbroken('busiest thread 2 %, p99 14.0 ms of 2 sessions')).toBe('busiest thread 2\u00a0%, p99 14.0\u00a0ms of 2 sessions');
  });

  it('have separators, units, and no more digits than mean something', () => {
    expect(count(67630.4)).toBe('67,630');
    expect([count(8.44), count(0.0432), count(0)]).toEqual(['8.4', '0.043', '0']);
    expect([counted(1, 'warehouses'), counted(1, 'branches'), counted(2, 'branches'), counted(0.01, 'SF'), counted(20_000, 'runs'), counted(1, 'units of scale')]).toEqual(['1 warehouse', '1 branch', '2 branches', '0.01 SF', '20,000 runs', '1 unit of scale']);
    expect([counted(0.001, 'million rows'), counted(10, 'million rows')]).toEqual(['1,000 rows', '10 million rows']);
    expect([sizeOf(1, 'units of scale'), sizeOf(3, 'units of scale'), sizeOf(1, 'warehouses'), sizeOf(0, 'warehouses')]).toEqual(['', '3 units of scale', '1 warehouse', '']);
    expect(percent(0.0123)).toBe('1.2 %');
    expect(percent(0.00001)).toBe('<0.1 %');
    expect(percent(0)).toBe('0.0 %');
    expect([time(870), time(4213), time(1_300_000), time(45_100)]).toEqual(['870 µs', '4.21 ms', '1.30 s', '45.1 ms']);
  });

  it('writes an interval of times with one unit', () => {
    expect(between({ low: 4020, high: 4310 })).toBe('4.02–4.31 ms');
    expect(between({ low: 900, high: 1100 })).toBe('0.900–1.10 ms');
  });

  it('that were measured have three digits', () => {
    expect([1.004, 1.012, 12.47, 99.96, 612.4, 0.00012, 0].map(figure)).toEqual(['1', '1.01', '12.5', '100', '612', '0.00012', '0']);
  });

  it('that are absent show as such', () => {
    for (const show of [count, figure, percent, time, clock, duration]) {
      expect(show(null)).toBe(NONE);
      expect(show(undefined)).toBe(NONE);
      expect(show(Number.NaN)).toBe(NONE);
    }
    expect(ago('nonsense')).toBe(NONE);
  });
});

describe('times', () => {
  it('read as the command line reads them', () => {
    expect([duration(14.003), duration(2.9), duration(59.99), duration(0.25), duration(0)]).toEqual(['14s', '2.9s', '1m', '250ms', '0s']);
    expect([duration(45), duration(300), duration(5400), duration(3661)]).toEqual(['45s', '5m', '1h30m', '1h1m1s']);
    expect([clock(7), clock(3723), clock(-1)]).toEqual(['0:07', '1:02:03', '−0:01']);
  });

  it('of the past are relative', () => {
    const now = Date.parse('2026-01-02T00:00:00Z');
    expect(ago('2026-01-01T23:59:50Z', now)).toBe('just now');
    expect(ago('2026-01-01T23:57:00Z', now)).toBe('3 min ago');
    expect(ago('2025-12-31T00:00:00Z', now)).toBe('2 days ago');
  });
});

it('a version of a server is shown without its packager', () => {
  expect(brief('15.18 (Debian 15.18-0+deb12u1)')).toBe('15.18');
  expect(brief('10.11.6-MariaDB')).toBe('10.11.6-MariaDB');
  expect(brief(null)).toBe('');
});
