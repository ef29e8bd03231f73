// Live events of the server. Each page has one connection; the browser reconnects automatically, and the server
// then sends the missed events. After a restart of the server (another instance) the page discards its state.

import type { Activity, HostLoad, Judgement, LiveCheck, LiveEvent, LiveNote, LivePhase, LiveProgress, LiveSecond, LiveSeconds, LiveStep } from '../api/types';
import { ask } from './http';
import { POINTS_MAX, add, replaced } from './thin';

/** State of one activity, in addition to its description. */
export interface Course {
  seconds: LiveSecond[];
  phases: LivePhase[];
  phase: LivePhase | null;
  progress: LiveProgress[];
  notes: LiveNote[];
  /** The requirements of the run, judged by its timed window so far. */
  requirements: Judgement[];
  /** What the checker of a test of isolation has found so far. */
  checked: LiveCheck | null;
  /** Runs of a profile or search, by position. */
  steps: LiveStep[];
}

const empty = (): Course => ({ seconds: [], phases: [], phase: null, progress: [], notes: [], requirements: [], checked: null, steps: [] });
const NOTES_MAX = 500;

class Live {
  activities = $state.raw<Record<number, Activity>>({});
  courses = $state.raw<Record<number, Course>>({});
  host = $state.raw<HostLoad[]>([]);
  connected = $state(false);
  ended = $state<string | null>(null);
  #source: EventSource | null = null;
  #thinning = new Set<number>();

  /** All activities, newest first. */
  get list(): Activity[] {
    return Object.values(this.activities).sort((a, b) => b.id - a.id);
  }

  /** Activities that are waiting or running. */
  get open(): Activity[] {
    return this.list.filter((a) => ['queued', 'running', 'stopping', 'aborting'].includes(a.state));
  }

  course(id: number): Course {
    return this.courses[id] ?? empty();
  }

  start(url = '/api/v1/events'): void {
    const source = new EventSource(url);
    this.#source = source;
    source.onopen = () => {
      this.connected = true;
      this.ended = null;
    };
    source.onerror = () => {
      this.connected = false;
      // The browser gives up only if the response was not an event stream, such as after a restart of a proxy, or
      // if the login has expired: any other request then leads to the login page.
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(() => this.start(url), 3000);
      ask('about').catch(() => {});
    };
    const names: LiveEvent['type'][] = ['hello', 'activity', 'phase', 'second', 'progress', 'step', 'requirements', 'checked', 'note', 'host', 'goodbye'];
    for (const name of names) {
      source.addEventListener(name, (event) => this.take(JSON.parse((event as MessageEvent<string>).data) as LiveEvent));
    }
  }

  stop(): void {
    this.#source?.close();
  }

  take(event: LiveEvent): void {
    switch (event.type) {
      case 'hello':
        if (!event.resumed) {
          this.activities = {};
          this.courses = {};
        }
        break;
      case 'activity':
        this.activities = { ...this.activities, [event.id]: event };
        break;
      case 'phase':
        this.#change(event.activity, (c) => ({
          ...c,
          phase: event,
          phases: event.phase === 'connecting' ? c.phases : [...c.phases.filter((p) => p.phase !== event.phase), event],
        }));
        break;
      case 'second':
        this.#change(event.activity, (c) => ({ ...c, seconds: add(c.seconds, event) }));
        if (this.course(event.activity).seconds.length > POINTS_MAX) void this.#thin(event.activity);
        break;
      case 'progress':
        this.#change(event.activity, (c) => {
          const others = c.progress.filter((p) => p.phase !== event.phase);
          const place = c.progress.findIndex((p) => p.phase === event.phase);
          return { ...c, progress: place < 0 ? [...others, event] : c.progress.with(place, event) };
        });
        break;
      case 'step':
        // A new run starts: the seconds are those of this run from now on.
        this.#change(event.activity, (c) => ({
          ...c,
          ...(c.steps.some((s) => s.step === event.step) ? {} : { seconds: [], phases: [], phase: null, progress: [], requirements: [] }),
          steps: [...c.steps.filter((s) => s.step !== event.step), event].sort((a, b) => a.step - b.step),
        }));
        break;
      case 'requirements':
        this.#change(event.activity, (c) => ({ ...c, requirements: event.requirements }));
        break;
      case 'checked':
        this.#change(event.activity, (c) => ({ ...c, checked: event }));
        break;
      case 'note':
        this.#change(event.activity, (c) => ({ ...c, notes: [...c.notes, event].slice(-NOTES_MAX) }));
        break;
      case 'host':
        this.host = [...this.host, event].slice(-120);
        break;
      case 'goodbye':
        this.connected = false;
        this.ended = event.text;
        break;
    }
  }

  /** Replaces the seconds with the server's, of which older ones are merged. Retried with the next second. */
  async #thin(id: number): Promise<void> {
    if (this.#thinning.has(id)) return;
    this.#thinning.add(id);
    const { steps } = this.course(id);
    try {
      const { seconds } = await ask<LiveSeconds>(`activities/${id}/seconds`);
      // Only if they are still of the same run.
      if (this.course(id).steps.length === steps.length) {
        this.#change(id, (c) => ({ ...c, seconds: replaced(c.seconds, seconds) }));
      }
    } catch {
      // Keeps the current seconds.
    } finally {
      this.#thinning.delete(id);
    }
  }

  #change(id: number, change: (course: Course) => Course): void {
    this.courses = { ...this.courses, [id]: change(this.courses[id] ?? empty()) };
  }
}

export const live = new Live();
