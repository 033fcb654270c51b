// Turns a directory, a file or texts into policies that decide inside a program, without a service. Nothing
// is recorded and no meter is kept; facts that the program leaves out are unknown. INVARIANT: policies with
// an error never decide; after a change with an error, the last good policies go on.

import { hasErrors } from '../language/diagnostic/diagnostic.ts';
import { renderDiagnostics } from '../language/diagnostic/render.ts';
import type { SourceText } from '../language/diagnostic/span.ts';
import type { LinkedFunctions } from '../language/emit/link.ts';
import { platformRun } from '../language/emit/run.ts';
import { compile, createCompileCache, findErrors } from '../pipeline.ts';
import { readSources } from '../service/policies/bundles/read-sources.ts';
import type { ReadSources } from '../service/policies/read-policies.ts';
import { watch } from '../service/policies/watch.ts';
import { type EmbeddedPolicies, embeddedPolicies } from './ask.ts';

/** A path to a directory or a file, or the texts themselves. */
export type PolicySource = string | readonly SourceText[];

/** The callbacks of `follow`. */
export interface PolicyListener {
  readonly onChange?: () => void;
  /** Called when a change cannot be used; the last good policies go on. */
  readonly onRefused?: (error: Error) => void;
}

export interface Policies extends EmbeddedPolicies {
  /**
   * Reads the place again. Throws a PolicyError when the policies there cannot be used; then nothing changes.
   */
  reload(): Promise<void>;
  /**
   * Reloads after each change of the directory, until `stop` is called. Does nothing for policies from texts.
   */
  follow(listener?: PolicyListener): Promise<{ readonly stop: () => Promise<void> }>;
}

/** Policies that cannot be used. The message shows each mistake with its place. */
export class PolicyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PolicyError';
  }
}

/** Milliseconds without a further change before a directory is read again. */
const restMs = 150;

/** Loads policies. Throws a PolicyError when they have an error. */
export async function loadPolicies(source: PolicySource): Promise<Policies> {
  const cache = createCompileCache(platformRun());
  const load = async (): Promise<LinkedFunctions> => {
    const read = await readSource(source);
    const { engine, diagnostics } = compile(read.sources, cache, findErrors);
    const all = [...read.diagnostics, ...diagnostics].filter(({ severity }) => severity === 'error');
    if (engine === null || hasErrors(all))
      throw new PolicyError(renderDiagnostics(all, read.sourceOf, { color: false }).trimEnd());
    return engine;
  };
  let engine = await load();
  const reload = async (): Promise<void> => {
    engine = await load();
  };
  return Object.assign(
    embeddedPolicies(() => engine),
    {
      reload,
      follow: (listener: PolicyListener = {}) => follow(source, reload, listener),
    },
  );
}

type LoadedSources = Pick<ReadSources, 'sources' | 'diagnostics' | 'sourceOf'>;

async function readSource(source: PolicySource): Promise<LoadedSources> {
  if (typeof source !== 'string') {
    return {
      sources: {
        files: source,
        readListFile: (path) => ({
          code: 'list-file-missing',
          message: `there is no text \`${path}\``,
        }),
      },
      diagnostics: [],
      sourceOf: (path) => source.find((one) => one.path === path)?.text ?? null,
    };
  }
  return await readSources(source);
}

async function follow(source: PolicySource, reload: () => Promise<void>, listener: PolicyListener) {
  if (typeof source !== 'string') throw new TypeError('texts cannot change: pass a path to follow changes');
  let last: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const again = () => {
    last = last
      .then(reload)
      .then(listener.onChange, (error: unknown) => listener.onRefused?.(error as Error));
  };
  const onEvent = () => {
    clearTimeout(timer);
    timer = setTimeout(again, restMs);
  };
  const watching = watch(source, { onEvent, onError: onEvent });
  await watching.ready;
  return {
    async stop() {
      clearTimeout(timer);
      await watching.close();
      await last;
    },
  };
}
