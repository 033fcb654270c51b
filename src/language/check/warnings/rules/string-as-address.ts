// Warns of a `string` that is compared like a path, a URL, an e-mail address or a host. A string is compared as
// it was sent, so `/workspace/../etc` starts with `/workspace/`. The types of the language bring such texts into
// one form first. What opens is looked at, and guards on paths, which another spelling passes.

import { elementsOf } from '../../../model/children.ts';
import type { Expression, FieldRead } from '../../../model/expression.ts';
import { patternParts } from '../../../value/pattern-parts.ts';
import { compileRegex } from '../../../value/regex.ts';
import { constantText, type ValueOfLet } from '../../logic/constants.ts';
import type { Polarity } from '../../logic/polarity.ts';
import { spelledPath } from '../../messages/path-errors.ts';
import { warning } from '../../messages/problem.ts';
import { declaredField } from '../engine/declared-field.ts';
import { directionOf } from '../engine/direction.ts';
import type { ConditionScope } from '../engine/rule-subjects.ts';

type Kind = 'path' | 'url' | 'email' | 'host';

const meant: Readonly<
  Record<Kind, { readonly noun: string; readonly passes: string; readonly help: string }>
> = {
  path: {
    noun: 'a path',
    passes: 'another spelling such as `/a/../b` passes',
    help: 'declare its type as `path`, and compare it with `inside`',
  },
  url: {
    noun: 'a URL',
    passes: 'it may lead elsewhere',
    help: 'declare its type as `url`, and compare `host(...)`',
  },
  email: {
    noun: 'an e-mail address',
    passes: 'it may contain more than one address',
    help: 'declare its type as `email`, and compare `domain(...)`',
  },
  host: {
    noun: 'a host',
    passes: 'another host such as `evil-example.com` passes',
    help: 'declare its type as `host`, and write `host within "example.com"`',
  },
};

export function stringAsAddress({ enforced, env, valueOfLet }: ConditionScope): void {
  for (const { rule, parts } of enforced) {
    const reported = new Set<string>();
    for (const { node, polarity } of parts) {
      const test = testOf(node, valueOfLet);
      if (test === null) continue;
      const field = declaredField(test.subject, parts, valueOfLet);
      if (field === null || !isFreeString(field)) continue;
      const direction = directionOf(rule, (test.isNegated ? -polarity : polarity) as Polarity);
      const kind = kindOf(test, field, direction === 'stops');
      if (kind === null || reported.has(`${kind} ${node.span.start}`)) continue;
      reported.add(`${kind} ${node.span.start}`);
      const { noun: what, passes, help } = meant[kind];
      const message = `\`${spelledPath(field)}\` is a string that is compared like ${what}: ${passes}`;
      env.report(warning('string-as-address', node.span, message, { help }));
    }
  }
}

type Operator = 'starts with' | 'ends with' | 'contains' | 'like' | 'matches' | 'equals';

interface Test {
  readonly operator: Operator;
  readonly subject: Expression;
  readonly texts: readonly string[];
  /** Whether the test is true of other texts than these. */
  readonly isNegated: boolean;
}

function testOf(node: Expression, valueOfLet: ValueOfLet): Test | null {
  const isNegated = false;
  switch (node.kind) {
    case 'like':
    case 'matches':
      return { operator: node.kind, subject: node.subject, texts: [node.pattern], isNegated };
    case 'text-test': {
      const text = constantText(node.right, valueOfLet);
      if (text === null || node.operator === 'inside') return null;
      return { operator: node.operator, subject: node.left, texts: [text], isNegated };
    }
    case 'compare': {
      if (node.operator !== '==' && node.operator !== '!=') return null;
      const text = constantText(node.right, valueOfLet);
      if (text === null) return null;
      return { operator: 'equals', subject: node.left, texts: [text], isNegated: node.operator === '!=' };
    }
    case 'in-elements': {
      const texts = (elementsOf(node.elements) ?? []).flatMap((one) => constantText(one, valueOfLet) ?? []);
      return { operator: 'equals', subject: node.subject, texts, isNegated };
    }
    default:
      return null;
  }
}

/** Whether the field is a string that no declared pattern keeps from holding `..` or an `@`. */
function isFreeString({ type }: FieldRead): boolean {
  if (type.kind !== 'text' || type.of !== 'string' || type.values !== null) return false;
  return type.patterns.every((pattern) => readsFreely(pattern, '.') && readsFreely(pattern, '/'));
}

/** Whether a part of the pattern that stands for several characters accepts this one. */
function readsFreely(pattern: string, character: string): boolean {
  return patternParts(pattern).some((part) => !part.isLiteral && part.accepts(character));
}

function kindOf({ operator, texts }: Test, field: FieldRead, isStopping: boolean): Kind | null {
  const name = field.steps.at(-1) ?? field.root;
  for (const text of texts) {
    // A text that is compared whole leaves no room; in a guard, another spelling of it passes.
    if (operator === 'equals') {
      if (isStopping && isPath(text, name)) return 'path';
      continue;
    }
    const kind = kindOfText(operator, operator === 'matches' ? plainOf(text) : text, name);
    if (kind === null || (isStopping && kind !== 'path')) continue;
    if (operator !== 'matches' || kind !== 'path' || readsFreely(text, '.') || isStopping) return kind;
  }
  return null;
}

function kindOfText(operator: Operator, text: string, name: string): Kind | null {
  const isLike = operator === 'like' || operator === 'matches';
  const end = isLike ? text.slice(text.lastIndexOf('*') + 1) : text;
  const isEndOpen = isLike ? text.includes('*') : operator === 'ends with' || operator === 'contains';
  if (operator !== 'ends with' && /^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return 'url';
  if (isEndOpen && /@(?:[\w-]+\.)+[a-z]{2,}$/i.test(end)) return 'email';
  if (isEndOpen && isHostEnd(end, name)) return 'host';
  // A part of a text, such as of a command, says path only where the field's name does.
  const isPart = operator === 'contains' || operator === 'ends with';
  return isPath(text, name) && (!isPart || pathNames.test(name)) ? 'path' : null;
}

const hostNames = /host|domain|site|server|origin|url|uri|link|href|endpoint|mail|address|recipient/i;
const topLevels = /\.(?:com|org|net|io|gov|edu|int|mil|eu|example|test|internal|local|localhost|invalid)$/i;

function isHostEnd(text: string, name: string): boolean {
  if (!/^\.?(?:[\p{L}\d-]+\.)+[\p{L}]{2,}$/u.test(text)) return false;
  return hostNames.test(name) || topLevels.test(text);
}

const pathNames = /path|file|folder|dir|directory/i;

/** Whether a text begins like a path, or holds a separator where the field's name says that it is one. */
function isPath(text: string, name: string): boolean {
  if (/^(?:\/(?!\/)|~(?:\/|$)|\.{1,2}\/|[A-Za-z]:[\\/]|\\\\)/.test(text)) return true;
  return pathNames.test(name) && /[\\/]/.test(text);
}

/** A pattern with `*` for each part that stands for several characters, as far as its ends show. */
function plainOf(pattern: string): string {
  if (typeof compileRegex(pattern) !== 'function') return '';
  return patternParts(pattern)
    .map((part) => (part.isLiteral && !part.isRepeated ? part.text.replace(/^\\(?=\W)/, '') : '*'))
    .join('')
    .replace(/\*+/g, '*');
}
