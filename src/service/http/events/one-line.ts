// Makes names that policies, agents and people chose fit into one line of a message.

import { wordsForMail } from '../../webhooks/inert-words.ts';

/**
 * The text without line breaks, control and invisible characters, and without links, at most 100 characters long.
 * Policies declare action keys, but a key may be quoted and hold anything.
 */
export function oneLine(text: string): string {
  return wordsForMail(text).slice(0, 100);
}
