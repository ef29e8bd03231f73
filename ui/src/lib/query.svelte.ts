// A request and its state for a component: loading, complete or rejected. A new request cancels the previous one.

import { ApiError } from './http';

export class Query<T> {
  value = $state.raw<T | null>(null);
  error = $state.raw<ApiError | null>(null);
  loading = $state(false);
  #abort: AbortController | null = null;

  /** Cancels the current request, and forgets what it rejected; the last complete value stays. */
  cancel(): void {
    this.#abort?.abort();
    this.loading = false;
    this.error = null;
  }

  async run(ask: (signal: AbortSignal) => Promise<T>): Promise<void> {
    this.#abort?.abort();
    const abort = new AbortController();
    this.#abort = abort;
    this.loading = true;
    try {
      const value = await ask(abort.signal);
      if (abort.signal.aborted) return;
      this.value = value;
      this.error = null;
    } catch (error) {
      if (abort.signal.aborted) return;
      this.error = error instanceof ApiError ? error : new ApiError(0, 'error', String(error));
    }
    this.loading = false;
  }
}
