// `explain`: every rule that a decision rests on, for a request that the model gives or an export records.

import { displayPath } from '../../../analysis/findings/display-path.ts';
import { UsageError } from '../../output/output.ts';
import { explainGiven } from '../../support/explain-given.ts';
import {
  renderChanges,
  renderNear,
  renderRisk,
  renderSource,
  renderUnknown,
  ruleBlocks,
} from '../../support/explain-text.ts';
import type { GivenFacts } from '../../support/read-facts.ts';
import { workingInWorkspace } from '../tool/policies.ts';
import { recordedFields, recordedGiven } from '../tool/recorded-request.ts';
import { givenOf } from '../tool/request-fields.ts';
import { anyObject, type FieldsOf, optional } from '../tool/schema.ts';
import { defineTool, pathField } from '../tool/tool.ts';
import { explanationAnswer, explanationFields } from './decide.ts';

const input = {
  path: optional(pathField),
  request: optional(anyObject('a request: action, payload, agent and so on, as `decide` takes them')),
  ...recordedFields,
};

export const explain = defineTool({
  name: 'explain',
  title: 'Explain a decision',
  description:
    'Explains the decision about a request: every rule of its action with the truth and value of each part of its condition, the text of the deciding rule, unknown facts, rules that came close, and what would change the decision. Give a `request`, or a recorded one by `export` and `id`.',
  input,
  output: explanationFields,
  async run({ path, ...named }) {
    const given = await givenOfCall(named);
    const working = await workingInWorkspace(path);
    const explained = explainGiven(given, working);
    const { read } = working;
    const { sourceOf } = read;
    return explanationAnswer(explained, read, [
      renderSource(explained, sourceOf, (file) => displayPath(read.root, file)),
      renderUnknown(explained),
      renderChanges(explained),
      renderNear(explained),
      renderRisk(explained),
      ...ruleBlocks(explained, { sourceOf, isWhole: true }),
    ]);
  },
});

async function givenOfCall({
  request,
  export: file,
  id,
}: Omit<FieldsOf<typeof input>, 'path'>): Promise<GivenFacts> {
  if (request !== undefined && file === undefined && id === undefined) return givenOf(request);
  if (request !== undefined || file === undefined || id === undefined)
    throw new UsageError('give a `request`, or `export` and `id`');
  return await recordedGiven(file, id);
}
