// Decides which tests get a second try: those with real servers, browsers, other programs or faults, which a busy machine
// can disturb. Everywhere else a test is a function of its input, and one that needs a second try is a bug.

import { type RunnerTask, TestRunner } from 'vitest';

const retried = /^test\/(?:cli|dap|e2e|external|integrations|packaging|service)\//;

/** Runs tests with the retries of `vitest.config.ts`, or of `--retry`, in the folders above, and with none elsewhere. */
export default class Runner extends TestRunner {
  override async onBeforeRunTask(task: RunnerTask): Promise<void> {
    if (!retried.test(task.file.name)) task.retry = 0;
    await super.onBeforeRunTask(task);
  }
}
