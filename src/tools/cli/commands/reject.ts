// `writ reject`: ends a request that waits: one rejection is enough.

import type { Command } from 'commander';
import type { ExitCode } from '../output/output.ts';
import { defineDecision } from '../tasks/give-vote.ts';

export function defineReject(command: Command, finish: (code: ExitCode) => void): void {
  defineDecision(command, 'reject', finish);
}
