// What is alike of all agent frameworks in the tests of the adapters. Each runs an agent whose fake model calls one tool
// once, `pay`, and then says a word.

import { z } from 'zod';
import type { GuardSettings } from '../../integrations/typescript/adapters/guard.ts';

export interface Framework {
  readonly name: string;
  /** Runs until the agent ends or pauses; with `saved`, as another process goes on with a paused run. */
  readonly run: (asked: Asked, saved?: unknown) => Promise<Run>;
  /** The framework's own ways to have a tool run unasked. Each resolves or rejects when it is over. */
  readonly evasions: Readonly<Record<string, (asked: Asked) => Promise<unknown>>>;
}

export interface Asked {
  readonly settings: GuardSettings;
  readonly amount: number;
  readonly pay: (given: Given) => string;
}

export interface Given {
  readonly amount: number;
  readonly currency?: string | null;
}

export interface Run {
  /** Whether the framework has paused the run in its own manner. */
  readonly isPaused: boolean;
  /** All that the model was told. */
  readonly told: string;
  /** Of a paused run, after whatever button the framework has was pressed. */
  readonly saved: unknown;
}

export const description = 'Pays an amount';
/** With a default, so that what a tool is given is not word for word what the model wrote. */
export const inputSchema = z.object({ amount: z.number(), currency: z.string().nullable().default('USD') });
export const sentence = 'Pay, please';
