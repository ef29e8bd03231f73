import { mount } from 'svelte';
import '../theme.css';
import { start } from '../lib/theme';
import type { HtmlExport } from './htmlExport';
import Report from './Report.svelte';

start();
const text = document.getElementById('job')?.textContent ?? 'null';
mount(Report, { target: document.getElementById('app')!, props: { exported: JSON.parse(text) as HtmlExport | null } });
