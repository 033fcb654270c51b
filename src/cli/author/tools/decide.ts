// `decide`: the decision about one request, as `writ decide` shows it.

import { position } from '../../../language/diagnostic/render.ts';
import type { JsonObject } from '../../../language/model/json.ts';
import { explainGiven } from '../../support/explain-given.ts';
import {
  type ExplanationInput,
  explanationJson,
  renderChanges,
  renderDecision,
  renderNear,
  renderRules,
  renderUnknown,
} from '../../support/explain-text.ts';
import type { Answer } from '../tool/answer.ts';
import { type Sources, shownSources, workingInWorkspace } from '../tool/policies.ts';
import { givenOfFields, requestFields } from '../tool/request-fields.ts';
import { anyObject, count, listOf, optional, orNull, text } from '../tool/schema.ts';
import { defineTool, pathField } from '../tool/tool.ts';
import { plainJson } from './check.ts';

export const explanationFields = {
  decision: text('ALLOW, DENY, ESCALATE or REAUTH_REQUIRED'),
  by: text('the deciding rule, or the gate that refused'),
  file: orNull(text('the file of the deciding rule; null without one')),
  line: orNull(count('its line')),
  reason: text('the reason that the agent gets'),
  requires: anyObject('what people must do first: approvals, reauth; empty if nothing'),
  parts: listOf(text('a part of the text'), 'the parts of the text'),
  changes: listOf(anyObject('outcome, by, text'), 'the smallest changes that would change the decision'),
};

export const decide = defineTool({
  name: 'decide',
  title: 'Decide a request',
  description:
    'Decides one request as the service would, and shows the deciding rule, unknown facts, and the smallest changes that would change the decision. Nothing is recorded or counted. Facts that you leave out are unknown: guards then hold, and an `allow` that reads them does not grant.',
  input: { path: optional(pathField), ...requestFields },
  output: explanationFields,
  async run({ path, ...request }) {
    const working = await workingInWorkspace(path);
    const explained = explainGiven(givenOfFields(request), working);
    const { read } = working;
    const { by } = explained.decision;
    return explanationAnswer(explained, read, [
      renderRules(explained, { sourceOf: read.sourceOf, isWhole: false }),
      renderUnknown(explained),
      ...(by === 'default_deny' ? [renderNear(explained)] : []),
      renderChanges(explained),
    ]);
  },
});

/** The decision in a few lines, then the parts as entries. */
export function explanationAnswer(
  explained: ExplanationInput,
  read: Sources,
  parts: readonly string[],
): Answer {
  const { outcome, by, reason, requires } = explained.decision;
  const { changes } = plainJson(explanationJson(explained, () => null)) as {
    readonly changes: readonly JsonObject[];
  };
  const place = locationOfRule(explained, read);
  const shown = parts.map((part) => part.replace(/^\n+/, '').trimEnd()).filter((part) => part !== '');
  return {
    lead: `${renderDecision(explained).trimEnd()}${place === null ? '' : `\n  ${place.file}:${place.line}`}`,
    data: {
      decision: outcome,
      by,
      file: place?.file ?? null,
      line: place?.line ?? null,
      reason,
      requires: requires === null ? {} : plainJson(requires),
      changes: changes.slice(0, 10).map(({ outcome, by, text }) => ({ outcome, by, text })),
    } as JsonObject,
    lists: ['parts'],
    entries: shown.map((part) => ({ list: 'parts', text: part, data: part })),
  };
}

function locationOfRule(
  { set, decision }: ExplanationInput,
  read: Sources,
): { readonly file: string; readonly line: number } | null {
  const rule = set.policies.flatMap(({ rules }) => rules).find(({ id }) => id === decision.by);
  if (rule === undefined) return null;
  const { shown, sourceOf } = shownSources(read);
  const { file, start } = shown(rule.span);
  return { file, line: position(sourceOf(file) ?? '', start).line };
}
