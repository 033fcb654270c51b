// Policies that decide inside a program, without a service: from a directory, a file or texts to a function. Nothing is
// recorded and no meter is kept; what the program does not say of a request is unknown. INVARIANT: policies with an error
// never decide; where a change has one, the last good ones go on.

import { hasErrors } from '../../language/diagnostic/diagnostic.ts';
import { renderDiagnostics } from '../../language/diagnostic/render.ts';
import type { SourceText } from '../../language/diagnostic/span.ts';
import type { Linked } from '../../language/emit/link.ts';
import { runOfPlace } from '../../language/emit/run.ts';
import { compile, createCompileCache, findErrors } from '../../pipeline.ts';
import { readSources } from '../../service/policies/bundles/read-sources.ts';
import type { ReadSources } from '../../service/policies/read.ts';
import { watch } from '../../service/policies/watch.ts';
import { type AskedPolicies, askedOf } from './ask.ts';

/** A path to a directory or a file, or the texts themselves. */
export type PolicyPlace = string | readonly SourceText[];

/** What `follow` tells. */
export interface PolicyListener {
  readonly onChange?: () => void;
  /** The last good policies go on. */
  readonly onRefused?: (error: Error) => void;
}

export interface Policies extends AskedPolicies {
  /** Reads the place again. Throws a PolicyError where it cannot be used, and then nothing changes. */
  reload(): Promise<void>;
  /** Reloads after each change of the directory, until it is stopped. Of texts there is nothing to follow. */
  follow(listener?: PolicyListener): Promise<{ readonly stop: () => Promise<void> }>;
}

/** Policies that cannot be used. The message shows each mistake with its place. */
export class PolicyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PolicyError';
  }
}

/** How long a directory rests after a change before it is read, in milliseconds. */
const restMs = 150;

/** Throws a PolicyError for policies with an error. */
export async function loadPolicies(place: PolicyPlace): Promise<Policies> {
  const cache = createCompileCache(runOfPlace());
  const load = async (): Promise<Linked> => {
    const read = await readPlace(place);
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
    askedOf(() => engine),
    {
      reload,
      follow: (listener: PolicyListener = {}) => follow(place, reload, listener),
    },
  );
}

type Read = Pick<ReadSources, 'sources' | 'diagnostics' | 'sourceOf'>;

async function readPlace(place: PolicyPlace): Promise<Read> {
  if (typeof place !== 'string') {
    return {
      sources: {
        files: place,
        readListFile: (path) => ({
          code: 'list-file-missing',
          message: `\`${path}\` is not among the texts`,
        }),
      },
      diagnostics: [],
      sourceOf: (path) => place.find((one) => one.path === path)?.text ?? null,
    };
  }
  return await readSources(place);
}

async function follow(place: PolicyPlace, reload: () => Promise<void>, listener: PolicyListener) {
  if (typeof place !== 'string') throw new TypeError('texts do not change: give a path to follow it');
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
  const watching = watch(place, { onEvent, onError: onEvent });
  await watching.ready;
  return {
    async stop() {
      clearTimeout(timer);
      await watching.close();
      await last;
    },
  };
}
