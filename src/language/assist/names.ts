// Finds every name in a set, with its place and what it refers to. Definition, references, rename, hover and
// symbols use this list.

import type { Span } from '../diagnostic/span.ts';
import type {
  ApproverListNode,
  Clause,
  Declaration,
  DeclarationOf,
  ExpressionNode,
  NameNode,
  Path,
  Pattern,
  PolicyFile,
  RecordBody,
  TemplateNode,
  TypeNode,
} from '../syntax/tree/tree.ts';
import { walkExpression } from '../syntax/tree/visit.ts';
import { placeNames } from './place-names.ts';
import type { PlaceName } from './vocabulary.ts';

export type NamedKind = Declaration['kind'] | 'rule' | 'field' | 'column' | 'variable' | 'builtin' | 'fact';

export interface Occurrence {
  readonly kind: NamedKind;
  /**
   * For a rule `policy/rule`, for a field its path from the payload, for a column `table.column`, for a variable
   * its name and the place of its declaration; else the name as written.
   */
  readonly name: string;
  readonly span: Span;
  readonly isDeclared: boolean;
  /**
   * Patterns of the actions that the surrounding declaration is about; for a declared field those of its own
   * action or group. Null means all actions.
   */
  readonly patterns: readonly string[] | null;
  /** The comment above the declaration. */
  readonly doc: string | null;
}

/** The declared names: their kinds, and the record or row that a let names. */
interface Names {
  readonly kinds: ReadonlyMap<string, Declaration['kind']>;
  readonly places: ReadonlyMap<string, PlaceName>;
}

interface NamesInScope {
  readonly names: Names;
  readonly patterns: readonly string[] | null;
  readonly occurrences: Occurrence[];
}

/** Names found in a file; valid while the file's tree and the names of the set are the same. */
const cache = new WeakMap<
  PolicyFile,
  { readonly names: Names; readonly occurrences: readonly Occurrence[] }
>();
let lastNames: Names = { kinds: new Map(), places: new Map() };

/** Returns the names of all files, in the order of files and of places in them. */
export function occurrencesOf(files: readonly PolicyFile[]): readonly Occurrence[] {
  const names = namesOf(files);
  return files.flatMap((file) => inFile(file, names));
}

function inFile(file: PolicyFile, names: Names): readonly Occurrence[] {
  const before = cache.get(file);
  if (before?.names === names) return before.occurrences;
  const all: Occurrence[] = [];
  for (const declaration of file.declarations)
    addDeclaration(declaration, { names, patterns: null, occurrences: all });
  const occurrences = eachOnce(all).toSorted((a, b) => a.span.start - b.span.start);
  cache.set(file, { names, occurrences });
  return occurrences;
}

/** Returns the declared names; the same object as before while the content is the same. */
function namesOf(files: readonly PolicyFile[]): Names {
  const kinds = new Map<string, Declaration['kind']>();
  for (const { declarations } of files) {
    for (const declaration of declarations)
      if (declaration.kind !== 'action') kinds.set(declaration.name.text, declaration.kind);
  }
  const places = new Map(placeNames(files).map((place) => [place.name, place]));
  const isSame =
    isSameMap(kinds, lastNames.kinds, (one, other) => one === other) &&
    isSameMap(places, lastNames.places, (one, other) => one.kind === other?.kind && one.of === other.of);
  if (!isSame) lastNames = { kinds, places };
  return lastNames;
}

function isSameMap<Value>(
  one: ReadonlyMap<string, Value>,
  other: ReadonlyMap<string, Value>,
  isSame: (one: Value, other: Value | undefined) => boolean,
): boolean {
  return one.size === other.size && [...one].every(([name, value]) => isSame(value, other.get(name)));
}

/** A name that a condition mentions twice at one place, as for `payload has a.b`, is kept once. */
function eachOnce(occurrences: readonly Occurrence[]): readonly Occurrence[] {
  const byPlace = occurrences.map(
    (one) => [`${one.span.file}:${one.span.start} ${one.kind} ${one.name}`, one] as const,
  );
  return [...new Map(byPlace).values()];
}

/** Returns the names in one file, in the order of their places. */
export function occurrencesIn(files: readonly PolicyFile[], file: string): readonly Occurrence[] {
  const tree = files.find(({ span }) => span.file === file);
  return tree === undefined ? [] : inFile(tree, namesOf(files));
}

/** Returns the innermost name at a place; null when there is none. */
export function occurrenceAt(files: readonly PolicyFile[], file: string, offset: number): Occurrence | null {
  const at = occurrencesIn(files, file).filter(({ span }) => span.start <= offset && offset <= span.end);
  return at.toSorted((a, b) => a.span.end - a.span.start - (b.span.end - b.span.start))[0] ?? null;
}

/** Returns the declaration and all uses of the name. */
export function sameName(files: readonly PolicyFile[], { kind, name }: Occurrence): readonly Occurrence[] {
  return occurrencesOf(files).filter((one) => one.kind === kind && one.name === name);
}

