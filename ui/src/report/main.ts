import { mount } from 'svelte';
import '../theme.css';
import { start } from '../lib/theme';
import type { Handover } from './handover';
import Report from './Report.svelte';

start();
const text = document.getElementById('job')?.textContent ?? 'null';
mount(Report, { target: document.getElementById('app')!, props: { handover: JSON.parse(text) as Handover | null } });
