// The tools of the author server, in the order in which an author needs them. To add one, write its file and
// add a line here.

import type { Tool } from './tool/tool.ts';
import { check } from './tools/check.ts';
import { decide } from './tools/decide.ts';
import { diff } from './tools/diff.ts';
import { explain } from './tools/explain.ts';
import { format } from './tools/format.ts';
import { prove } from './tools/prove.ts';
import { reference } from './tools/reference.ts';
import { replay } from './tools/replay.ts';
import { suggest } from './tools/suggest.ts';
import { summary } from './tools/summary.ts';
import { test } from './tools/test.ts';

export const tools: readonly Tool[] = [
  reference,
  check,
  format,
  test,
  decide,
  explain,
  suggest,
  prove,
  diff,
  replay,
  summary,
];
