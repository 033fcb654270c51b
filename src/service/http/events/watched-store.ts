// A store that reports when agents or documents (people, sessions, tokens, switches) are changed through it,
// so that code which relies on an earlier read looks again at once. INVARIANT: a change is reported after it
// is durable.

import type { DocumentStore } from '../../store/contract/documents.ts';
import type { AgentStore, Store } from '../../store/contract/store.ts';

type Changed = 'agents' | 'documents';

export interface WatchedStore {
  readonly store: Store;
  onChange(listener: (what: Changed) => void): void;
}

export function watchStore(store: Store): WatchedStore {
  const listeners: ((what: Changed) => void)[] = [];
  const tell = (what: Changed) => {
    for (const listener of listeners) listener(what);
  };
  const agents: AgentStore = Object.create(store.agents, {
    ...telling(store.agents, ['add', 'describe', 'setStatus', 'setSigning', 'rotateKey'], () =>
      tell('agents'),
    ),
  });
  const documents: DocumentStore = Object.create(store.documents, {
    ...telling(store.documents, ['write', 'removeEnded'], () => tell('documents')),
  });
  return {
    store: Object.create(store, { agents: { value: agents }, documents: { value: documents } }),
    onChange: (listener) => void listeners.push(listener),
  };
}

/** Methods that call those of `target`, and then `tell`. */
function telling<T extends object>(target: T, names: readonly (keyof T & string)[], tell: () => void) {
  const wrapped =
    (name: keyof T & string) =>
    async (...args: unknown[]) => {
      const result = await (target[name] as (...args: unknown[]) => Promise<unknown>)(...args);
      tell();
      return result;
    };
  return Object.fromEntries(names.map((name) => [name, { value: wrapped(name) }]));
}
