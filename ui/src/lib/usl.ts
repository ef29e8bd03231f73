// The Universal Scalability Law's curve, to draw what the program fitted. (N. J. Gunther)

/** Throughput at `n` virtual users. */
export function usl(n: number, fit: { lambda: number; sigma: number; kappa: number }): number {
  return (fit.lambda * n) / (1 + fit.sigma * (n - 1) + fit.kappa * n * (n - 1));
}
