// The service as a process of its own, for tests of signals; its working directory holds its configuration.

import { serve } from '../../../src/service/http/main.ts';
import { StartError } from '../../../src/service/http/start-error.ts';

try {
  await serve({ flags: { port: 0 } });
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.exitCode;
}
