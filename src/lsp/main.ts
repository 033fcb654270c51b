// Runs only the language server, as an editor's extension starts it.

import { serveStreams } from './server.ts';

await serveStreams(process.stdin, process.stdout, null);
