// Warns of an `allow` that rests on `every` over a list that may be empty: `every` is then true, so a request
// that names nothing is granted. Commands and their arguments are exempt: a shell line without commands runs
// nothing, and a command may have no arguments.

import { elementsOf } from '../../../model/children.ts';
import type { Expression, Quantify } from '../../../model/expression.ts';
import type { Shape } from '../../../model/type.ts';
import { compare, zero } from '../../../value/decimal.ts';
import type { Environment } from '../../incremental/environment.ts';
import type { PathNode } from '../../incremental/resolved.ts';
import { payloadNode, stepInto } from '../../logic/payload-paths.ts';
import { structureOf } from '../../logic/structure.ts';
import { spelledPath } from '../../messages/path-errors.ts';
import { warning } from '../../messages/problem.ts';
import type { RuleInPolicy } from '../engine/rule-in-policy.ts';
import type { ConditionScope } from '../engine/rule-subjects.ts';

export function everyOverEmpty({ enforced, env }: ConditionScope): void {
  for (const one of enforced) {
    if (one.rule.effect !== 'allow') continue;
    for (const { node, polarity } of one.parts) {
      if (node.kind !== 'quantify' || node.quantifier !== 'every' || polarity !== 1) continue;
      if (node.sources.some((source) => isAskedFor(source, one))) continue;
      if (node.sources.every((source) => isOfCommands(source, one))) continue;
      const long = node.sources.filter(hasLeastLength);
      if (long.some((source) => !mayBeMissing(source, { one, env }))) continue;
      env.report(
        warning('every-over-empty', node.span, 'this is true of an empty list', {
          help: helpFor(node, long.length > 0),
        }),
      );
    }
  }
}

function helpFor({ sources, variable }: Quantify, isLong: boolean): string {
  const list = listText(sources[0]!);
  const some = `add \`some ${variable} in ${list} (...)\``;
  // Only the declaration of a payload can require elements.
  if (sources.some(({ kind }) => kind !== 'field'))
    return `${some}; if no element is fine, write \`length(${list}) == 0 or every ...\``;
  return `${isLong ? 'make the list required' : 'declare a least length, such as `[T] 1..`'}, or ${some}`;
}

/** The list as written, if it is a field, a fact or a function of a field; else `...`. */
function listText(source: Expression): string {
  if (source.kind === 'field') return spelledPath(source);
  if (source.kind === 'fact') return source.fact;
  const [argument] = source.kind === 'call' ? source.args : [];
  return source.kind === 'call' && argument?.kind === 'field'
    ? `${source.builtin}(${spelledPath(argument)})`
    : '...';
}

/** Whether the list has elements wherever it is present: a list literal, or a list with a least length. */
function hasLeastLength(source: Expression): boolean {
  const written = elementsOf(source);
  if (written !== null) return written.length > 0;
  if (source.type.kind !== 'list') return false;
  const { low } = source.type.length;
  return low !== null && compare(low, zero) > 0;
}

interface RuleAround {
  readonly one: RuleInPolicy;
  readonly env: Environment;
}

/**
 * Whether a request may lack the list, which then reads as empty: the list or a record around it is optional
 * or may be null, and the rule does not ask whether it is there.
 */
function mayBeMissing(source: Expression, { one, env }: RuleAround): boolean {
  if (source.kind !== 'field') return false;
  const structure = structureOf(source);
  const isTested = one.parts.some(
    ({ node, polarity }) => node.kind === 'has' && polarity === 1 && structureOf(node.subject) === structure,
  );
  if (isTested) return false;
  const shapes = shapesOf(source.root, { one, env });
  const place = source.steps.reduce<PathNode | null>(
    (above, step) => above && stepInto(above, step),
    payloadNode(shapes),
  );
  return shapes.length > 0 && place?.isCertain !== true;
}

/** The shapes of the payloads, or of the elements that the variable goes through. */
function shapesOf(root: string, { one, env }: RuleAround): readonly Shape[] {
  if (root === 'payload') return one.actions.flatMap((key) => env.query('shape', key) ?? []);
  return one.parts.flatMap(({ node }) =>
    node.kind === 'quantify' && node.variable === root ? node.sources.flatMap(elementShapes) : [],
  );
}

function elementShapes({ type }: Expression): readonly Shape[] {
  return type.kind === 'list' && type.element.type.kind === 'record' ? [type.element.type.shape] : [];
}

/** Whether the list is the commands of a shell line, or a list that belongs to one of these commands. */
function isOfCommands(source: Expression, { parts }: RuleInPolicy): boolean {
  if (source.kind === 'call') return source.builtin === 'commands';
  return (
    source.kind === 'field' &&
    parts.some(({ node }) => node.kind === 'quantify' && node.variable === source.root && ofCommands(node))
  );
}

function ofCommands({ sources }: Quantify): boolean {
  return sources.every((source) => source.kind === 'call' && source.builtin === 'commands');
}

/** Whether the rule tests the list for elements elsewhere: by `some`, by a length or by a count. */
function isAskedFor(source: Expression, { parts }: RuleInPolicy): boolean {
  const structure = structureOf(source);
  return parts.some(({ node, polarity }) => {
    if (node.kind === 'quantify') return asksForElement(node, polarity, structure);
    return node.kind === 'call' && node.builtin === 'length' && structureOf(node.args[0]) === structure;
  });
}

function asksForElement(node: Quantify, polarity: number, structure: string): boolean {
  const isAsking = node.quantifier === 'count' || (node.quantifier === 'some' && polarity === 1);
  return isAsking && node.sources.some((source) => structureOf(source) === structure);
}
