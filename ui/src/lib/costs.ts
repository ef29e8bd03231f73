// Price and energy in words, as the text reports have them.

import type { Energy, Estimate, PriceComponent, RunPrice } from '../api/types';
import { duration, figure, percent } from './format';

const cents = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const small = new Intl.NumberFormat('en', { maximumSignificantDigits: 3, maximumFractionDigits: 7 });
const HOURS_PER_YEAR = 8760;

/** Formats an amount of money: `1,234.50 EUR`, and with three significant digits below 1. */
export function money(amount: number, currency: string): string {
  const shown = Math.abs(amount) >= 0.9995 ? cents.format(amount) : small.format(amount);
  return `${shown} ${currency}`.trim();
}

/** Formats an amount with its interval: `12.34 EUR (12.10 to 12.58)`. */
export function estimated({ value, interval }: Estimate, currency: string): string {
  const range = interval ? ` (${money(interval.low, '')} to ${money(interval.high, '')})` : '';
  return `${money(value, currency)}${range}`;
}

/** What a run costs per million of what its primary metric counts. */
export const priceOf = ({ per_million, counted, list }: RunPrice): string =>
  per_million ? `${estimated(per_million, list.currency)} per million ${counted}` : `no ${counted}, so no price of them`;

/** How a component is paid: `2 × 0.40 per hour`. */
export function paid({ quantity, price, paid: payment }: PriceComponent): string {
  const ways = { hour: 'per hour', month: 'per month', once: payment.every === 'once' ? `once, over ${figure(payment.years)} years` : '' };
  const one = `${money(price, '')} ${ways[payment.every]}`;
  return quantity === 1 ? one : `${figure(quantity)} × ${one}`;
}

/** Costs of a component per year. */
export function yearOf({ quantity, price, paid: payment }: PriceComponent): number {
  const payments = payment.every === 'hour' ? HOURS_PER_YEAR : payment.every === 'month' ? 12 : 1 / payment.years;
  return quantity * price * payments;
}

/** The energy of a run in sentences. */
export function energyLines({ figures }: Energy, metric: string): string[] {
  if (!figures) return ['Energy per transaction is not known.'];
  const each = figures.joules_per_transaction == null ? [] : [`${figure(figures.joules_per_transaction)} J each of the ${figures.counted}`];
  const perWatt = figures.primary_metric_per_watt == null ? [] : [`${figure(figures.primary_metric_per_watt)} ${metric} per W`];
  const lines = [[...each, `${figure(figures.watts)} W`, ...perWatt].join(' · ')];
  const idle = figures.above_idle;
  if (idle) {
    const above = idle.joules_per_transaction == null ? '' : `, ${figure(idle.joules_per_transaction)} J each`;
    const before = `used ${figure(idle.idle_watts)} W in the ${duration(idle.idle_s)} before the run`;
    lines.push(
      idle.watts < 0
        ? `${figure(-idle.watts)} W less than the idle host, which ${before}: it was not idle then, or the load is too small to show`
        : `${figure(idle.watts)} W above the idle host${above}; that ${before}`,
    );
  }
  if (figures.of === 'shared_host') {
    lines.push(
      figures.client_cpu_share == null
        ? 'Client and database share the host: the client’s share is not known.'
        : `Client and database share the host: ${percent(figures.client_cpu_share)} of the CPU time that was used is the client’s, and as much of the energy may be.`,
    );
  }
  return lines;
}
