// GET /v1/policies/summary: what the active policies do in plain sentences, the same as `writ summary`
// prints, page by page.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { checkSources } from '../../../src/pipeline.ts';
import { summaryOf } from '../../../src/reasoning/summary/summary.ts';
import { type Client, firstAdmin, tokenClient } from './person-client.ts';
import { shareService } from './service.ts';

const text = readFileSync(
  join(import.meta.dirname, '../../../examples/packs/support/support.policy'),
  'utf8',
);
const shared = shareService({ startsWith: text });
let client: Client;
beforeAll(async () => {
  client = await tokenClient(shared(), await firstAdmin(shared()));
});

interface Part {
  readonly actions: readonly {
    actions: string[];
    sentences: { text: string; line: number; unproved_reason: string | null }[];
  }[];
  readonly next_cursor: string | null;
}

async function allParts(): Promise<readonly Part['actions'][number][]> {
  const found: Part['actions'][number][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `?cursor=${cursor}`;
    const { body } = (await client.send(`/v1/policies/summary${query}`)) as { readonly body: Part };
    found.push(...body.actions);
    cursor = body.next_cursor;
  }
  return found;
}

test('returns for each action what `writ summary` prints, with the line of each sentence', async () => {
  const sources = {
    files: [{ path: 'demo.policy', text }],
    readListFile: (path: string) =>
      path === 'owners.yaml'
        ? ({ code: 'list-file-missing', message: 'there is none' } as const)
        : { text: '' },
  };
  const { set, files } = checkSources(sources);
  const { actions } = summaryOf({ set: set!, files, sourceOf: () => text });
  const expected = actions.flatMap((one) =>
    one.actions.map((key) => [key, one.sentences.map((sentence) => sentence.text)] as const),
  );
  const told = await allParts();
  const said = told.flatMap((one) =>
    one.actions.map((key) => [key, one.sentences.map((sentence) => sentence.text)]),
  );
  expect(Object.fromEntries(said)).toEqual(Object.fromEntries(expected));
  const lines = text.split('\n');
  const refusal = told.flatMap(({ sentences }) => sentences).find((one) => one.text.startsWith('Is refused'));
  expect(lines[(refusal?.line ?? 0) - 1]).toMatch(/^ *deny /);
});

test('an unknown cursor, and a person without the permission, get nothing', async () => {
  expect((await client.send('/v1/policies/summary?cursor=x')).status).toBe(400);
  const stranger = await fetch(`${shared().url}/v1/policies/summary`);
  expect(stranger.status).toBe(401);
});
