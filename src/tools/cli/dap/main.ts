// The debugger alone, as an editor's extension starts it.

import { serveDebugger } from './serve.ts';

await serveDebugger(process.stdin, process.stdout);
