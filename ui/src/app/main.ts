import { mount } from 'svelte';
import '../theme.css';
import { live } from '../lib/live.svelte';
import { start } from '../lib/theme';
import App from './App.svelte';

start();
live.start();
mount(App, { target: document.getElementById('app')! });
