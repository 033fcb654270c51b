// Makes a failing case smaller while it still fails in the same way: removes declarations, rules, clauses and
// fields from the policy files, replaces conditions by their parts, and removes facts and payload fields.

import { spanKeys } from '../../src/language/diagnostic/span.ts';
import type { JsonObject } from '../../src/language/model/json.ts';
import type { Facts } from '../../src/language/model/request.ts';
import { parse } from '../../src/language/syntax/parse.ts';
import { printFile } from '../../src/language/syntax/print/print.ts';
import type { PolicyFile } from '../../src/language/syntax/tree/tree.ts';
import type { Case } from './cases.ts';

/** What is wrong with a case; null when nothing is. */
export type FindProblem = (one: Case) => string | null;

const attemptsMax = 2_500;

/** The smallest failing case that removing things leads to: many at once first, then single ones. */
export function shrink(failing: Case, findProblem: FindProblem): Case {
  const attempt = attempts(failing, findProblem);
  for (let parts = 2; parts <= 32; parts *= 2) {
    for (let at = parts - 1; at >= 0; at--)
      attempt.tryOne(withoutDeclarations(attempt.smallest(), at / parts, (at + 1) / parts));
  }
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const candidate of smaller(attempt.smallest())) {
      if (!attempt.tryOne(candidate)) continue;
      isSmaller = true;
      break;
    }
  }
  return attempt.smallest();
}

/** Keeps a candidate that still fails in the same way; gives up after a fixed number of attempts. */
function attempts(failing: Case, findProblem: FindProblem) {
  const kind = kindOf(failing.problem);
  let [smallest, left] = [failing, attemptsMax];
  return {
    smallest: () => smallest,
    tryOne: (candidate: Case): boolean => {
      if (left === 0) return false;
      left--;
      const problem = findProblem(candidate);
      if (problem === null || kindOf(problem) !== kind) return false;
      smallest = { ...candidate, problem };
      return true;
    },
  };
}

/** The case without one range of the declarations of each file, and without comments. */
function withoutDeclarations(one: Case, from: number, to: number): Case {
  const files = one.files.map((file) => {
    const { file: tree } = parse(file);
    const count = tree.declarations.length;
    const kept = tree.declarations.filter((_, at) => at < from * count || at >= to * count);
    return { ...file, text: printFile({ ...tree, declarations: kept, comments: [] }) };
  });
  return { ...one, files };
}

/**
 * The part of a problem that must stay while shrinking: the field of a difference, or the first line of an
 * error.
 */
function kindOf(problem: string): string {
  return /^(error\[.*|throws.*|[a-zA-Z]+:)/.exec(problem)?.[0] ?? 'rule';
}

function* smaller(one: Case): Generator<Case> {
  for (const [index, file] of one.files.entries()) {
    yield { ...one, files: one.files.filter((_, at) => at !== index) };
    const { file: tree } = parse(file);
    for (const simpler of simplerTrees(tree)) {
      const text = printFile(simpler as PolicyFile);
      if (text.length >= file.text.length) continue;
      yield { ...one, files: one.files.map((each, at) => (at === index ? { ...each, text } : each)) };
    }
  }
  for (const path of Object.keys(one.lists)) {
    yield { ...one, lists: Object.fromEntries(Object.entries(one.lists).filter(([name]) => name !== path)) };
  }
  if (one.facts === null) return;
  for (const key of Object.keys(one.facts.payload)) yield withoutField(one, one.facts, key);
  for (const facts of simplerFacts(one.facts)) yield { ...one, facts };
}

/** The case without a key of the payload, and without the fields that declare it. */
function withoutField(one: Case, facts: Facts, key: string): Case {
  const files = one.files.map((file) => {
    const { file: tree } = parse(file);
    const declarations = tree.declarations.map((declaration) => {
      if (declaration.kind !== 'action') return declaration;
      const fields = declaration.body.fields.filter(({ name }) => name.text !== key);
      return { ...declaration, body: { ...declaration.body, fields } };
    });
    return { ...file, text: printFile({ ...tree, declarations }) };
  });
  return { ...one, files, facts: { ...facts, payload: without(facts.payload, key) } };
}

/** The tree with one element less in one of its lists, or with one expression replaced by a part of it. */
function* simplerTrees(node: unknown): Generator<unknown> {
  if (Array.isArray(node)) {
    for (const [index, element] of node.entries()) {
      yield node.toSpliced(index, 1);
      for (const simpler of simplerTrees(element)) yield node.with(index, simpler);
    }
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  for (const part of partsOf(node)) yield part;
  for (const [key, value] of Object.entries(node)) {
    if (key === 'comments' || spanKeys.has(key)) continue;
    for (const simpler of simplerTrees(value)) yield { ...node, [key]: simpler };
  }
}

/** The expressions that may replace the node. */
function partsOf(node: object): readonly unknown[] {
  const { kind, left, right, operand, body, subject, args } = node as Readonly<Record<string, unknown>>;
  switch (kind) {
    case 'binary':
      return [left, right];
    case 'unary':
      return [operand];
    case 'quantifier':
      return [body];
    case 'else':
      return [subject];
    case 'call':
      return args as readonly unknown[];
    default:
      return [];
  }
}

function* simplerFacts(facts: Facts): Generator<Facts> {
  for (const part of ['payload', 'agent', 'request', 'meters'] as const) {
    for (const key of Object.keys(facts[part]))
      yield { ...facts, [part]: without(facts[part] as JsonObject, key) };
  }
  const { escalate, reauth } = facts.satisfied;
  if (escalate.length > 0) yield { ...facts, satisfied: { escalate: escalate.slice(1), reauth } };
  if (reauth.length > 0) yield { ...facts, satisfied: { escalate, reauth: reauth.slice(1) } };
}

function without(record: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
}
