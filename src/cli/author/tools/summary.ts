// `summary`: the policies in proved sentences, as `writ summary` writes them.

import type { Span } from '../../../language/diagnostic/span.ts';
import { type Summary, summaryOf } from '../../../reasoning/summary/summary.ts';
import { many } from '../../output/many.ts';
import { actionToText, isConfirmed, summaryToJson } from '../../support/summary-text.ts';
import type { Entry } from '../tool/answer.ts';
import { type Sources, shownSources, workingInWorkspace } from '../tool/policies.ts';
import { anyObject, count, flag, listOf, optional } from '../tool/schema.ts';
import { defineTool, pathField } from '../tool/tool.ts';
import { plainJson } from './check.ts';

export const summary = defineTool({
  name: 'summary',
  title: 'Describe policies in sentences',
  description:
    'Describes what agents may do in plain sentences, each proved of the set and with the line that it comes from. Compare it with the requirements, and show it to people who read no policies.',
  input: { path: optional(pathField) },
  output: {
    confirmed: flag('whether every sentence is proved'),
    action_count: count('number of actions'),
    actions: listOf(anyObject('actions, title, sentences'), 'sentences by action'),
    words: listOf(anyObject('name, text, file, line'), 'the words that the sentences use'),
  },
  async run({ path }) {
    const { set, compiled, read } = await workingInWorkspace(path);
    const described = summaryOf({ set, files: compiled.files, sourceOf: read.sourceOf });
    return {
      lead: `${many(set.actions.size, 'action')}. ${isConfirmed(described) ? 'Every sentence is proved.' : 'Sentences with `?` are not proved.'} Unknown facts never let a request pass.`,
      data: { confirmed: isConfirmed(described), action_count: set.actions.size },
      lists: ['actions', 'words'],
      entries: entriesOf(described, read),
    };
  },
});

/** An entry for each block of actions, then one for each word. */
function entriesOf({ actions, words }: Summary, read: Sources): readonly Entry[] {
  const { shown, sourceOf } = shownSources(read);
  const moved = <T extends { readonly span: Span }>(one: T): T => ({ ...one, span: shown(one.span) });
  return [
    ...actions.map((block): Entry => {
      const only = { actions: [{ ...block, sentences: block.sentences.map(moved) }], words: [] };
      const [data] = summaryToJson(only, sourceOf).actions;
      return {
        list: 'actions',
        text: only.actions
          .map((one) => actionToText(one, sourceOf))
          .join('')
          .trimEnd(),
        data: plainJson(data),
      };
    }),
    ...words.map((word): Entry => {
      const [data] = summaryToJson({ actions: [], words: [moved(word)] }, sourceOf).words;
      return {
        list: 'words',
        text: `${word.name.replaceAll('_', ' ')}: ${word.text}`,
        data: plainJson(data),
      };
    }),
  ];
}
