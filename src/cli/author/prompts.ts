// The prompts that a person picks in a client: each is a task for the model, with the values that the person
// gives.

import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import type { JsonObject } from '../../language/model/json.ts';
import { skillBody } from './docs/topics.ts';

interface Prompt {
  readonly title: string;
  readonly description: string;
  readonly fields: Readonly<Record<string, { readonly description: string; readonly required: boolean }>>;
  readonly text: (values: Readonly<Record<string, string>>) => string;
}

const prompts: Readonly<Record<string, Prompt>> = {
  'policy-from-requirements': {
    title: 'Policy from requirements',
    description: 'Write, test and prove a policy that does what a text requires',
    fields: {
      requirements: { description: 'what agents may do, must ask for, and must never do', required: true },
      directory: { description: 'the directory of the policies (default: policies)', required: false },
    },
    text: ({ requirements = '', directory = 'policies' }) =>
      `Write policies in \`${directory}\` for these requirements:\n\n${requirements}\n\nWork in these steps.\n\n${skillBody()}`,
  },
  'narrow-this-policy': {
    title: 'Narrow this policy',
    description: 'Let less pass without refusing what is needed',
    fields: {
      concern: { description: 'what should no longer pass, or an action to narrow', required: true },
      directory: { description: 'the directory of the policies (default: policies)', required: false },
    },
    text: ({ concern = '', directory = 'policies' }) =>
      `Narrow the policies in \`${directory}\`: ${concern}

1. \`summary\` shows what is allowed now. Find the \`allow\` rules that are wider than needed.
2. Narrow a condition of an \`allow\`, or add a \`deny\` or \`escalate\` for the rest. Loosen nothing.
3. State what must hold as a \`guarantee\`, and add test cases on both sides of each new limit.
4. \`check\` with \`strict\`, \`test\`, and \`prove\`, until all are green.
5. \`diff\` has to show 0 loosened. If there is an export of past requests, \`replay\` shows whom the change affects.
6. Report the findings of \`diff\`, and each request of the replay that is now refused.`,
  },
  'explain-this-decision': {
    title: 'Explain this decision',
    description: 'Say why a request got its decision, and what would change it',
    fields: {
      request: { description: 'the request as JSON: action, payload, agent and so on', required: true },
    },
    text: ({ request = '' }) =>
      `Explain the decision about this request to somebody who reads no policies:

${request}

Call \`explain\` with it. Name the deciding rule and where it stands, the values that it read, facts that were unknown, and the smallest
change that would change the decision. Do not suggest to loosen a rule unless somebody asks for it.`,
  },
};

export const promptList: readonly JsonObject[] = Object.entries(prompts).map(
  ([name, { title, description, fields }]) => ({
    name,
    title,
    description,
    arguments: Object.entries(fields).map(([field, one]) => ({ name: field, ...one })),
  }),
);

export type ReadPrompt = { readonly prompt: JsonObject } | { readonly fault: string };

/** The messages of a prompt, or what is wrong with the request for it. */
export function readPrompt(name: unknown, given: JsonObject): ReadPrompt {
  const prompt = typeof name === 'string' && Object.hasOwn(prompts, name) ? prompts[name] : undefined;
  if (prompt === undefined)
    return { fault: `there is no prompt ${escapeForTerminal(JSON.stringify(name ?? null))}` };
  const { description, fields, text } = prompt;
  const values = Object.entries(given);
  const stranger = values.find(([field]) => !Object.hasOwn(fields, field));
  if (stranger !== undefined) return { fault: `the prompt takes ${Object.keys(fields).join(', ')}` };
  const missing = Object.keys(fields).find(
    (field) => fields[field]?.required === true && !Object.hasOwn(given, field),
  );
  if (missing !== undefined) return { fault: `\`${missing}\` is missing` };
  if (values.some(([, value]) => typeof value !== 'string'))
    return { fault: 'each value of a prompt is text' };
  const content = { type: 'text', text: text(given as Readonly<Record<string, string>>) };
  return { prompt: { description, messages: [{ role: 'user', content }] } };
}
