// Recognises comments that suppress a warning; such a comment is no documentation.

import type { Comment } from './tree.ts';

export function isSilence({ text }: Pick<Comment, 'text'>): boolean {
  return /^#\s*writ:/.test(text);
}