interface NamedNode {
  readonly kind: NamedKind;
  readonly node: NameNode;
  readonly name?: string;
  readonly doc?: string | null;
}

function declare(
  { kind, node, name = node.text, doc = null }: NamedNode,
  { occurrences: found, patterns }: NamesInScope,
): void {
  found.push({ kind, name, span: node.span, isDeclared: true, patterns, doc });
}

function use(kind: NamedKind, { text, span }: Pick<NameNode, 'text' | 'span'>, around: NamesInScope): void {
  around.occurrences.push({
    kind,
    name: text,
    span,
    isDeclared: false,
    patterns: around.patterns,
    doc: null,
  });
}

function addDeclaration(declaration: Declaration, around: NamesInScope): void {
  const { kind } = declaration;
  if (kind !== 'action') declare({ kind, node: declaration.name, doc: declaration.doc }, around);
  switch (kind) {
    case 'action': {
      for (const node of declaration.keys) declare({ kind, node, doc: declaration.doc }, around);
      for (const group of declaration.groups) use('group', group, around);
      const scope = { ...around, patterns: declaration.keys.map(({ text }) => text) };
      addBody(declaration.body, '', scope);
      if (declaration.result !== null) addBody(declaration.result, 'result', scope);
      if (declaration.title !== null) addTemplate(declaration.title, scope);
      return;
    }
    case 'group':
      if (declaration.body !== null)
        addBody(declaration.body, '', { ...around, patterns: [declaration.name.text] });
      return;
    case 'type':
      addType(declaration.type, null, around);
      return;
    case 'list':
      if (declaration.elementType !== null) addType(declaration.elementType, null, around);
      if (declaration.source.kind === 'join')
        for (const list of declaration.source.lists) use('list', list, around);
      return;
    case 'table':
      if (declaration.source.kind !== 'rows') {
        addType(declaration.source.key.type, null, around);
        for (const column of declaration.source.columns.fields) {
          const name = `${declaration.name.text}.${column.name.text}`;
          declare({ kind: 'column', node: column.name, name, doc: column.doc }, around);
          addType(column.type, null, around);
        }
      }
      return;
    case 'hours':
      if (declaration.except !== null) use('list', declaration.except, around);
      return;
    case 'let':
      addLet(declaration, around);
      return;
    case 'meter': {
      const inner = { ...around, patterns: textsOf(declaration.patterns) };
      for (const pattern of [...declaration.patterns, ...declaration.since]) addPattern(pattern, inner);
      for (const one of [declaration.argument, declaration.when]) if (one !== null) addExpression(one, inner);
      for (const path of declaration.per) if (path.root.text === 'payload') addPath(path, inner, new Map());
      return;
    }
    case 'policy': {
      const inner = { ...around, patterns: textsOf(declaration.patterns) };
      for (const pattern of [...declaration.patterns, ...declaration.except]) addPattern(pattern, inner);
      if (declaration.when !== null) addExpression(declaration.when, inner);
      for (const rule of declaration.rules) {
        const name = `${declaration.name.text}/${rule.name.text}`;
        declare({ kind: 'rule', node: rule.name, name, doc: rule.doc }, inner);
        for (const clause of rule.clauses) addClause(clause, inner);
      }
      return;
    }
    case 'guarantee': {
      const inner = { ...around, patterns: textsOf(declaration.patterns) };
      for (const pattern of declaration.patterns) addPattern(pattern, inner);
      for (const claim of declaration.claims) {
        if (claim.asked !== null) addApproverList(claim.asked, inner);
        if (claim.when !== null) addExpression(claim.when, inner);
      }
    }
  }
}

function textsOf(patterns: readonly Pattern[]): readonly string[] {
  return patterns.map(({ text }) => text);
}

function addPattern({ text, span, isQuoted }: Pattern, around: NamesInScope): void {
  if (text.includes('*')) return;
  use(isQuoted || text.includes('.') ? 'action' : 'group', { text, span }, around);
}

function addClause(clause: Clause, around: NamesInScope): void {
  switch (clause.kind) {
    case 'to':
    case 'after-approval':
    case 'then':
      addApproverList(clause.asked, around);
      return;
    case 'when':
    case 'unless':
      addExpression(clause.condition, around);
      return;
    case 'because':
      addTemplate(clause.reason, around);
      return;
    default:
  }
}

function addApproverList({ each }: ApproverListNode, around: NamesInScope): void {
  for (const node of each) {
    const name = node.kind === 'path' && node.steps.length === 0 ? node.root : null;
    if (name !== null && around.names.kinds.get(name.text) !== 'let') use('approvers', name, around);
    else addExpression(node, around);
  }
}

function addTemplate({ parts }: TemplateNode, around: NamesInScope): void {
  for (const part of parts) if (part.kind === 'template-value') addExpression(part.value, around);
}

