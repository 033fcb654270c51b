// Code lenses above a declaration: how tests cover a rule, what is proved of a guarantee, and what can be
// run. INVARIANT: an answer that takes long is computed only when its lens comes into view, and on the second
// thread.

import type { CodeLens, Range } from 'vscode-languageserver';
import { clauseText } from '../reasoning/prove/report/wording.ts';
import type { RuleCoverage } from '../testing/coverage.ts';
import { readTestFile } from '../testing/read-test-file.ts';
import { rangeOf } from './set/positions.ts';
import { documentOf, type SetSnapshot, uriOf } from './set/workspace.ts';
import type { SlowAnswers } from './slow-answers.ts';

// The names of the commands that an editor can run on the server; code lenses name them.

export const commandNames = {
  runCase: 'writ.runCase',
  showWitness: 'writ.showWitness',
  showChanges: 'writ.showChanges',
  hideChanges: 'writ.hideChanges',
  explainLogged: 'writ.explainLogged',
  // These commands serve views that list what can be run; they show no message.
  listCases: 'writ.listCases',
  listClaims: 'writ.listClaims',
  proveClaim: 'writ.proveClaim',
  tryRequest: 'writ.tryRequest',
  runCaseQuietly: 'writ.runCaseQuietly',
} as const;

/** What a lens without an answer yet is about. */
type LensData = { readonly uri: string } & (
  | { readonly about: 'rule'; readonly rule: string }
  | { readonly about: 'claim'; readonly start: number }
);

interface LensesOptions {
  readonly file: string;
  /** Whether there is a service to ask for recorded requests. */
  readonly hasService: boolean;
  /** Whether the editor shows the changes since HEAD. */
  readonly areChangesShown: boolean;
}

export function lensesOf(snapshot: SetSnapshot, options: LensesOptions): readonly CodeLens[] {
  return snapshot.tests.has(options.file)
    ? testLenses(snapshot, options.file)
    : policyLenses(snapshot, options);
}

function policyLenses(
  snapshot: SetSnapshot,
  { file, hasService, areChangesShown }: LensesOptions,
): readonly CodeLens[] {
  const tree = snapshot.files.find(({ span }) => span.file === file);
  if (tree === undefined || tree.declarations.length === 0) return [];
  const document = documentOf(snapshot, file);
  const uri = uriOf(snapshot, file);
  const pending = (range: Range, data: LensData): CodeLens => ({ range, data });
  const lineOf = (start: number): Range => rangeOf(document, { file, start, end: start });
  const changes = areChangesShown
    ? { title: 'hide changes since HEAD', command: commandNames.hideChanges, arguments: [uri] }
    : { title: 'show changes since HEAD', command: commandNames.showChanges, arguments: [uri] };
  return [
    { range: lineOf(0), command: changes },
    ...tree.declarations.flatMap((declaration): readonly CodeLens[] => {
      if (declaration.kind === 'guarantee')
        return declaration.claims.map(({ span: { start } }) =>
          pending(lineOf(start), { uri, about: 'claim', start }),
        );
      if (declaration.kind !== 'policy') return [];
      const { name, rules, span } = declaration;
      const explain = {
        title: 'explain its last request',
        command: commandNames.explainLogged,
        arguments: [uri, name.text],
      };
      return [
        ...(hasService ? [{ range: lineOf(span.start), command: explain }] : []),
        ...rules.map((rule) =>
          pending(lineOf(rule.span.start), { uri, about: 'rule', rule: `${name.text}/${rule.name.text}` }),
        ),
      ];
    }),
  ];
}

function testLenses(snapshot: SetSnapshot, file: string): readonly CodeLens[] {
  const document = documentOf(snapshot, file);
  const uri = uriOf(snapshot, file);
  const { cases, diagnostics } = readTestFile({ path: file, text: document.getText() });
  if (diagnostics.length > 0 || cases.length === 0) return [];
  const top = { title: 'run all', command: commandNames.runCase, arguments: [uri, null] };
  return [
    { range: rangeOf(document, { file, start: 0, end: 0 }), command: top },
    ...cases.map(({ span: { start } }): CodeLens => {
      const command = { title: 'run', command: commandNames.runCase, arguments: [uri, start] };
      return { range: rangeOf(document, { file, start, end: start }), command };
    }),
  ];
}

/** The lens with its answer. */
export async function resolveLens(
  lens: CodeLens,
  snapshot: SetSnapshot,
  { file, slow }: { readonly file: string; readonly slow: SlowAnswers },
): Promise<CodeLens> {
  // The editor sends the data of a lens back unchanged.
  const data = lens.data as LensData;
  const command =
    data.about === 'rule'
      ? await ruleCommand(snapshot, data.rule, { file, slow })
      : await clauseCommand(snapshot, data, { file, slow });
  return { range: lens.range, command };
}

interface LensContext {
  readonly file: string;
  readonly slow: SlowAnswers;
}

const nothing = (title: string) => ({ title, command: '' });

async function ruleCommand(snapshot: SetSnapshot, rule: string, { file, slow }: LensContext) {
  const { coverage } = await slow.tests(snapshot, null);
  const ruleCoverage = coverage.find((one) => one.file === file && one.rule === rule);
  return nothing(ruleCoverage === undefined ? 'no tests' : coverageText(ruleCoverage));
}

/** The coverage of a rule, in the words of `writ test --coverage`. */
function coverageText({ counts, lacks }: RuleCoverage): string {
  const counted = `true ${counts.true}, false ${counts.false}, unknown ${counts.unknown}`;
  return lacks.length === 0 ? `tests: ${counted}` : `tests: ${counted}; never ${lacks.join(', never ')}`;
}

async function clauseCommand(
  snapshot: SetSnapshot,
  { uri, start }: Extract<LensData, { about: 'claim' }>,
  { file, slow }: LensContext,
) {
  const claims = await slow.claims(snapshot);
  const clause = claims?.find((one) => one.file === file && one.start === start);
  if (clause === undefined) return nothing('not proved while the policies have errors');
  if (clause.result === 'proved') return nothing('proved for all requests');
  if (clause.request === null) return nothing(`${clause.result}: ${clause.why}`);
  return {
    title: `refuted: ${clause.why}`,
    command: commandNames.showWitness,
    arguments: [uri, start],
  };
}

interface WrittenClause {
  readonly guarantee: string;
  /** The text of the claim, on one line. */
  readonly text: string;
  readonly start: number;
}

/** The claims of a policy file, in order. */
export function clausesIn(snapshot: SetSnapshot, file: string): readonly WrittenClause[] {
  const sourceOf = (path: string): string | null => snapshot.texts.get(path)?.text ?? null;
  const declarations = snapshot.files.find(({ span }) => span.file === file)?.declarations ?? [];
  return declarations.flatMap((declaration) =>
    declaration.kind !== 'guarantee'
      ? []
      : declaration.claims.map((claim) => ({
          guarantee: declaration.name.text,
          text: clauseText(claim, sourceOf),
          start: claim.span.start,
        })),
  );
}
