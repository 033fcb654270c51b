// The constructs in a policy file, as names of features: one for each construct of the language in its tree.

import { namedBuiltins } from '../../src/language/model/builtins.ts';
import { builtInTypeWords } from '../../src/language/syntax/parse/tokens.ts';
import type {
  ApproverListNode,
  Clause,
  Declaration,
  ExpressionNode,
  FieldNode,
  GuaranteeClauseNode,
  LetDeclaration,
  ListDeclaration,
  MeterDeclaration,
  Pattern,
  PolicyFile,
  RuleNode,
  StandingClause,
  TypeNode,
  TypeRange,
} from '../../src/language/syntax/tree/tree.ts';

interface AnyNode {
  readonly kind?: unknown;
}

type TreeNode =
  | PolicyFile
  | Declaration
  | FieldNode
  | TypeNode
  | RuleNode
  | Clause
  | ExpressionNode
  | GuaranteeClauseNode
  | Pattern;

/** Every feature of the file, repeated for each occurrence. */
export function syntaxFeatures(file: PolicyFile): readonly string[] {
  return nodesIn(file).flatMap((node) => featuresOf(node as TreeNode));
}

function nodesIn(value: unknown): readonly AnyNode[] {
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(nodesIn);
  return 'kind' in value ? [value, ...inner] : inner;
}

function featuresOf(node: TreeNode): readonly string[] {
  const kind = `written ${node.kind}`;
  switch (node.kind) {
    case 'action':
      return [
        `${kind} ${node.keys.length > 1 ? 'several keys' : 'one key'}`,
        ...(node.groups.length > 1 ? [`${kind} in several groups`] : []),
        ...(node.body.isOpen ? [`${kind} open`] : []),
        ...(node.title === null ? [] : [`${kind} titled`]),
        ...(node.result === null ? [] : [`${kind} result`]),
        ...(node.keys.some(({ isQuoted }) => isQuoted) ? [`${kind} quoted`] : []),
      ];
    case 'field':
      return [
        `${kind} ${node.isOptional ? 'optional' : 'required'}`,
        ...(node.name.isQuoted ? [`${kind} quoted`] : []),
      ];
    case 'named-type':
      return namedTypeFeatures(node);
    case 'money-type':
    case 'list-type':
      return [kind, ...rangeFeatures(kind, node.range)];
    case 'modified-type':
      return [`${kind} ${node.modifier}${node.by === null ? '' : ' by'}`];
    case 'list':
      return listFeatures(node);
    case 'group':
      return [`${kind}${node.body === null ? '' : ' fields'}`];
    case 'table':
      return [`${kind} ${node.source.kind}`];
    case 'let':
      return letFeatures(node);
    case 'call':
      return [kind, ...(namedBuiltins.some((name) => name === node.callee.text) ? [] : [`${kind} of a let`])];
    case 'claim':
      return claimFeatures(node);
    case 'if':
      return [`${kind}${node.otherwise === null ? ' without else' : ''}`];
    case 'has':
      return [`${kind}${node.subject.kind === 'look-up' ? ' cell' : ''}`];
    case 'look-up':
      return [`${kind}${node.column === null ? '' : ' column'}`];
    case 'hours':
      return [`${kind}${node.file === null ? '' : ' list-file'}${node.except === null ? '' : ' except'}`];
    case 'meter':
      return meterFeatures(node);
    case 'policy':
      return [
        `${kind}${node.isShadow ? ' shadow' : ''}`,
        ...(node.when === null ? [] : [`${kind} when`]),
        ...(node.except.length === 0 ? [] : [`${kind} except`]),
        ...(node.patterns.length > 1 ? [`${kind} several patterns`] : []),
        ...node.metadata.map((line) => `${kind} ${line.kind}`),
        ...(node.doc === null ? [] : [`${kind} documented`]),
      ];
    case 'pattern':
      return [`${kind} ${patternForm(node)}`];
    case 'rule':
      return ruleFeatures(node);
    case 'quantifier':
      return [
        `${kind} ${node.quantifier} over ${Math.min(node.sources.length, 2)}`,
        ...(node.quantifier === 'sum' && node.body.kind === 'if' ? [`${kind} sum of if`] : []),
        ...nested(node),
      ];
    case 'else':
      return [`${kind} ${node.fallback.kind}`];
    case 'binary':
      return [`${kind} ${node.operator}`];
    case 'unary':
      return [`${kind} ${node.operator}`];
    case 'text':
      return [`${kind}${node.isRaw ? ' raw' : ''}`];
    default:
      return [kind];
  }
}

