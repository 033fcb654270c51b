// Runs queries whose parameters have names, which PostgreSQL numbers.

import type { QueryRunner } from '../../queries/dialect.ts';
import type { Rows } from './read-pool.ts';

export function withNames(rows: Rows): QueryRunner['rows'] {
  return ({ text, parameters }) => {
    const { numbered, names } = numberedOf(text);
    return rows(
      numbered,
      names.map((name) => parameters[name]),
    );
  };
}

interface NumberedText {
  readonly numbered: string;
  /** The names of `$1`, `$2` and so on. */
  readonly names: readonly string[];
}

/** As many as there are reads, since their texts do not depend on parameters. */
const cache = new Map<string, NumberedText>();

function numberedOf(text: string): NumberedText {
  const cached = cache.get(text);
  if (cached !== undefined) return cached;
  const names = [...new Set(Array.from(text.matchAll(/@(\w+)/g), ([, name = '']) => name))];
  const numbered = text.replaceAll(/@(\w+)/g, (_, name: string) => `$${names.indexOf(name) + 1}`);
  cache.set(text, { numbered, names });
  return { numbered, names };
}
