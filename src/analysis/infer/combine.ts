// Puts inferred files beside the existing policies, and leaves out the guards that the checker or the prover
// find wrong or needless, and those that make a rule of the existing policies needless. INVARIANT: the result
// compiles, or the actions that keep it from compiling are left out and named.

import type { Diagnostic } from '../../language/diagnostic/diagnostic.ts';
import { sortDiagnostics } from '../../language/diagnostic/diagnostic.ts';
import type { SourceText } from '../../language/diagnostic/span.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { PolicyFile } from '../../language/syntax/tree/tree.ts';
import { type CheckResult, checkSources, type PolicySources } from '../../pipeline.ts';
import { withLints } from '../../reasoning/lints/lint.ts';
import { type ActionText, filesOf, type InferredFile, type InferredTexts } from './policy-text.ts';
import { type RulePlace, resolveRule } from './rule-places.ts';

export interface ExistingSources {
  readonly sources: PolicySources;
  /** Problems that the existing policies have without the inferred files. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface CombineOptions {
  readonly existing: ExistingSources | null;
  /** The folder of the inferred files, relative to the existing policies, with a slash at its end. */
  readonly prefix: string;
}

export interface DroppedGuard {
  readonly action: string;
  readonly guard: string;
  readonly why: string;
}

export interface CombinedSet {
  readonly texts: InferredTexts;
  readonly files: readonly InferredFile[];
  readonly set: PolicySet;
  readonly trees: readonly PolicyFile[];
  readonly sources: PolicySources;
  readonly dropped: readonly DroppedGuard[];
  /** Problems that remain, as `writ check --strict` shows them. */
  readonly diagnostics: readonly Diagnostic[];
}

const roundsMax = 12;

/**
 * Guards beside policies that exist are first checked without their reasons: a reason excuses a guard that stops
 * nothing, and such a guard is not worth a review.
 */
export function combine(texts: InferredTexts, options: CombineOptions): CombinedSet {
  if (texts.actions.every(({ allow }) => allow !== null))
    return settled(texts, { ...options, isBare: false });
  const bare = settled(texts, { ...options, isBare: true });
  const whole = settled(bare.texts, { ...options, isBare: false });
  return { ...whole, dropped: [...bare.dropped, ...whole.dropped] };
}

function settled(texts: InferredTexts, options: CombineOptions & { readonly isBare: boolean }): CombinedSet {
  const dropped: DroppedGuard[] = [];
  let now = texts;
  for (let round = 0; ; round += 1) {
    const files = filesOf(options.isBare ? withoutReasons(now) : now);
    const sources = sourcesOf(files, options);
    const checked = checkSources(sources);
    const diagnostics = newProblems(checked, sources, options);
    const changes = diagnostics.flatMap((one) => changeFor(one, now, { files: checked.files, options }));
    const isDone = changes.length === 0 || round === roundsMax;
    if (isDone && checked.set !== null)
      return { texts: now, files, set: checked.set, trees: checked.files, sources, dropped, diagnostics };
    if (isDone) throw new Error(`the inferred policies do not compile: ${JSON.stringify(diagnostics[0])}`);
    dropped.push(...changes.flatMap(({ dropped: own }) => own));
    now = changes.reduce((all, { apply }) => apply(all), now);
  }
}

function withoutReasons({ actions, ...others }: InferredTexts): InferredTexts {
  const bare = actions.map((action) =>
    action.allow === null
      ? { ...action, guards: action.guards.map((guard) => ({ ...guard, reason: null })) }
      : action,
  );
  return { ...others, actions: bare };
}

function sourcesOf(files: readonly InferredFile[], { existing, prefix }: CombineOptions): PolicySources {
  const own = files.map(({ path, text }): SourceText => ({ path: `${prefix}${path}`, text }));
  const policies = own.filter(({ path }) => path.endsWith('.policy'));
  return {
    files: [...(existing?.sources.files ?? []), ...policies],
    readListFile: (path) =>
      own.find((one) => one.path === path) ??
      existing?.sources.readListFile(path) ?? {
        code: 'list-file-missing',
        message: `\`${path}\` is not inferred`,
      },
  };
}

/** The problems that the existing policies do not have alone. */
function newProblems(
  { set, files, diagnostics, silenced }: CheckResult,
  sources: PolicySources,
  { existing }: CombineOptions,
): readonly Diagnostic[] {
  const all =
    set === null
      ? sortDiagnostics(diagnostics)
      : withLints({ set, files, diagnostics, silenced, texts: sources.files }).diagnostics;
  const known = new Set((existing?.diagnostics ?? []).map(identityOf));
  return all.filter((one) => !known.has(identityOf(one)));
}

function identityOf({ code, span, message }: Diagnostic): string {
  return JSON.stringify([code, span, message]);
}

// ---- what is changed for a problem

interface Change {
  readonly dropped: readonly DroppedGuard[];
  readonly apply: (texts: InferredTexts) => InferredTexts;
}

interface ChangeContext {
  readonly files: readonly PolicyFile[];
  readonly options: CombineOptions;
}

function changeFor(
  diagnostic: Diagnostic,
  texts: InferredTexts,
  { files, options }: ChangeContext,
): readonly Change[] {
  const spans = [diagnostic.span, ...(diagnostic.related ?? []).map(({ span }) => span)];
  const isOwn = ({ file }: Diagnostic['span']): boolean =>
    !(options.existing?.sources.files ?? []).some(({ path }) => path === file);
  for (const span of spans.filter(isOwn)) {
    const place = resolveRule(files, span);
    const action = texts.actions.find(({ policy, key }) => policy === place?.policy || key === place?.action);
    if (place === null || action === undefined) continue;
    return [changeOf(diagnostic, action, place)];
  }
  return [];
}

function changeOf({ code, message }: Diagnostic, action: ActionText, { rule }: RulePlace): Change {
  const { key, allow } = action;
  if (code === 'allow-unconditional' && allow !== null) {
    const silence =
      action.guards.length > 0
        ? 'the guards below limit it'
        : 'the recorded requests show nothing to limit it by';
    return { dropped: [], apply: replaced(key, (own) => ({ ...own, allow: { ...allow, silence } })) };
  }
  const guard = action.guards.find(({ name }) => name === rule);
  if (guard === undefined)
    return {
      dropped: [{ action: key, guard: '', why: message }],
      apply: ({ actions, ...others }) => ({ ...others, actions: actions.filter((own) => own.key !== key) }),
    };
  return {
    dropped: [{ action: key, guard: guard.name, why: message }],
    apply: replaced(key, (own) => ({
      ...own,
      guards: own.guards.filter(({ name }) => name !== guard.name),
    })),
  };
}

function replaced(key: string, change: (action: ActionText) => ActionText): Change['apply'] {
  return ({ actions, ...others }) => ({
    ...others,
    actions: actions.map((own) => (own.key === key ? change(own) : own)),
  });
}