function namedTypeFeatures({
  name,
  ignoringCase,
  pattern,
  range,
}: Extract<TypeNode, { kind: 'named-type' }>): readonly string[] {
  const isBuiltIn = [...builtInTypeWords, 'network'].some((word) => word === name.text);
  const kind = `written named-type ${isBuiltIn ? name.text : 'of a declared type'}`;
  return [
    `${kind}${ignoringCase ? ' ignoring case' : ''}${pattern === null ? '' : ' matches'}`,
    ...rangeFeatures(kind, range),
  ];
}

function rangeFeatures(kind: string, range: TypeRange | null): readonly string[] {
  if (range === null) return [];
  return [`${kind} ${range.low === null ? '' : 'low'}..${range.high === null ? '' : 'high'}`];
}

function listFeatures({ source, ignoringCase, mayBeEmpty, elementType }: ListDeclaration): readonly string[] {
  return [
    `written list ${source.kind}${ignoringCase ? ' ignoring case' : ''}`,
    ...(mayBeEmpty ? ['written list may be empty'] : []),
    ...(elementType === null ? [] : ['written list typed']),
  ];
}

function meterFeatures({ aggregate, currency, when, since, per, over }: MeterDeclaration): readonly string[] {
  return [
    `written meter ${aggregate}${currency === null ? '' : ' in a currency'}`,
    ...(when === null ? [] : ['written meter when']),
    ...since.map((pattern) => `written meter since ${patternForm(pattern)}`),
    ...per.map(({ root }) => `written meter per ${root.text}`),
    ...(per.some(({ steps }) => steps.at(-1)?.text === 'currency') && currency === null && aggregate === 'sum'
      ? ['written meter sum of each currency']
      : []),
    `written meter over ${over.kind === 'duration' ? 'a duration' : over.period}`,
  ];
}

/** The forms of a let: with parameters, or a name of a row or a record. */
function letFeatures({ parameters, value }: LetDeclaration): readonly string[] {
  const kind = 'written let';
  if (parameters.length > 0)
    return [
      `${kind} parameters`,
      ...parameters.map(({ type }) => `${kind} parameter ${type.kind === 'list-type' ? 'list' : 'value'}`),
    ];
  if (value.kind === 'look-up' && value.column === null) return [`${kind} row`];
  const isRecord = value.kind === 'path' && value.root.text === 'payload';
  return [`${kind}${isRecord ? ' record' : ''}`];
}

function claimFeatures({
  mode,
  effect,
  asked,
  people,
  isUnapproved,
  when,
}: GuaranteeClauseNode): readonly string[] {
  return [
    'written claim',
    `written claim ${mode} ${effect}${isUnapproved && effect !== 'ask' ? ' unapproved' : ''}`,
    ...(people === null ? [] : ['written claim needs']),
    ...(when === null ? [] : ['written claim when']),
    ...(asked === null ? [] : approverListFeatures(asked).map((feature) => `written claim ${feature}`)),
  ];
}

function patternForm({ text, isQuoted }: Pattern): string {
  if (isQuoted) return 'quoted';
  if (text === '*') return 'all';
  if (text.endsWith('.*')) return 'area';
  if (text.startsWith('*.')) return 'verb';
  return text.includes('.') ? 'key' : 'group';
}

/** The clauses of each effect, so that each parameter is counted wherever it may stand. */
function ruleFeatures({ effect, isShadow, clauses }: RuleNode): readonly string[] {
  return [
    `written rule ${effect}`,
    ...(isShadow ? [`written rule shadow`] : []),
    ...clauses.map((clause) => `written ${effect} ${clause.kind}`),
    ...clauses.flatMap((clause) =>
      'asked' in clause
        ? approverListFeatures(clause.asked).map((feature) => `written ${effect} ${feature}`)
        : [],
    ),
    ...clauses.flatMap((clause) => (clause.kind === 'standing' ? standingFeatures(clause) : [])),
  ];
}

function standingFeatures({ per, times }: StandingClause): readonly string[] {
  const keys = per.map(({ root }) => `written standing per ${root.text}`);
  return [...keys, `written standing ${times === null ? 'any number' : 'up to'}`];
}

function approverListFeatures({ each, joints }: ApproverListNode): readonly string[] {
  return [
    ...(each.length > 1 ? ['several groups'] : []),
    ...(joints.includes('or') ? ['choice'] : []),
    ...each.flatMap((one) => (one.kind === 'look-up' ? ['look-up approver'] : [])),
    ...each.flatMap((one) => (one.kind === 'path' && one.steps.length > 0 ? ['path approver'] : [])),
  ];
}

function nested(node: Extract<ExpressionNode, { kind: 'quantifier' }>): readonly string[] {
  const inner = nodesIn(node.body).some(({ kind }) => kind === 'quantifier');
  return inner ? ['written quantifier nested'] : [];
}
