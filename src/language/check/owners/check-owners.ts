// Checks that each file decides only about the actions that `owners.yaml` gives it. INVARIANT: whatever is written in
// files that do not own an action, the action is not allowed where it was not: only files that own it may grant it,
// add risk to it, declare it, or hold what its rules read. Guards of other files only make it stricter.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Span } from '../../diagnostic/span.ts';
import type { PolicySet } from '../../model/policy.ts';
import type {
  ActionDeclaration,
  Declaration,
  PolicyDeclaration,
  PolicyFile,
  RuleNode,
} from '../../syntax/tree/tree.ts';
import { type ListFile, resolveListPath } from '../messages/list-files.ts';
import { isOwnedBy, type OwnersEntry, ownersFile, readOwners } from './owners-file.ts';

interface OwnedSet {
  readonly files: readonly PolicyFile[];
  readonly set: PolicySet;
}

/** The errors of `owners.yaml` and of the files that it is about; none without that file. */
export function checkOwners(
  { files, set }: OwnedSet,
  readListFile: (path: string) => ListFile,
): readonly Diagnostic[] {
  const file = readListFile(ownersFile);
  if (!('text' in file)) return file.code === 'list-file-missing' ? [] : [unreadable(file.message)];
  const read = readOwners(file.text);
  if ('errors' in read) return read.errors;
  const ownership = createOwnership(files, read.entries);
  return files.flatMap(({ declarations }) =>
    declarations.flatMap((declaration) => {
      if (declaration.kind === 'action') return actionProblems(declaration, ownership);
      return declaration.kind === 'policy' ? policyProblems(declaration, set, ownership) : [];
    }),
  );
}

interface Ownership {
  readonly owns: (path: string, action: string) => boolean;
  /** The files on which the meaning of a declaration depends besides its own, each with the name that leads there. */
  readonly filesReadBy: (declaration: Declaration) => ReadonlyMap<string, string>;
}

function createOwnership(files: readonly PolicyFile[], entries: readonly OwnersEntry[]): Ownership {
  const declared = new Map(
    files.flatMap(({ declarations }) =>
      declarations.flatMap((one) => ('name' in one && isRead(one) ? [[one.name.text, one] as const] : [])),
    ),
  );
  return {
    owns: (path, action) => isOwnedBy(entries, path, action),
    filesReadBy: (declaration) => filesReadBy(declaration, declared),
  };
}

/** Whether other declarations may read this one. */
function isRead({ kind }: Declaration): boolean {
  return kind !== 'action' && kind !== 'policy' && kind !== 'guarantee';
}

// ---- what may decide

function actionProblems(declaration: ActionDeclaration, ownership: Ownership): readonly Diagnostic[] {
  const { file } = declaration.span;
  return declaration.keys.flatMap((key): readonly Diagnostic[] => {
    if (!ownership.owns(file, key.text)) return [notOwned(key.span, `declare \`${key.text}\``, [key.text])];
    return readProblems(declaration, { at: key.span, actions: [key.text], ownership });
  });
}

function policyProblems(
  declaration: PolicyDeclaration,
  set: PolicySet,
  ownership: Ownership,
): readonly Diagnostic[] {
  const { name, rules, span } = declaration;
  const actions = set.policies.find((one) => one.name === name.text)?.actions ?? [];
  const others = actions.filter((action) => !ownership.owns(span.file, action));
  const owned = actions.filter((action) => !others.includes(action));
  const loosening = others.length === 0 ? [] : rules.filter(mayLoosen);
  return [
    ...loosening.map((rule) => notOwned(rule.name.span, loosens(rule), others)),
    ...readProblems(declaration, { at: name.span, actions: owned, ownership }),
  ];
}

/** Whether the rule can make a decision milder: a grant, or points, which rules that read the risk may turn around. */
function mayLoosen({ effect, clauses }: RuleNode): boolean {
  return effect === 'allow' || effect === 'risk' || clauses.some(({ kind }) => kind === 'points');
}

function loosens({ effect, name }: RuleNode): string {
  return effect === 'allow' ? `allow by \`${name.text}\`` : `add risk by \`${name.text}\``;
}

interface ReadScope {
  readonly at: Span;
  readonly actions: readonly string[];
  readonly ownership: Ownership;
}

