// `reference`: the documentation by topic, so that a model needs no page of the web.

import { UsageError } from '../../output/output.ts';
import { allTopics, areas, findTopic, type Topic } from '../docs/topics.ts';
import type { Answer } from '../tool/answer.ts';
import { listOf, optional, text } from '../tool/schema.ts';
import { defineTool } from '../tool/tool.ts';

export const reference = defineTool({
  name: 'reference',
  title: 'Look up the language',
  description:
    'The documentation of the policy language. Begin with the topic `workflow`, then `language/overview`. Without a topic it lists all topics; an area such as `cookbook` or `diagnostics` lists its own. The code of a diagnostic is a topic, too.',
  input: {
    topic: optional(
      text(
        'such as workflow, language/rules, tests/the-format-of-tests, diagnostics/always-true, packs/coding/coding.policy',
      ),
    ),
  },
  output: {
    topic: text('the name of the topic; empty for the list'),
    title: text('its title'),
    paragraphs: listOf(text('Markdown'), 'the text of the topic'),
    topics: listOf(text('a name'), 'names of topics'),
  },
  run: ({ topic = '' }) => (topic === '' || topic in areas ? listed(topic) : shown(topic)),
});

const lists = ['paragraphs', 'topics'];

function listed(area: string): Answer {
  const topics = [...allTopics().values()];
  const own = topics.filter(({ name }) => name === area || name.startsWith(`${area}/`));
  // The step-by-step guide is an area of one topic.
  if (own.length === 1) return textOf(own[0]!);
  const about = Object.entries(areas).map(([name, what]) => `${name}: ${what}`);
  // Diagnostics have more topics than all other areas together; a model looks them up by their codes.
  const rest = topics.filter(({ name }) => !/^(diagnostics|packs)\//.test(name));
  return {
    lead:
      area === ''
        ? `Areas:\n${about.join('\n')}\n\nTopics (\`reference\` with \`diagnostics\` or \`packs\` lists those):`
        : `Topics of ${area}:`,
    data: { topic: '', title: area },
    lists,
    entries: (area === '' ? rest : own).map(({ name, title }) => ({
      list: 'topics',
      text: `${name}: ${title}`,
      data: name,
    })),
  };
}

function shown(name: string): Answer {
  const found = findTopic(name);
  if (found.topic !== null) return textOf(found.topic);
  const { near } = found;
  const help =
    near.length === 0
      ? 'call `reference` without a topic for the list'
      : `topics that come near: ${near.slice(0, 30).join(', ')}`;
  throw new UsageError(`there is no topic \`${name}\`: ${help}`);
}

function textOf(topic: Topic): Answer {
  return {
    lead: `Topic ${topic.name}`,
    data: { topic: topic.name, title: topic.title },
    lists,
    entries: paragraphsOf(topic.text()).map((part) => ({ list: 'paragraphs', text: part, data: part })),
  };
}

/** Paragraphs and whole code blocks. */
function paragraphsOf(whole: string): readonly string[] {
  const parts: string[] = [];
  let isInCode = false;
  for (const part of whole.trim().split(/\n{2,}/)) {
    if (isInCode) parts.push(`${parts.pop()}\n\n${part}`);
    else parts.push(part);
    const fences = part.split('\n').filter((line) => /^(```|~~~)/.test(line)).length;
    if (fences % 2 === 1) isInCode = !isInCode;
  }
  return parts;
}
