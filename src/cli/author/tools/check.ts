// `check`: every diagnostic of the policies and the verdict on each guarantee, as `writ check` finds them.

import { displayPath } from '../../../analysis/findings/display-path.ts';
import { type ClauseResult, clauseToJson } from '../../../analysis/findings/guarantee-results.ts';
import { diagnosticToJson, position } from '../../../language/diagnostic/render.ts';
import type { Json, JsonObject } from '../../../language/model/json.ts';
import { digest } from '../../../service/policies/digest.ts';
import { many } from '../../output/many.ts';
import { type CheckJudgement, checkNotes, judgeCheck, verdictLine } from '../../support/check-verdict.ts';
import { renderClauses } from '../../support/clauses-text.ts';
import { loadChecked } from '../../support/load-policies.ts';
import type { Entry } from '../tool/answer.ts';
import { diagnosticText, type Sources, shownSources } from '../tool/policies.ts';
import { anyObject, count, flag, listOf, optional, orNull, text } from '../tool/schema.ts';
import { defineTool, pathField } from '../tool/tool.ts';
import { policiesInWorkspace } from '../tool/workspace.ts';

export const check = defineTool({
  name: 'check',
  title: 'Check policies',
  description:
    'Checks policies: every error and warning with its place and its fix, and a proof or a counterexample for each guarantee. Call it after each edit. `reference` with the code of a diagnostic explains it.',
  input: {
    path: optional(pathField),
    strict: optional(flag('treat warnings and undecided guarantees as errors, as a review would')),
  },
  output: {
    ok: flag('whether there is nothing to mend'),
    path: text('what was checked'),
    digest: orNull(text('the digest of the set; null with errors')),
    errors: count('number of errors'),
    warnings: count('number of warnings'),
    refuted: count('number of refuted claims of guarantees'),
    undecided: count('number of undecided claims'),
    diagnostics: listOf(anyObject('code, severity, message, file, line, column, help, fix'), 'errors first'),
    guarantees: listOf(
      anyObject('guarantee, claim, result, file, line; request of a refutation'),
      'refuted ones first',
    ),
    notes: listOf(text('a sentence'), 'what was not checked'),
  },
  async run({ path, strict }) {
    const loaded = await loadChecked(policiesInWorkspace(path));
    const judged = judgeCheck({ loaded, applied: [] }, { strict });
    return { ...summarized(judged), lists: ['diagnostics', 'guarantees'], entries: entriesOf(judged) };
  },
});

function summarized(judged: CheckJudgement) {
  const { loaded, diagnostics, claims, isGood } = judged;
  const { set } = loaded.compiled;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const warnings = diagnostics.length - errors;
  const of = (kind: ClauseResult['kind']): number => claims.filter((one) => one.kind === kind).length;
  const notes = checkNotes(judged);
  const counts = [
    many(errors, 'error'),
    many(warnings, 'warning'),
    ...(claims.length === 0 ? [] : [`${of('proved')} of ${many(claims.length, 'claim')} proved`]),
  ];
  const next = set === null || !isGood ? [] : claims.length === 0 ? [stateGuarantees] : ['Now `test`.'];
  return {
    lead: [verdictLine(judged), counts.join(', '), ...notes].join('\n'),
    data: {
      ok: isGood,
      path: loaded.path,
      digest: set === null ? null : digest(set),
      errors,
      warnings,
      refuted: of('refuted'),
      undecided: of('undecided'),
      notes,
    },
    next: loaded.read.sources.files.length === 0 ? [writeFirst] : next,
  };
}

const writeFirst = 'Write the first file, such as `policies/NAME.policy` (`reference` workflow).';
const stateGuarantees =
  'There is no guarantee: state with `guarantee` what must hold after every edit (`reference` language/guarantees).';

function entriesOf({ loaded: { read }, diagnostics, claims }: CheckJudgement): readonly Entry[] {
  const sorted = diagnostics.toSorted(
    (a, b) => Number(a.severity !== 'error') - Number(b.severity !== 'error'),
  );
  return [
    ...sorted.map((one): Entry => {
      const { file, start, ...json } = diagnosticToJson(one, read.sourceOf);
      const { code, severity, message, help, fix } = json;
      return {
        list: 'diagnostics',
        text: diagnosticText(one, read),
        data: {
          code,
          severity,
          message,
          help,
          file: file === '' ? '' : displayPath(read.root, file),
          line: start?.line ?? null,
          column: start?.column ?? null,
          fix: fix === null ? null : fix.title,
        },
      };
    }),
    ...claimEntries(claims, read),
  ];
}

/** An entry for each claim, the refuted ones first. */
export function claimEntries(claims: readonly ClauseResult[], sources: Sources): readonly Entry[] {
  const { shown, sourceOf } = shownSources(sources);
  const rank = ({ kind }: ClauseResult): number => ['refuted', 'undecided', 'proved'].indexOf(kind);
  return claims
    .toSorted((a, b) => rank(a) - rank(b))
    .map(({ claim, counterexample, ...one }) => {
      const rule = counterexample?.rule ?? null;
      const moved: ClauseResult = {
        ...one,
        claim: { ...claim, span: shown(claim.span) },
        counterexample: counterexample && { ...counterexample, rule: rule && shown(rule) },
      };
      const { file, start } = moved.claim.span;
      const { line } = position(sourceOf(file) ?? '', start);
      return {
        list: 'guarantees',
        text: renderClauses([moved], sourceOf).trimEnd(),
        data: { ...(plainJson(clauseToJson(moved, sourceOf)) as JsonObject), file, line },
      };
    });
}

/** A value as JSON: texts for big numbers, no undefined members. */
export function plainJson(value: unknown): Json {
  return JSON.parse(
    JSON.stringify(value, (_key, one: unknown) =>
      typeof one === 'bigint' ? String(one) : one instanceof Map ? Object.fromEntries(one) : one,
    ),
  );
}
