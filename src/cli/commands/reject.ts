// `writ reject`: ends a request that waits: one rejection is enough.

import type { Command } from 'commander';
import { defineDecision } from '../decide-request.ts';
import type { ExitCode } from '../output.ts';

export function define(command: Command, finish: (code: ExitCode) => void): void {
  defineDecision(command, 'reject', finish);
}
