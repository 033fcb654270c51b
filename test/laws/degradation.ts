// Every case of the policies' own tests again, with one fact unknown or one field removed. An unknown fact, a
// missing required field and a missing field that no rule tests for presence may never weaken a decision. A
// rule that tests for presence may grant because a field is absent; and without a value that the gate
// refuses, rules are reached.

import { descendants } from '../../src/language/model/children.ts';
import { outcomes } from '../../src/language/model/decision.ts';
import type { Expression, FieldRead } from '../../src/language/model/expression.ts';
import type { Json, JsonObject } from '../../src/language/model/json.ts';
import type { PolicySet } from '../../src/language/model/policy.ts';
import type { Facts } from '../../src/language/model/request.ts';
import type { Shape, Type } from '../../src/language/model/type.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import { compile } from '../../src/pipeline.ts';
import { readPaths, readPolicyText } from '../../src/service/policies/read-policies.ts';
import { findTests } from '../../src/testing/find-test-files.ts';
import { readTestFile } from '../../src/testing/read-test-file.ts';
import { toFacts } from '../../src/testing/situation.ts';
import { lessKnown } from './monotone.ts';

/** The kinds of losses. Only a loss of `freeLosses` may weaken a decision. */
export const strictLosses = ['fact', 'required field', 'optional field'] as const;
export const freeLosses = ['field that a rule asks for', 'field of a refused payload'] as const;
export type Loss = (typeof strictLosses)[number] | (typeof freeLosses)[number];

export interface Degradation {
  readonly loss: Loss;
  /** The test file, the case and the loss. */
  readonly place: string;
  readonly before: string;
  readonly after: string;
  readonly change: 'same' | 'stricter' | 'weaker';
}

/** All degradations of all cases in the test files among and under the paths. */
export async function degradeTests(paths: readonly string[]): Promise<readonly Degradation[]> {
  const found: Degradation[] = [];
  for (const path of await findTests(paths)) found.push(...(await degradeFile(path)));
  return found;
}

async function degradeFile(path: string): Promise<readonly Degradation[]> {
  const source = await readPolicyText(path);
  if (!('text' in source)) throw new Error(`${path}: ${source.message}`);
  const file = readTestFile(source);
  const { set } = compile((await readPaths(file.policies)).sources);
  if (set === null) throw new Error(`${path}: its policies have errors`);
  return file.cases.flatMap(({ name, situation }) => {
    const facts = toFacts(situation, set, () => undefined);
    return facts === null ? [] : degrade(set, facts, `${path}: ${name}`);
  });
}

function degrade(set: PolicySet, facts: Facts, place: string): readonly Degradation[] {
  const before = authorize(set, facts);
  const shape = set.actions.get(facts.action)?.shape;
  const losses: readonly Lost[] = [
    ...[...lessKnown(facts)].map((less) => ({ ...less, loss: 'fact' as const })),
    ...(shape === undefined ? [] : withoutFields(set, facts, shape)),
  ];
  return losses.map(({ loss: lost, name, facts: less }) => {
    const isRefused = lost !== 'fact' && lost !== 'required field' && before.by === 'invalid_payload';
    const loss = isRefused ? 'field of a refused payload' : lost;
    const after = authorize(set, less);
    const step = outcomes.indexOf(after.outcome) - outcomes.indexOf(before.outcome);
    return {
      loss,
      place: `${place}, ${name}`,
      before: `${before.outcome} by ${before.by}`,
      after: `${after.outcome} by ${after.by}`,
      change: step === 0 ? 'same' : step > 0 ? 'stricter' : 'weaker',
    };
  });
}

interface Lost {
  readonly loss: Loss;
  readonly name: string;
  readonly facts: Facts;
}

/** The facts without one declared field, for each field that is present, at any depth. */
function withoutFields(set: PolicySet, facts: Facts, shape: Shape): readonly Lost[] {
  const asked = namesAskedFor(set, facts.action);
  return recordLosses(facts.payload, shape).map(({ isOptional, path, payload }) => ({
    loss: !isOptional
      ? 'required field'
      : asked.has(path.split('/').at(-1) ?? '')
        ? 'field that a rule asks for'
        : 'optional field',
    name: `${path} gone`,
    facts: { ...facts, payload },
  }));
}

/**
 * Field names on paths whose presence some rule of the action can tell: by `has`, `else` or null, or as a
 * list that is iterated.
 */
function namesAskedFor(set: PolicySet, action: string): ReadonlySet<string> {
  const rules = set.policies.flatMap((policy) => (policy.actions.includes(action) ? policy.rules : []));
  const conditions = rules.map(({ condition }) => condition);
  const lets = [...set.lets.values()].map(({ expression }) => expression);
  const parts = [...conditions, ...lets].flatMap((expression) => [...descendants(expression)]);
  return new Set(parts.flatMap(subjectsOf).flatMap(({ steps }) => steps));
}

function subjectsOf(part: Expression): readonly FieldRead[] {
  if (part.kind === 'has' || part.kind === 'else' || part.kind === 'is-null') return [part.subject];
  return part.kind === 'quantify' ? part.sources.filter((source) => source.kind === 'field') : [];
}

interface RecordLoss {
  readonly isOptional: boolean;
  readonly path: string;
  readonly payload: JsonObject;
}

function recordLosses(record: JsonObject, shape: Shape): readonly RecordLoss[] {
  return shape.fields.flatMap((field): readonly RecordLoss[] => {
    const { name, isOptional, type } = field;
    if (!Object.hasOwn(record, name)) return [];
    const rest = Object.fromEntries(Object.entries(record).filter(([key]) => key !== name));
    const inner = valueLosses(record[name] as Json, type).map((lost) => ({
      isOptional: lost.isOptional,
      path: `/${name}${lost.path}`,
      payload: { ...record, [name]: lost.value },
    }));
    return [{ isOptional, path: `/${name}`, payload: rest }, ...inner];
  });
}

function valueLosses(
  value: Json,
  type: Type,
): readonly { readonly isOptional: boolean; readonly path: string; readonly value: Json }[] {
  if (type.kind === 'list' && Array.isArray(value)) {
    const elements = value as readonly Json[];
    return elements.flatMap((element, index) =>
      valueLosses(element, type.element.type).map((lost) => ({
        ...lost,
        path: `/${index}${lost.path}`,
        value: elements.with(index, lost.value),
      })),
    );
  }
  if (type.kind !== 'record' || typeof value !== 'object' || value === null) return [];
  return recordLosses(value as JsonObject, type.shape).map(({ payload, ...lost }) => ({
    ...lost,
    value: payload,
  }));
}
