import { render, screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
import type { Energy, RunPrice } from '../api/types';
import Costs from './Costs.svelte';

const price: RunPrice = {
  list: {
    currency: 'EUR',
    components: [
      { name: 'server', quantity: 2, price: 0.4, paid: { every: 'hour' }, source: 'offer 7' },
      { name: 'licence', quantity: 1, price: 9000, paid: { every: 'once', years: 3 }, source: 'list' },
    ],
  },
  per_year: 10_008,
  counted: 'New-Orders committed',
  per_million: { value: 0.0123, interval: { low: 0.0121, high: 0.0125 } },
  millions_per_year: { value: 813_659, interval: null },
};
const energy: Energy = {
  sources: [{ kind: 'rapl', of: 'shared_host', host: null, domains: [{ name: 'package-0', joules: 600, coverage: 1 }], joules: 600, watts: 60, idle_watts: 20 }],
  figures: {
    of: 'shared_host', kind: 'rapl', counted: 'New-Orders committed', per_second: 100, watts: 60, joules_per_transaction: 0.6, primary_metric_per_watt: 100,
    above_idle: { idle_s: 30, idle_watts: 20, watts: 40, joules_per_transaction: 0.4 }, client_cpu_share: 0.25,
  },
  gaps: [],
};

it('shows what a run costs and the energy that it used', () => {
  const { unmount } = render(Costs, { price, energy, metric: 'NOPM' });
  expect(screen.getByText('0.0123 EUR (0.0121 to 0.0125) per million New-Orders committed')).toBeTruthy();
  expect(screen.getByText('server').closest('tr')?.textContent).toMatch(/2 × 0\.4 per hour.*7,008\.00 EUR.*offer 7/);
  expect(screen.getByText('licence').closest('tr')?.textContent).toMatch(/once, over 3 years.*3,000\.00 EUR/);
  expect(screen.getByText('0.6 J each of the New-Orders committed · 60 W · 100 NOPM per W')).toBeTruthy();
  expect(screen.getByText(/40 W above the idle host, 0\.4 J each; that used 20 W in the 30s/)).toBeTruthy();
  expect(screen.getByText(/25\.0 % of the CPU time that was used is the client’s/)).toBeTruthy();
  unmount();
});

it('says why energy is not known', () => {
  render(Costs, { price: null, energy: { sources: [], figures: null, gaps: ['this host shows no energy counters'] }, metric: 'NOPM' });
  expect(screen.getByText('Energy per transaction is not known.')).toBeTruthy();
  expect(screen.getByText('this host shows no energy counters')).toBeTruthy();
  expect(screen.queryByText('Price')).toBeNull();
});
