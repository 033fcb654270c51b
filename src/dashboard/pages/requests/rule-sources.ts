// The texts of some policies' rules, by rule id, from the files of the active policies.

import { useEffect, useState } from 'preact/hooks';
import { useChanges } from '../../api/change-feed.ts';
import { call } from '../../api/client.ts';
import type { RuleSource } from '../../parts/policy/condition-tree.tsx';

const none: ReadonlyMap<string, RuleSource> = new Map();
/** A page shows rules of few files, so a whole set is never loaded. */
const filesMax = 10;

/** Empty until the texts arrive, and when none are wanted or available. */
export function useRuleSources(policies: readonly string[]): ReadonlyMap<string, RuleSource> {
  const [sources, setSources] = useState(none);
  const [turn, setTurn] = useState(0);
  useChanges(['policies'], () => setTurn(turn + 1));
  const wanted = JSON.stringify([...new Set(policies)]);
  useEffect(() => {
    const names: readonly string[] = JSON.parse(wanted);
    if (names.length === 0) return setSources(none);
    const controller = new AbortController();
    readSources(names, controller.signal).then(setSources, () => setSources(none));
    return () => controller.abort();
  }, [wanted, turn]);
  return sources;
}

async function readSources(
  names: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, RuleSource>> {
  const { items } = await call('getPolicies', { query: { limit: '200' }, signal });
  const paths = new Set(items.flatMap(({ name, file }) => (names.includes(name) ? [file] : [])));
  const files = await Promise.all(
    [...paths].slice(0, filesMax).map((path) => call('getPolicyFile', { query: { path }, signal })),
  );
  return new Map(files.flatMap(sourcesOf));
}

interface PolicyFile {
  readonly path: string;
  readonly text: string;
  readonly policies: readonly {
    readonly rules: readonly { readonly id: string; readonly line: number; readonly end_line: number }[];
  }[];
}

function sourcesOf({ path, text, policies }: PolicyFile): readonly (readonly [string, RuleSource])[] {
  const lines = text.split(/\r?\n/);
  return policies.flatMap(({ rules }) =>
    rules.map(({ id, line, end_line }) => {
      const own = lines.slice(line - 1, end_line).join('\n');
      return [id, { file: path, line, text: own.trim() }] as const;
    }),
  );
}
