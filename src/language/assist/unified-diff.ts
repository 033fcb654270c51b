// Turns two texts of a file into a unified diff, as `git apply` and `patch` read it.

import { createTwoFilesPatch, FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';
import { lineChangesMax } from './line-changes.ts';

/**
 * The diff ends with a line break, and is empty for equal texts. Relative paths get the prefixes that `git
 * apply` expects.
 */
export function unifiedDiff(path: string, before: string, after: string): string {
  if (before === after) return '';
  const [old, fresh] = path.startsWith('/') ? [path, path] : [`a/${path}`, `b/${path}`];
  const shape = { context: 3, maxEditLength: lineChangesMax, headerOptions: FILE_HEADERS_ONLY };
  return (
    createTwoFilesPatch(old, fresh, before, after, undefined, undefined, shape) ??
    replacementDiff(old, fresh, before, after)
  );
}

/**
 * A diff of one hunk that removes all old lines and adds all new ones, for texts that differ in too many
 * lines.
 */
function replacementDiff(old: string, fresh: string, before: string, after: string): string {
  const gone = structuredPatch(old, fresh, before, '');
  const [from, to] = [gone.hunks[0]!, structuredPatch(old, fresh, '', after).hunks[0]!];
  const hunk = { ...from, newStart: to.newStart, newLines: to.newLines, lines: [...from.lines, ...to.lines] };
  return formatPatch({ ...gone, hunks: [hunk] }, FILE_HEADERS_ONLY);
}
