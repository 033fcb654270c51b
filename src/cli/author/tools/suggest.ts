// `suggest`: the smallest changes after which a request that is refused or pending is allowed, or after which a
// failing test case passes, as `writ suggest` finds them.

import { displayPath } from '../../../analysis/findings/display-path.ts';
import { createSuggester, type Suggester, type Suggestions } from '../../../analysis/suggest/suggest.ts';
import {
  type ReportedSuggestion,
  type SuggestionReport,
  suggestionReport,
} from '../../../analysis/suggest/suggestion-report.ts';
import { suggestForCase } from '../../../analysis/suggest/test-cases.ts';
import { hasErrors, sortDiagnostics } from '../../../language/diagnostic/diagnostic.ts';
import type { JsonObject } from '../../../language/model/json.ts';
import { compile } from '../../../pipeline.ts';
import { readSources } from '../../../service/policies/bundles/read-sources.ts';
import { type ReadSources, readPaths } from '../../../service/policies/read-policies.ts';
import { UsageError } from '../../output/output.ts';
import { readCases } from '../../support/read-cases.ts';
import { type GivenFacts, readFacts } from '../../support/read-facts.ts';
import { suggestionHead, suggestionTexts } from '../../support/suggestion-text.ts';
import type { Answer } from '../tool/answer.ts';
import { caseField, findCase } from '../tool/find-case.ts';
import { policyErrors } from '../tool/policies.ts';
import { recordedFields, recordedGiven } from '../tool/recorded-request.ts';
import { givenOf, requestFields } from '../tool/request-fields.ts';
import { anyObject, type FieldsOf, listOf, optional, orNull, text } from '../tool/schema.ts';
import { defineTool, pathField } from '../tool/tool.ts';
import { policiesInWorkspace } from '../tool/workspace.ts';
import { plainJson } from './check.ts';

const requestInput = {
  ...requestFields,
  action: optional(requestFields.action),
  ...recordedFields,
};

export const suggest = defineTool({
  name: 'suggest',
  title: 'Suggest a change that lets a request pass',
  description:
    'Finds up to three small changes of the policies that let a refused or pending request pass, the one that allows least else first. Each is a patch, with the proved list of everything else that it changes; no guarantee is touched. Name the request by `action` and `payload` as in `decide`, by `export` and `id`, or by `case`, a failing test case. Apply a change only if the requirements ask for it.',
  input: { path: optional(pathField), case: optional(caseField), ...requestInput },
  output: {
    decision: text('ALLOW, DENY, ESCALATE or REAUTH_REQUIRED'),
    by: text('the deciding rule, or the gate that refused'),
    reason: text('the reason that the agent gets'),
    goal: orNull(
      text('ALLOW, or ESCALATE where people may at most approve it; null where guarantees forbid both'),
    ),
    forbidden_by: listOf(anyObject('guarantee, text'), 'guarantees that forbid to allow the request at once'),
    suggestions: listOf(
      anyObject('kind, text, patch, decision, by, milder, findings, sentences, broken_tests'),
      'the one that allows least else first',
    ),
  },
  async run({ path, case: name, ...given }) {
    const found =
      name === undefined ? await forRequest(path, given) : await forCase(path, { name, ...given });
    return answerOf(suggestionReport(found.suggestions, { base: found.suggester.base, ...found }));
  },
});

type RequestInput = FieldsOf<typeof requestInput>;

interface Found extends Omit<Parameters<typeof suggestionReport>[1], 'base'> {
  readonly suggester: Suggester;
  readonly suggestions: Suggestions;
}

/** Each comparison takes proofs, and an author soon asks again. */
const options = { verifiedMax: 5 };

async function forRequest(path: string | undefined, input: RequestInput): Promise<Found> {
  const given = await givenOfCall(input);
  const place = policiesInWorkspace(path);
  const read = await readSources(place);
  const suggester = suggesterOf(read);
  const suggestions = suggester.suggest(readFacts(given, suggester.base.set), options);
  return { suggester, suggestions, shown: shownIn(read), tests: await readCases([place]) };
}

async function givenOfCall({ export: file, id, ...request }: RequestInput): Promise<GivenFacts> {
  const isRecorded = file !== undefined && id !== undefined;
  if (isRecorded && Object.keys(request).length === 0) return await recordedGiven(file, id);
  if (request.action !== undefined && file === undefined && id === undefined) return givenOf({ ...request });
  throw new UsageError('name one request: by `action` and its facts, by `export` and `id`, or by `case`');
}

async function forCase(
  path: string | undefined,
  { name, ...more }: RequestInput & { readonly name: string },
): Promise<Found> {
  const [other] = Object.keys(more);
  if (other !== undefined) throw new UsageError(`\`case\` names the whole request: leave out \`${other}\``);
  const { file, one } = await findCase(path, name);
  const read = await readPaths(file.policies);
  const suggester = suggesterOf(read);
  const suggestions = suggestForCase(suggester, one, options);
  if (typeof suggestions === 'string') throw new UsageError(`\`${one.name}\`: ${suggestions}`);
  return {
    suggester,
    suggestions,
    shown: shownIn(read),
    tests: await readCases([...file.policies, file.path]),
  };
}

function suggesterOf(read: ReadSources): Suggester {
  const suggester = hasErrors(read.diagnostics) ? null : createSuggester(read.sources);
  if (suggester !== null) return suggester;
  throw policyErrors(sortDiagnostics([...read.diagnostics, ...compile(read.sources).diagnostics]), read);
}

function shownIn({ root }: ReadSources): (path: string) => string {
  return (path) => displayPath(root, path);
}

function answerOf(report: SuggestionReport): Answer {
  const { decision, goal, forbidden_by: forbidding, suggestions } = report;
  const texts = suggestionTexts(report);
  return {
    lead: suggestionHead(report),
    data: {
      decision: decision.decision,
      by: decision.by,
      reason: decision.reason,
      goal,
      forbidden_by: forbidding.slice(0, 10).map(({ guarantee, text }) => ({ guarantee, text })),
    },
    lists: ['suggestions'],
    entries: suggestions.map((one, at) => ({
      list: 'suggestions',
      text: texts[at] ?? '',
      data: suggestionData(one),
    })),
    next: suggestions.length === 0 ? [] : [applyWithCare],
  };
}

const applyWithCare =
  'Each change lets more pass. Apply one only if the requirements ask for it; then `check`, `test` and `diff`.';

const shownFindings = 10;

function suggestionData({
  kind,
  text,
  patch,
  decision,
  milder,
  diff,
  sentences,
  broken_tests: broken,
}: ReportedSuggestion): JsonObject {
  const findings = diff.findings.slice(0, shownFindings).map(({ direction, from, to, actions, when }) => {
    return { direction, from, to, actions, when };
  });
  const { decision: outcome, by } = decision;
  return plainJson({
    kind,
    text,
    patch,
    decision: outcome,
    by,
    milder,
    findings,
    sentences,
    broken_tests: broken,
  }) as JsonObject;
}
