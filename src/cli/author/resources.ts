// The topics as resources of the Model Context Protocol, which people attach to a conversation by hand.

import type { JsonObject } from '../../language/model/json.ts';
import { allTopics, type Topic } from './docs/topics.ts';

const scheme = 'writ://';

/** How many resources one reply lists. */
const pageLength = 100;

/** A page of the list; null for a cursor that this server has not given. */
export function listResources(cursor: string | undefined): JsonObject | null {
  const topics = [...allTopics().values()];
  const start = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isInteger(start) || start < 0 || start >= topics.length) return null;
  const end = start + pageLength;
  return {
    resources: topics.slice(start, end).map(resourceOf),
    ...(end < topics.length ? { nextCursor: String(end) } : {}),
  };
}

function resourceOf({ name, title, mimeType }: Topic): JsonObject {
  return { uri: `${scheme}${name}`, name, title, mimeType };
}

export const resourceTemplates: readonly JsonObject[] = [
  {
    uriTemplate: `${scheme}diagnostics/{code}`,
    name: 'diagnostic',
    title: 'What a diagnostic means, and what to write instead',
    mimeType: 'text/markdown',
  },
  {
    uriTemplate: `${scheme}language/{section}`,
    name: 'language',
    title: 'A section of the language reference',
    mimeType: 'text/markdown',
  },
];

/** The contents of a resource; null when there is none at the address. */
export function readResource(uri: string): JsonObject | null {
  const topic = uri.startsWith(scheme) ? allTopics().get(uri.slice(scheme.length)) : undefined;
  return topic === undefined ? null : { contents: [{ uri, mimeType: topic.mimeType, text: topic.text() }] };
}
