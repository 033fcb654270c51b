// What an author can look up: the sections of the language reference, of the cookbook and of the format of
// tests, a page for each diagnostic, the shipped packs, and the steps of writing a policy. INVARIANT: a topic
// is found by its name alone, and only files of the package are read.

import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codes } from '../../../language/diagnostic/codes.ts';
import { nearestOf } from '../../../language/diagnostic/suggest.ts';
import { diagnosticPage } from '../../../service/policies/diagnostic-page.ts';

export interface Topic {
  /** Such as `language/rules`; also the path of the resource `writ://language/rules`. */
  readonly name: string;
  readonly title: string;
  readonly mimeType: 'text/markdown' | 'text/plain';
  readonly text: () => string;
}

const root = new URL('../../../../', import.meta.url);

/** The areas, in the order in which an author needs them. */
export const areas = {
  workflow: 'the steps from a requirement to a checked policy',
  language: 'the language reference by section',
  tests: 'the format of test files by section',
  cookbook: 'policies for common wishes, each with its tests',
  diagnostics: 'a page for each error and warning',
  packs: 'the files of the shipped policy packs',
} as const;

let known: ReadonlyMap<string, Topic> | null = null;

/** All topics by name. */
export function allTopics(): ReadonlyMap<string, Topic> {
  known ??= new Map(
    [
      workflow(),
      ...sections('language', 'docs/LANGUAGE.md'),
      grammar(),
      ...sections('tests', 'docs/cli/tests.md'),
      ...sections('cookbook', 'docs/COOKBOOK.md'),
      ...diagnosticPages(),
      ...packFiles(),
    ].map((topic) => [topic.name, topic]),
  );
  return known;
}

/** Words that an author looks up, and the section that has them. */
const sectionsOfWords: Readonly<Record<string, string>> = {
  allow: 'rules',
  deny: 'rules',
  escalate: 'rules',
  reauth: 'rules',
  'sign-in': 'rules',
  'step-up': 'rules',
  because: 'rules',
  shadow: 'rules',
  approval: 'rules',
  never: 'guarantees',
  always: 'guarantees',
  claim: 'guarantees',
  claims: 'guarantees',
  currency: 'money',
};

export type FoundTopic =
  | { readonly topic: Topic }
  /** The names that come near. */
  | { readonly topic: null; readonly near: readonly string[] };

/**
 * A topic by its name, or by the last part of its name if only one has it, or only one of the language; or the section
 * that explains the word.
 */
export function findTopic(name: string): FoundTopic {
  const wanted = name
    .trim()
    .toLowerCase()
    .replace(/^writ:\/\//, '')
    .replace(/\/$/, '');
  const topics = allTopics();
  const exact = topics.get(wanted);
  if (exact !== undefined) return { topic: exact };
  const end = basename(wanted);
  const slug = slugOf(end);
  const withEnd = (one: string) => [...topics.values()].filter(({ name }) => basename(name) === one);
  const named = withEnd(end).length > 0 ? withEnd(end) : withEnd(slug);
  // `money` is the section of the language rather than that of the cookbook.
  const own = named.length === 1 ? named : named.filter((one) => one.name.startsWith('language/'));
  if (own.length === 1) return { topic: own[0]! };
  const containing = [...topics.values()].filter(
    (one) => slug !== '' && (one.name.includes(slug) || slugOf(one.title).includes(slug)),
  );
  const near = nearestOf(slug, new Set([...topics.keys()].map((one) => basename(one))));
  const section = Object.hasOwn(sectionsOfWords, slug) ? sectionsOfWords[slug] : undefined;
  if (named.length === 0 && section !== undefined) return { topic: topics.get(`language/${section}`)! };
  const found = [...named, ...containing, ...(near === null ? [] : withEnd(near))].map((one) => one.name);
  return { topic: null, near: [...new Set(found)] };
}

function workflow(): Topic {
  return {
    name: 'workflow',
    title: 'Writing a policy, step by step',
    mimeType: 'text/markdown',
    text: () => skillBody(),
  };
}

/** The skill without its front matter. */
export function skillBody(): string {
  return fileOf('integrations/skills/writ/SKILL.md').replace(/^---\n.*?\n---\n+/s, '');
}

function grammar(): Topic {
  return {
    name: 'language/ebnf',
    title: 'The grammar (EBNF)',
    mimeType: 'text/plain',
    text: () => fileOf('grammar/generated/grammar.ebnf'),
  };
}

/** A topic for each heading of a page, without the sections below it, which are named at its end. */
function sections(area: 'language' | 'tests' | 'cookbook', path: string): readonly Topic[] {
  const parts = fileOf(path).split(/^(?=#{1,4} )/m);
  const headed = parts.map((part) => {
    const [, marks = '', title = ''] = /^(#+) (.*)$/m.exec(part) ?? [];
    const slug = marks.length === 1 ? 'overview' : slugOf(title);
    return { part, title, name: `${area}/${slug}`, depth: marks.length };
  });
  return headed.map(({ part, title, name, depth }, at) => {
    const rest = headed.slice(at + 1);
    const end = depth === 1 ? rest.length : rest.findIndex((one) => one.depth <= depth);
    const below = (end === -1 ? rest : rest.slice(0, end)).filter((one) => one.depth === depth + 1);
    const more = below.length === 0 ? '' : `\n\nTopics below: ${below.map((one) => one.name).join(', ')}`;
    return { name, title, mimeType: 'text/markdown', text: () => `${withoutLinks(part).trimEnd()}${more}\n` };
  });
}

function diagnosticPages(): readonly Topic[] {
  const pages = Object.entries(codes).map(
    ([code, summary]): Topic => ({
      name: `diagnostics/${code}`,
      title: summary,
      mimeType: 'text/markdown',
      text: () => diagnosticPage(code) ?? `${code}: ${summary}\n`,
    }),
  );
  const silences: Topic = {
    name: 'diagnostics/silences',
    title: 'how to silence a warning at one place, with a reason',
    mimeType: 'text/markdown',
    text: () => withoutLinks(fileOf('docs/diagnostics/silences.md')),
  };
  return [...pages, silences];
}

const packEndings = /\.(policy|test\.yaml|md|txt)$/;

function packFiles(): readonly Topic[] {
  return ['policies', 'examples/packs'].flatMap((folder) => {
    const path = fileURLToPath(new URL(folder, root));
    return readdirSync(path, { recursive: true, encoding: 'utf8' })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => file.includes('/') && packEndings.test(file))
      .toSorted()
      .map((file): Topic => {
        const text = (): string => fileOf(`${folder}/${file}`);
        const mimeType = file.endsWith('.md') ? 'text/markdown' : 'text/plain';
        return { name: `packs/${file}`.toLowerCase(), title: titleOf(file, text()), mimeType, text };
      });
  });
}

/** What a file says about itself in its heading or its first comment; otherwise its name. */
function titleOf(file: string, text: string): string {
  return /^#+ (.*)/.exec(text)?.[1] ?? basename(file);
}

function fileOf(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

/** Links to pages of diagnostics become the names of their topics. Of other links into the documentation the text stays. */
function withoutLinks(markdown: string): string {
  return markdown
    .replace(/\[([^\]]*)\]\(diagnostics\/([a-z-]+)\.md\)/g, '$1 (`reference` diagnostics/$2)')
    .replace(/\[([^\]]*)\]\((?!https?:)[^)]*\)/g, '$1');
}

function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}
