// Kinds of jobs that make runs of their own, each with its view: `components/campaigns/Profile.svelte` shows `profile`.

import type { Component } from 'svelte';

import type { JobDetail, JobKind } from '../api/types';

type View = Component<{ detail: JobDetail; inProgress?: boolean }>;

const FILES = import.meta.glob<{ default: View }>('../components/campaigns/*.svelte', { eager: true });

const kindOf = (path: string) => path.replace(/.*\/(\w+)\.svelte$/, '$1').toLowerCase() as JobKind;

/** The views, by kind of job. */
export const CAMPAIGNS: Partial<Record<JobKind, View>> = Object.fromEntries(Object.entries(FILES).map(([path, file]) => [kindOf(path), file.default]));

/** Whether a kind of job makes runs of its own. */
export const isCampaign = (kind: string | null | undefined): boolean => kind != null && kind in CAMPAIGNS;

/** The kinds of jobs that make runs of their own. */
export const campaigns = (): JobKind[] => Object.keys(CAMPAIGNS) as JobKind[];

/** The name of a job whose command has a workload of its own; null for others. */
export const ownTitle = (kind: string | null | undefined): string | null => (kind === 'drill' ? 'Durability drill' : kind === 'isolation' ? 'Test of isolation' : null);
