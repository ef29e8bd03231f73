// Routes by the path after `#`, so that one file serves all pages and the report works from disk.

/** Current location: `#/jobs/12?range=5m` is `{ path: ['jobs', '12'], query }`. */
export interface Place {
  path: string[];
  query: URLSearchParams;
}

/** Parses a hash. */
export function parse(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  return {
    path: path.split('/').filter(Boolean).map(decodeURIComponent),
    query: new URLSearchParams(query),
  };
}

class Router {
  place = $state<Place>(parse(location.hash));

  constructor() {
    addEventListener('hashchange', () => {
      this.place = parse(location.hash);
      document.getElementById('main')?.focus({ preventScroll: true });
      scrollTo(0, 0);
    });
  }

  go(to: string): void {
    location.hash = to;
  }
}

export const router = new Router();