/** Errors for what a declaration reads from files that do not own its actions. */
function readProblems(
  declaration: Declaration,
  { at, actions, ownership }: ReadScope,
): readonly Diagnostic[] {
  if (actions.length === 0) return [];
  return [...ownership.filesReadBy(declaration)].flatMap(([file, name]): readonly Diagnostic[] => {
    const others = actions.filter((action) => !ownership.owns(file, action));
    return others.length === 0 ? [] : [readNotOwned(at, { name, file, actions: others })];
  });
}

// ---- what a declaration reads

function filesReadBy(
  declaration: Declaration,
  declared: ReadonlyMap<string, Declaration>,
): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const seen = new Set<Declaration>([declaration]);
  const open = [declaration];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const name of namesIn(next)) {
      const read = declared.get(name);
      if (read === undefined || seen.has(read)) continue;
      seen.add(read);
      open.push(read);
      for (const file of filesOf(read)) if (!files.has(file)) files.set(file, name);
    }
  }
  return files;
}

/** The file of a declaration, and the file that it names. */
function filesOf(declaration: Declaration): readonly string[] {
  const named =
    declaration.kind === 'hours'
      ? declaration.file
      : declaration.kind === 'list' && declaration.source.kind === 'list-file'
        ? declaration.source.path
        : declaration.kind === 'table' && declaration.source.kind === 'table-file'
          ? declaration.source.path
          : null;
  const path = named === null ? null : resolveListPath(named.span.file, named.value);
  return path === null ? [declaration.span.file] : [declaration.span.file, path];
}

/** Parts of nodes that name no declaration, or whose names decide nothing. */
const unreadParts: ReadonlySet<string> = new Set([
  'steps',
  'field',
  'column',
  'keys',
  'variable',
  'patterns',
  'comments',
]);
const ownNames: ReadonlySet<string> = new Set([
  'field',
  'rule',
  'parameter',
  'policy',
  'let',
  'list',
  'table',
  'hours',
  'meter',
  'type',
  'group',
  'approvers',
]);

/** The names in a node, without those that it gives; walked without recursion, because expressions may be deep. */
function namesIn(node: Declaration): ReadonlySet<string> {
  const names = new Set<string>();
  const open: unknown[] = [node];
  while (open.length > 0) {
    const part = open.pop();
    if (Array.isArray(part)) open.push(...part);
    else if (typeof part === 'object' && part !== null) {
      const { kind, text } = part as { readonly kind?: unknown; readonly text?: unknown };
      if (kind === 'name' && typeof text === 'string') names.add(text);
      if (kind === 'because') continue;
      for (const [key, value] of Object.entries(part))
        if (!unreadParts.has(key) && !(key === 'name' && ownNames.has(String(kind)))) open.push(value);
    }
  }
  return names;
}

// ---- messages

function notOwned(span: Span, what: string, actions: readonly string[]): Diagnostic {
  return {
    code: 'action-not-owned',
    severity: 'error',
    span,
    message: `\`${span.file}\` may not ${what}: \`${ownersFile}\` does not give it ${shown(actions)}`,
    help: 'move it to a file of the owner, or ask the owner to change `owners.yaml`; guards without points may stand in any file',
  };
}

interface ReadProblem {
  readonly name: string;
  readonly file: string;
  readonly actions: readonly string[];
}

function readNotOwned(span: Span, { name, file, actions }: ReadProblem): Diagnostic {
  return {
    code: 'read-not-owned',
    severity: 'error',
    span,
    message: `this reads \`${name}\` from \`${file}\`, to which \`${ownersFile}\` does not give ${shown(actions)}`,
    help: `declare \`${name}\` in a file of the owner, so that nobody else can change what is allowed`,
  };
}

function unreadable(why: string): Diagnostic {
  return {
    code: 'owners-malformed',
    severity: 'error',
    span: { file: ownersFile, start: 0, end: 0 },
    message: `\`${ownersFile}\` cannot be read: ${why}`,
    help: 'make the file readable, or delete it',
  };
}

const shownMax = 3;

function shown(actions: readonly string[]): string {
  const names = actions.slice(0, shownMax).map((action) => `\`${action}\``);
  const more = actions.length > shownMax ? ` and ${actions.length - shownMax} more` : '';
  return `${names.join(', ')}${more}`;
}
