// The address at which people reach the service, as the last start had it, for commands on the same store: a
// link that a command prints has to lead to the service that runs.

import type { Directory } from './directory.ts';

const key = { kind: 'service', id: 'address' } as const;

/** Remembers the address. When several processes start at once, any of them may be remembered. */
export async function rememberAddress({ documents, clock }: Directory, address: string): Promise<void> {
  const present = await documents.find(key.kind, key.id);
  if (present !== null && present.json === JSON.stringify(address)) return;
  const put = {
    ...key,
    seen: present?.version ?? 0,
    name: null,
    parent: null,
    endsAtMs: null,
    createdAtMs: Math.trunc(clock()),
    json: JSON.stringify(address),
  };
  await documents.write([put], null);
}

/** Null before the first start. */
export async function rememberedAddress({ documents }: Pick<Directory, 'documents'>): Promise<string | null> {
  const present = await documents.find(key.kind, key.id);
  return present === null ? null : (JSON.parse(present.json) as string);
}
