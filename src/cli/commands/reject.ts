// `writ reject`: rejects a request that waits, which is final.

import type { Command } from 'commander';
import type { ExitCode } from '../output/output.ts';
import { defineVote } from '../support/give-vote.ts';

export function defineReject(command: Command, finish: (code: ExitCode) => void): void {
  defineVote(command, 'reject', finish);
}
