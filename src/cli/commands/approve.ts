// `writ approve`: gives one person's approval to a request that waits for it.

import type { Command } from 'commander';
import { defineDecision } from '../decide-request.ts';
import type { ExitCode } from '../output.ts';

export function define(command: Command, finish: (code: ExitCode) => void): void {
  defineDecision(command, 'approve', finish);
}
