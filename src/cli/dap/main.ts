// Runs only the debugger, as an editor's extension starts it.

import { serveDebugger } from './serve.ts';

await serveDebugger(process.stdin, process.stdout);