function addBody({ fields }: RecordBody, path: string, around: NamesInScope): void {
  for (const field of fields) {
    const name = path === '' ? field.name.text : `${path}.${field.name.text}`;
    declare({ kind: 'field', node: field.name, name, doc: field.doc }, around);
    addType(field.type, name, around);
  }
}

/** `path` is the path of the field with the type; null for a type outside of a field. */
function addType(type: TypeNode, path: string | null, around: NamesInScope): void {
  switch (type.kind) {
    case 'named-type':
      if (around.names.kinds.get(type.name.text) === 'type') use('type', type.name, around);
      return;
    case 'list-type':
      addType(type.element, path === null ? null : `${path}[]`, around);
      return;
    case 'record-type':
      addBody(type.body, path ?? '', around);
      return;
    case 'modified-type':
      addType(type.type, path, around);
      return;
    case 'union-type':
      for (const member of type.members) addType(member, path, around);
      return;
    default:
  }
}

/** Variables by name, with the place that declares each and the list that it iterates over. */
type Variables = Map<string, { readonly at: Span; readonly list: string | null }>;

/** A let, with its parameters as variables of its value. */
function addLet({ parameters, value }: DeclarationOf<'let'>, around: NamesInScope): void {
  const variables: Variables = new Map();
  for (const { name, type } of parameters) {
    addType(type, null, around);
    variables.set(name.text, { at: name.span, list: null });
    declare({ kind: 'variable', node: name, name: variableName(name.text, name.span) }, around);
  }
  addExpression(value, around, variables);
}

function addExpression(
  expression: ExpressionNode,
  around: NamesInScope,
  variables: Variables = new Map(),
): void {
  walkExpression(expression, (node) => {
    if (node.kind === 'path') addPath(node, around, variables);
    else if (node.kind === 'look-up') {
      addPath({ kind: 'path', root: node.table, steps: [], span: node.span }, around, variables);
      if (node.column !== null) useColumn(node.table.text, node.column, around);
    } else if (node.kind === 'call')
      use(around.names.kinds.get(node.callee.text) === 'let' ? 'let' : 'builtin', node.callee, around);
    else if (node.kind === 'has' && node.subject.kind === 'path')
      addPath(withSteps(node.subject, node.field), around, variables);
    else if (node.kind === 'has' && node.subject.kind === 'look-up')
      for (const column of node.field) useColumn(node.subject.table.text, column, around);
    else if (node.kind === 'quantifier') {
      const [source] = node.sources;
      const list = source?.kind === 'path' ? fieldPath(source, variables) : null;
      variables.set(node.variable.text, { at: node.variable.span, list });
      const name = variableName(node.variable.text, node.variable.span);
      declare({ kind: 'variable', node: node.variable, name }, around);
    }
  });
}

function useColumn(table: string, { text, span }: NameNode, around: NamesInScope): void {
  use('column', { text: `${table}.${text}`, span }, around);
}

/** Uses what follows the name of a record or a row. */
function addNamedPlace(place: PlaceName | undefined, steps: readonly NameNode[], around: NamesInScope): void {
  if (place?.kind === 'row') {
    for (const column of steps) useColumn(place.of, column, around);
    return;
  }
  if (place === undefined) return;
  const base = place.of.slice('payload.'.length);
  for (const [at, step] of steps.entries()) {
    const below = steps.slice(0, at + 1).map(({ text }) => text);
    use('field', { text: [base, ...below].join('.'), span: step.span }, around);
  }
}

function withSteps(subject: Path, field: readonly NameNode[]): Path {
  return { ...subject, steps: [...subject.steps, ...field] };
}

function variableName(name: string, at: Span): string {
  return `${name} ${at.file}:${at.start}`;
}

/** Returns the path from the payload; null when the path leads to no field. */
function fieldPath({ root, steps }: Path, variables: Variables): string | null {
  const names = steps.map(({ text }) => text);
  if (root.text === 'payload') return names.join('.');
  const variable = variables.get(root.text);
  if (variable === undefined || variable.list === null) return null;
  return [`${variable.list}[]`, ...names].join('.');
}

function addPath(path: Path, around: NamesInScope, variables: Variables): void {
  const { root, steps } = path;
  const variable = variables.get(root.text);
  if (variable !== undefined)
    use('variable', { text: variableName(root.text, variable.at), span: root.span }, around);
  const kind = variable === undefined ? around.names.kinds.get(root.text) : undefined;
  if (kind !== undefined) {
    use(kind, root, around);
    addNamedPlace(around.names.places.get(root.text), steps, around);
    return;
  }
  for (const [at, step] of steps.entries()) {
    const name = fieldPath({ ...path, steps: steps.slice(0, at + 1) }, variables);
    if (name !== null) use('field', { text: name, span: step.span }, around);
  }
  if (variable !== undefined || root.text === 'payload') return;
  const text = [root, ...steps].map((one) => one.text).join('.');
  use('fact', { text, span: path.span }, around);
}
