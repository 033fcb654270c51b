// Loads an engine by the short name that is passed to the process that measures it. Adapters of peers are
// imported by a computed name, because their packages are installed for the benchmarks alone.

import type { Engine } from './engine.ts';

export const engineKeys = [
  'writ-request',
  'map',
  'hand-written',
  'hand-written-request',
  'writ',
  'json-logic',
  'casl',
  'cel',
  'casbin',
  'json-rules-engine',
  'cedar',
  'opa',
] as const;
export type EngineKey = (typeof engineKeys)[number];

export async function loadEngine(key: EngineKey): Promise<Engine> {
  switch (key) {
    case 'map':
      return (await import('./map-look-up.ts')).engine;
    case 'hand-written':
      return (await import('./hand-written.ts')).engine;
    case 'hand-written-request':
      return (await import('./hand-written.ts')).requestEngine;
    case 'writ-request':
      return (await import('./writ.ts')).requestEngine;
    case 'writ':
      return (await import('./writ.ts')).engine;
    case 'json-logic':
    case 'casl':
    case 'cel':
    case 'casbin':
    case 'json-rules-engine':
    case 'cedar':
    case 'opa': {
      const adapter = new URL(`peers/${key}.ts`, import.meta.url).href;
      return ((await import(adapter)) as { readonly engine: Engine }).engine;
    }
  }
}
