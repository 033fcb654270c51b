// Shows how many requests were refused, by the code of the error.

import type { JsonSchema } from './operation.ts';
import { type ProblemCode, problems } from './problem.ts';
import { objectSchema, text } from './schemas.ts';

export const refusalsSchema: JsonSchema = {
  type: 'array',
  items: objectSchema({ code: text(100), title: text(200), count: { type: 'integer', minimum: 1 } }),
};

export const refusalsExample = [
  { code: 'too_many_open_requests', title: problems.too_many_open_requests.title, count: 4 },
];

/** The counts as a reply, the most frequent code first. */
export function refusalCounts(byCode: ReadonlyMap<string, number>) {
  return [...byCode]
    .map(([code, count]) => ({ code, title: titleOf(code), count }))
    .toSorted((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1));
}

/** The title of a code; the code itself when an earlier version has counted a code that no longer exists. */
function titleOf(code: string): string {
  return isCode(code) ? problems[code].title : code;
}

function isCode(code: string): code is ProblemCode {
  return Object.hasOwn(problems, code);
}
