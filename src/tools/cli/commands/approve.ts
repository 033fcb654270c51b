// `writ approve`: gives one person's approval to a request that waits for it.

import type { Command } from 'commander';
import type { ExitCode } from '../output/output.ts';
import { defineDecision } from '../tasks/give-vote.ts';

export function defineApprove(command: Command, finish: (code: ExitCode) => void): void {
  defineDecision(command, 'approve', finish);
}
