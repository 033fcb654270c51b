// Starts the dashboard: styles in their order, links, the app.

import { render } from 'preact';
import './styles/tokens.css';
import './styles/base.css';
import './styles/print.css';
import { watchConnection } from './api/connection.ts';
import { App } from './app.tsx';
import { followLinks } from './navigation/navigation.ts';

followLinks();
watchConnection();
const root = document.getElementById('app');
if (root === null) throw new Error('the page has no element for the app');
render(<App />, root);
