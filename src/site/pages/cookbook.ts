// Links from the recipes of the cookbook to the playground, which opens with the policy and the request of the
// recipe: they are in the fragment of the address, which no browser sends to a server.

import { parse } from 'yaml';
import { documentationPath } from '../address.ts';
import { escapeHtml } from './markdown.ts';

/** A wish of the cookbook with its answer. */
export interface Recipe {
  readonly title: string;
  readonly policy: string;
  /** The cases in the format of test files. */
  readonly cases: string;
}

/** Reads the recipes: a heading, a block of policy, and a block of test cases. */
export function recipesOf(source: string): readonly Recipe[] {
  return source
    .split(/^### /m)
    .slice(1)
    .map((part) => ({
      title: part.slice(0, part.indexOf('\n')),
      policy: /^```writ\n([\s\S]*?)^```/m.exec(part)?.[1] ?? '',
      cases: /^```yaml\n([\s\S]*?)^```/m.exec(part)?.[1] ?? '',
    }));
}

/** What the playground starts with, as its address carries it. */
export interface PlaygroundStart {
  readonly policy: string;
  readonly request: unknown;
}

function playgroundAddress(start: PlaygroundStart): string {
  return `${documentationPath}/playground#${encodeURIComponent(JSON.stringify(start))}`;
}

interface RecipeTest {
  readonly action: string;
  readonly payload: unknown;
  readonly agent?: unknown;
  readonly request?: Readonly<Record<'user' | 'point' | 'session', unknown>>;
  readonly now?: string;
  readonly meters?: unknown;
}

/** The request of a recipe's first test, as the playground takes it. */
function firstRequest({ cases }: Recipe): unknown {
  const { tests } = parse(cases) as { readonly tests: readonly [RecipeTest] };
  const [{ action, payload, agent, request, now, meters }] = tests;
  const situation = { ...request, agent, at: now, meters };
  const given = Object.entries(situation).filter(([, value]) => value !== undefined);
  return { action_key: action, payload, ...Object.fromEntries(given) };
}

/** The recipe with the request of its first test. */
export function startOf(recipe: Recipe): PlaygroundStart {
  return { policy: recipe.policy, request: firstRequest(recipe) };
}

/** Adds a link below the policy of each recipe. */
export function playgroundLinks(html: string, source: string): string {
  const recipes = recipesOf(source)[Symbol.iterator]();
  return html.replace(
    /<div class="code"><pre [^>]*aria-label="Policy">[\s\S]*?<\/pre><\/div>\n/g,
    (block) => {
      const { value: recipe } = recipes.next();
      if (recipe === undefined) return block;
      const address = playgroundAddress(startOf(recipe));
      const label = `Open in the playground: ${escapeHtml(recipe.title)}`;
      return `${block}<p class="to-playground"><a href="${escapeHtml(address)}" aria-label="${label}">Open in the playground</a></p>\n`;
    },
  );
}
