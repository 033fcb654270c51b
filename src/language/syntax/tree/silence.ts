// Tells which comments silence a warning: these are meant for the checker and document nothing.

import type { Comment } from './tree.ts';

export function isSilence({ text }: Pick<Comment, 'text'>): boolean {
  return /^#\s*writ:/.test(text);
}
