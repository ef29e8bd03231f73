// Requests to the server. Every rejection is an `ApiError` with the server's message and what to do next.

/** A rejection by the server, with its message. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field?: string,
    readonly next?: string,
  ) {
    super(message);
  }
}

/** Requests `path` of the API; with a `body` it is a POST unless `method` is given. */
export async function ask<T>(path: string, options: { method?: string; body?: unknown; signal?: AbortSignal } = {}): Promise<T> {
  const { body, signal } = options;
  const method = options.method ?? (body === undefined ? 'GET' : 'POST');
  let answer: Response;
  try {
    answer = await fetch(`/api/v1/${path}`, {
      method,
      ...(signal ? { signal } : {}),
      // Every change is sent as JSON, even without a body: a form on another site cannot do that.
      ...(method === 'GET' ? {} : { headers: { 'content-type': 'application/json' } }),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'unreachable', 'The server does not answer.', undefined, 'Is triphammer serve still running? This page reconnects when it is back.');
  }
  if (answer.status === 401) logIn();
  const text = await answer.text();
  const document: unknown = text ? parse(text) : undefined;
  if (!answer.ok) {
    const refusal = (document ?? {}) as { code?: string; message?: string; field?: string; next?: string };
    throw new ApiError(answer.status, refusal.code ?? 'error', refusal.message ?? `The server answered ${answer.status}.`, refusal.field, refusal.next);
  }
  return document as T;
}

/** Redirects to the login page, which returns to the current page. */
export function logIn(): void {
  location.assign(`/login${location.hash}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
