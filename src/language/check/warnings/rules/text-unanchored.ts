// Warns of tests on a part of an address, which says little about where the address leads:
// `evil.com/?example.com` contains `example.com`, and `badexample.com` ends with it. Hosts, addresses and
// URLs should be compared whole, or at a dot, an `@` or a slash.

import type { Span } from '../../../diagnostic/span.ts';
import type { Expression } from '../../../model/expression.ts';
import { constantText } from '../../logic/constants.ts';
import { warning } from '../../messages/problem.ts';
import type { ConditionScope } from '../engine/rule-subjects.ts';

export type Address = 'email' | 'url' | 'host';
type Operator = 'contains' | 'starts with' | 'ends with' | 'like';

export function textUnanchored({ enforced, env, valueOfLet }: ConditionScope): void {
  for (const { node } of enforced.flatMap(({ parts }) => parts)) {
    const test = testOf(node);
    const address = test === null ? null : addressOf(test.subject);
    if (test === null || address === null) continue;
    const text = typeof test.text === 'string' ? test.text : constantText(test.text, valueOfLet);
    // Punctuation alone, such as `?`, is not meant to say where an address leads.
    const saysWhere = text !== null && /[\p{L}\p{N}]/u.test(text);
    if (saysWhere && !isAnchored(test.operator, address, text)) env.report(unanchored(node.span, address));
  }
}

function unanchored(span: Span, address: Address): ReturnType<typeof warning> {
  const ways = {
    email: 'compare its domain: `domain(x) == "example.com"`',
    url: 'compare its host: `host(x) == "example.com"`',
    host: 'compare it whole, or with what is below it: `host(x) within "example.com"`',
  };
  const names = { email: 'an e-mail address', url: 'a URL', host: 'a host' };
  const message = `this is also true of other places: a part of ${names[address]} does not say where it leads`;
  return warning('text-unanchored', span, message, { help: ways[address] });
}

interface Test {
  readonly operator: Operator;
  readonly subject: Expression;
  readonly text: Expression | string;
}

function testOf(node: Expression): Test | null {
  if (node.kind === 'matches') return { operator: 'like', subject: node.subject, text: likeOf(node.pattern) };
  if (node.kind === 'like') return { operator: 'like', subject: node.subject, text: node.pattern };
  if (node.kind !== 'text-test' || node.operator === 'inside') return null;
  return { operator: node.operator, subject: node.left, text: node.right };
}

/** Returns the kind of address that the expression is; null when it is none. */
export function addressOf(subject: Expression): Address | null {
  if (subject.kind === 'call') {
    const [argument] = subject.args;
    const isHost = subject.builtin === 'host' || subject.builtin === 'domain';
    if (isHost) return 'host';
    const isSpelling =
      subject.builtin === 'lower' || subject.builtin === 'trim' || subject.builtin === 'fold';
    return isSpelling && argument !== undefined ? addressOf(argument) : null;
  }
  if (subject.type.kind !== 'text') return null;
  const { of } = subject.type;
  return of === 'email' ? 'email' : of === 'url' || of === 'web_address' ? 'url' : null;
}

/** Whether the text ends at a point after which the address cannot lead to another place. */
function isAnchored(operator: Operator, address: Address, text: string): boolean {
  switch (operator) {
    case 'contains':
      return false;
    case 'starts with':
      return address === 'url' && holdsAuthority(text);
    case 'ends with':
      return endsWhole(address, text);
    case 'like': {
      const [first = '', ...rest] = text.split('*');
      const last = rest.at(-1);
      if (last === undefined) return true;
      const isStartWhole = first !== '' && address === 'url' && holdsAuthority(first);
      const isEndWhole = last !== '' && endsWhole(address, last);
      return isStartWhole || isEndWhole;
    }
  }
}

/** Whether the text holds a complete host, as in `https://example.com/`. */
function holdsAuthority(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#*]+[/?#]/i.test(text);
}

function endsWhole(address: Address, text: string): boolean {
  if (address === 'host') return text.startsWith('.');
  return address === 'email' && (text.includes('@') || text.startsWith('.'));
}

/**
 * Returns a regular expression as a `like` pattern, as far as its ends show where an address leads:
 * `.*x\.com` becomes `*x.com`. A class of characters, such as `[0-9]+`, names no place and becomes `_`.
 */
function likeOf(pattern: string): string {
  return pattern
    .replace(/^\^|\$$/g, '')
    .replace(/(?<!\\)\[(?:\\.|[^\]\\])+\][*+?]*/g, '_')
    .replace(/\\([.\-/@:?#&=%_~+])/g, (_, character: string) => character)
    .replace(/\.[*+]\??/g, '*');
}
