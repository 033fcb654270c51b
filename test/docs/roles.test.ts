// docs/ROLES.md shows the table of roles that the service decides by, each operation with the summaries of
// its routes. UPDATE_GOLDEN=1 rewrites the table.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describedRoutes } from '../../src/service/http/resources/all-routes.ts';
import { type Grant, type OperationName, operations, roles } from '../../src/service/people/operations.ts';

const page = 'docs/ROLES.md';
const cells = { yes: 'yes', own: 'own', no: '' } as const satisfies Record<Grant, string>;

function summariesOf(operation: OperationName): readonly string[] {
  const theirs = describedRoutes(1_000).filter((route) => 'access' in route && route.access === operation);
  return theirs.map((route) => route.operation.summary);
}

function table(): string {
  const names = Object.keys(operations) as OperationName[];
  const rows = names.map((name) => {
    const words = summariesOf(name).join('; ').replaceAll('|', '\\|');
    return `| \`${name}\` | ${words} | ${roles.map((role) => cells[operations[name][role]]).join(' | ')} |`;
  });
  return [
    `| operation | description | ${roles.join(' | ')} |`,
    `|---|---|${roles.map(() => '---|').join('')}`,
    ...rows,
    '',
  ].join('\n');
}

it('shows the table of roles', () => {
  const text = readFileSync(page, 'utf8');
  const made = text.replace(
    /(<!-- roles: .*-->\n)[\s\S]*?(<!-- end -->)/,
    (_, start, end) => `${start}${table()}${end}`,
  );
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(page, made);
  expect(process.env.UPDATE_GOLDEN === '1' ? made : text).toBe(made);
});

it('has words for each operation', () => {
  const names = Object.keys(operations) as OperationName[];
  expect(names.filter((name) => summariesOf(name).length === 0)).toEqual([]);
});
