// Warns of patterns and parts of text that no canonical form has. Rules see a path resolved and a host in
// lower case, so nothing matches `/etc/./*` or `https://Example.com/*`, and a guard with such a pattern
// guards nothing.

import type { Expression } from '../../../model/expression.ts';
import { canonicalText, type FieldKind } from '../../../value/canonical-text.ts';
import { globLiteralParts } from '../../../value/glob.ts';
import { canonicalUrl, decodeUnreserved } from '../../../value/url.ts';
import { constantText, type ValueOfLet } from '../../logic/constants.ts';
import { warning } from '../../messages/problem.ts';
import type { ConditionScope } from '../engine/rule-subjects.ts';
import { walkCondition } from './value-never-equal.ts';

export function spellingNeverMet({ conditions, env, valueOfLet }: ConditionScope): void {
  for (const condition of conditions) {
    walkCondition(condition, (node) => {
      const test = testOf(node, valueOfLet);
      if (test === null || !isNeverMet(test)) return;
      const message = `no ${names[test.kind]} is spelt like this: rules see its canonical form`;
      env.report(warning('spelling-never-met', node.span, message, { help: helps[test.kind] }));
    });
  }
}

const names: Readonly<Record<FieldKind, string>> = {
  email: 'e-mail address',
  url: 'URL',
  web_address: 'web address',
  host: 'host',
  path: 'path',
  'path ignoring case': 'path',
};

const pathHelp = 'write it without `.`, `..`, doubled slashes and a slash at its end';
const urlHelp =
  'write scheme and host in lower case, `/` after the host, no usual port, and unreserved characters as themselves';
const helps: Readonly<Record<FieldKind, string>> = {
  email: 'write the domain in lower case',
  url: urlHelp,
  web_address: `begin with the scheme, \`https://\` where addresses have none; ${urlHelp}`,
  host: 'write it in lower case, in ASCII (`xn--...`) and without a dot at its end',
  path: pathHelp,
  'path ignoring case': pathHelp,
};

/**
 * Literal parts of a canonical text: its start, its end and all parts. A test of a whole text has one part.
 */
interface Test {
  readonly kind: FieldKind;
  readonly whole: string | null;
  readonly start: string;
  readonly end: string;
  readonly all: readonly string[];
}

function testOf(node: Expression, valueOfLet: ValueOfLet): Test | null {
  if (node.kind === 'like') {
    const kind = kindOf(node.subject);
    const parts = globLiteralParts(node.pattern);
    if (kind === null) return null;
    const whole = parts.length === 1 ? parts[0]! : null;
    return { kind, whole, start: parts[0]!, end: parts.at(-1)!, all: parts };
  }
  if (node.kind !== 'text-test' || node.operator === 'inside') return null;
  const kind = kindOf(node.left);
  const part = constantText(node.right, valueOfLet);
  if (kind === null || part === null) return null;
  const start = node.operator === 'starts with' ? part : '';
  const end = node.operator === 'ends with' ? part : '';
  return { kind, whole: null, start, end, all: [part] };
}

function kindOf({ type }: Expression): FieldKind | null {
  return type.kind === 'text' && type.of !== 'string' && type.of !== 'network' ? type.of : null;
}

function isNeverMet(test: Test): boolean {
  const { kind, whole } = test;
  if (whole !== null) return canonicalText(kind, whole) !== whole;
  switch (kind) {
    case 'path':
    case 'path ignoring case':
      return isNeverPath(test);
    case 'url':
    case 'web_address':
      return isNeverUrl(test);
    case 'host':
      return test.all.some((part) => /[^!-~]|[A-Z]/.test(part)) || test.end.endsWith('.');
    case 'email':
      return /[A-Z]/.test(test.end.slice(test.end.lastIndexOf('@') + 1));
  }
}

function isNeverPath({ start, end, all }: Test): boolean {
  return (
    all.some((part) => /\/\/|\/\.{1,2}\/|[\\\0]/.test(part)) ||
    /^\.{1,2}\//.test(start) ||
    /\/\.{0,2}$/.test(end)
  );
}

/** Matches what can still become a scheme. */
const schemeStart = /^(?:[a-z][a-z0-9+-]*:?\/?)?$/;

function isNeverUrl({ start, all }: Test): boolean {
  if (all.some((part) => decodeUnreserved(part) !== part)) return true;
  const [, origin = '', after = ''] = /^([^:]*:\/\/[^/?#]*)(.?)/.exec(start) ?? [];
  if (origin === '') return !schemeStart.test(start);
  if (after === '') return /[A-Z]/.test(origin);
  return canonicalUrl(origin) !== `${origin}/` || after !== '/';
}
