// `writ approve`: approves a request that waits.

import type { Command } from 'commander';
import type { ExitCode } from '../output/output.ts';
import { defineVote } from '../support/give-vote.ts';

export function defineApprove(command: Command, finish: (code: ExitCode) => void): void {
  defineVote(command, 'approve', finish);
}
