// What all agent frameworks have in common in the tests of the adapters. Each runs an agent whose fake model
// calls the tool `pay` once, and then answers with a word.

import { z } from 'zod';
import type { GuardSettings } from '../../../integrations/typescript/adapters/guard.ts';

export interface Framework {
  readonly name: string;
  /** Runs until the agent ends or pauses; `saved` resumes a paused run, as another process would. */
  readonly run: (asked: Asked, saved?: unknown) => Promise<Run>;
  /** The framework's own ways to run a tool without asking. Each resolves or rejects when it is over. */
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
  /** All text that the model received. */
  readonly told: string;
  /** The state of a paused run, after the framework's own approval, if it has one. */
  readonly saved: unknown;
}

export const description = 'Pays an amount';
/** The default makes the tool's input differ from the text that the model wrote. */
export const inputSchema = z.object({ amount: z.number(), currency: z.string().nullable().default('USD') });
export const sentence = 'Pay, please';
