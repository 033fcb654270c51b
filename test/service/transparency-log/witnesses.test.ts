// A log and its witnesses, over HTTP: cosigned checkpoints are published, a fork and a shrunk log are refused, and
// what fails is named.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { signingKeysOf } from '../../../src/service/agents/signing-key.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import {
  checkpointNoteText,
  logSigner,
  readCheckpointNote,
  signCheckpoint,
} from '../../../src/service/transparency-log/checkpoint-note.ts';
import {
  checkSignature,
  cosign,
  noteSignerOf,
  noteText,
  readNote,
  readVerifierKey,
  signatureLine,
  verifierKeyText,
} from '../../../src/service/transparency-log/signed-note.ts';
import { rootOf } from '../../../src/service/transparency-log/tiles.ts';
import { createTransparencyLog } from '../../../src/service/transparency-log/transparency-log.ts';
import {
  type Contradiction,
  createWitness,
  type WitnessMemory,
} from '../../../src/service/transparency-log/witness.ts';
import { readWitnesses, type Witness } from '../../../src/service/transparency-log/witnesses.ts';
import { requestRow, startMs, temporaryFolder } from '../store/rows.ts';

const origin = 'writ.example.com/writ';

async function openFilled(count: number): Promise<Store> {
  const store = await openStore({ path: join(temporaryFolder(), 'writ.db'), actor: 'ops' });
  onTestFinished(() => store.close());
  await append(store, count);
  return store;
}

async function append(store: Store, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await store.requests.append(requestRow(), { openMax: 20 });
}

interface StartedWitness extends Witness {
  readonly kept: Map<string, string>;
  readonly contradictions: Contradiction[];
  answerWith: ((body: string) => string | null) | null;
  readonly server: Server;
}

async function startWitness(name: string, store: Store): Promise<StartedWitness> {
  const kept = new Map<string, string>();
  const contradictions: Contradiction[] = [];
  const memory: WitnessMemory = {
    read: async (log) => kept.get(log) ?? null,
    keep: async (log, text) => void kept.set(log, text),
  };
  const signer = noteSignerOf(name, 'cosignature', signingKeysOf(Buffer.alloc(32, name), 'witness'));
  const witness = createWitness({
    signer,
    logs: [logSigner(store.masterKey, origin).key],
    memory,
    clock: () => startMs,
    onContradiction: (one) => contradictions.push(one),
  });
  const server = createServer((request, reply) => {
    let body = '';
    request.on('data', (data) => (body += data));
    request.on('end', async () => {
      const instead = started.answerWith?.(body) ?? null;
      if (instead !== null) return void reply.end(instead);
      const { status, body: text, contentType } = await witness.addCheckpoint(body);
      reply.writeHead(status, { 'content-type': contentType }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const started: StartedWitness = {
    key: signer.key,
    address,
    kept,
    contradictions,
    answerWith: null,
    server,
  };
  return started;
}

function logOf(store: Store, witnesses: readonly Witness[], quorum: number) {
  const faults: string[] = [];
  let nowMs = startMs;
  const log = createTransparencyLog({
    store,
    origin,
    witnesses,
    quorum,
    clock: () => nowMs,
    onFault: (message) => faults.push(message),
    onFailure: (error) => {
      throw error;
    },
  });
  onTestFinished(() => log.close());
  const turn = async () => {
    nowMs += 20_000;
    await log.turn();
    return await log.published();
  };
  return { log, faults, turn };
}

test('a checkpoint is published with the cosignatures of its witnesses', async () => {
  const store = await openFilled(10);
  const [one, two] = [await startWitness('w.example/1', store), await startWitness('w.example/2', store)];
  const { turn, log } = logOf(store, [one, two], 2);
  const first = await turn();
  expect(first?.size).toBe(10);
  for (const { key } of [one, two, log]) expect(checkSignature(first!.note, key)).toBe('signed');
  // And it continues.
  await append(store, 8);
  expect(await turn()).toMatchObject({ size: 18 });
  expect(readCheckpointNote(one.kept.get(origin)!)?.size).toBe(18);
  expect(await log.faults()).toEqual([]);
});

test('what is published has enough cosignatures, and who is late is named', async () => {
  const store = await openFilled(10);
  const [one, two] = [await startWitness('w.example/1', store), await startWitness('w.example/2', store)];
  const { turn, log, faults } = logOf(store, [one, two], 2);
  await turn();
  two.server.close();
  two.server.closeAllConnections();
  await append(store, 5);
  expect(await turn()).toMatchObject({ size: 10 });
  expect(await log.faults()).toMatchObject([
    { isContradiction: false, message: 'the witness w.example/2 does not answer' },
  ]);
  await turn();
  expect(faults).toEqual(['the witness w.example/2 does not answer']);
  // With a quorum of one, the other witness is enough.
  const { turn: withOne } = logOf(store, [one, two], 1);
  await append(store, 1);
  for (let turns = 0; turns < 3; turns += 1) await withOne();
  expect(await withOne()).toMatchObject({ size: 16 });
});

test('a witness that lost its memory, or a log that lost its notes, is asked again from the size it names', async () => {
  const store = await openFilled(10);
  const one = await startWitness('w.example/1', store);
  const { turn } = logOf(store, [one], 1);
  await turn();
  one.kept.clear();
  await append(store, 5);
  expect(await turn()).toMatchObject({ size: 15 });
});

test('a restored copy is refused by a witness that has seen more, and both checkpoints are shown', async () => {
  const store = await openFilled(10);
  const copy = join(temporaryFolder(), 'copy.db');
  await store.copyTo(copy);
  const one = await startWitness('w.example/1', store);
  const { turn } = logOf(store, [one], 1);
  await append(store, 10);
  const seen = await turn();
  const restored = await openStore({ path: copy, actor: 'ops' });
  onTestFinished(() => restored.close());
  const { turn: turnOfCopy, log } = logOf(restored, [one], 1);
  expect(await turnOfCopy()).toBeNull();
  expect(await log.faults()).toMatchObject([
    {
      isContradiction: true,
      message: expect.stringContaining('it has cosigned a log of 20 records, and this one has 10'),
    },
  ]);
  // Once it is as long, it is a fork.
  await append(restored, 10);
  expect(await turnOfCopy()).toBeNull();
  expect((await log.faults())[0]?.message).toContain('another root');
  await append(restored, 10);
  expect(await turnOfCopy()).toBeNull();
  expect((await log.faults())[0]?.message).toContain('does not continue');
  expect(one.kept.get(origin)).toContain(`\n${seen?.size}\n`);
  expect([...new Set(one.contradictions.map(({ why }) => why))]).toEqual([
    expect.stringContaining('smaller'),
    expect.stringContaining('two roots for one size'),
    expect.stringContaining('forked'),
  ]);
  for (const { kept, submitted } of one.contradictions) {
    expect(readCheckpointNote(kept)?.size).toBe(20);
    expect(readCheckpointNote(submitted)?.origin).toBe(origin);
  }
});

test('an answer that is not the cosignature of the configured key does not count', async () => {
  const store = await openFilled(10);
  const one = await startWitness('w.example/1', store);
  const wrong = noteSignerOf('w.example/1', 'cosignature', signingKeysOf(Buffer.alloc(32, 7), 'witness'));
  one.answerWith = (body) => {
    const note = readNote(body.slice(body.indexOf('\n\n') + 2))!;
    const { signature } = cosign(note.text, wrong, 1);
    // Under the name and id of the right key.
    return signatureLine({ name: one.key.name, id: one.key.id, signature });
  };
  const { turn, log } = logOf(store, [one], 1);
  expect(await turn()).toBeNull();
  expect(await log.faults()).toMatchObject([
    { isContradiction: true, message: expect.stringContaining('no valid cosignature') },
  ]);
});

test('a witness takes only what is signed by a known log', async () => {
  const store = await openFilled(3);
  const { log } = logOf(store, [], 0);
  await log.turn();
  const checkpoint = (await log.published())!;
  const text = checkpointNoteText(checkpoint);
  const one = await startWitness('w.example/1', store);
  const ask = async (body: string) => {
    const reply = await fetch(`${one.address}/add-checkpoint`, { method: 'POST', body });
    return [reply.status, await reply.text(), reply.headers.get('content-type')] as const;
  };
  expect((await ask(`old 0\n\n${text}`))[0]).toBe(200);
  expect(await ask(`old 0\n\n${text}`)).toEqual([409, '3\n', 'text/x.tlog.size']);
  expect((await ask(`old 3\n\n${text}`))[0]).toBe(200);
  expect((await ask(`old 4\n\n${text}`))[0]).toBe(400);
  for (const body of [
    '',
    'old 0\n',
    `old 00\n\n${text}`,
    `old 0\nshort\n\n${text}`,
    `old 0\n\n${text.replace('\n3\n', '\n03\n')}`,
  ])
    expect((await ask(body))[0]).toBe(400);
  const other = logSigner(Buffer.alloc(32, 1), origin);
  const head = { size: 3, root: await rootOf(store.tree, 3) };
  expect((await ask(`old 3\n\n${noteText(signCheckpoint(head, other))}`))[0]).toBe(403);
  const unknown = logSigner(store.masterKey, 'other.example.com');
  expect((await ask(`old 3\n\n${noteText(signCheckpoint(head, unknown))}`))[0]).toBe(404);
  // The right name and id with a wrong signature.
  const forged = text.replace(/[A-Za-z0-9+/]{8}==?\n$/, 'AAAAAAAA==\n'.slice(-11));
  expect([400, 403]).toContain((await ask(`old 3\n\n${forged}`))[0]);
});

test('two checkpoints at the same time are judged one after the other', async () => {
  const store = await openFilled(5);
  const one = await startWitness('w.example/1', store);
  const { log } = logOf(store, [], 0);
  await log.turn();
  const text = checkpointNoteText((await log.published())!);
  const fork = noteText(
    signCheckpoint({ size: 5, root: Buffer.alloc(32, 1) }, logSigner(store.masterKey, origin)),
  );
  const replies = await Promise.all(
    [text, fork, text, fork].map((note) =>
      fetch(`${one.address}/add-checkpoint`, { method: 'POST', body: `old 0\n\n${note}` }),
    ),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
});

test('a memory that fails gives no cosignature', async () => {
  const store = await openFilled(2);
  const { log } = logOf(store, [], 0);
  await log.turn();
  const text = checkpointNoteText((await log.published())!);
  const witness = createWitness({
    signer: noteSignerOf('w', 'cosignature', signingKeysOf(Buffer.alloc(32), 'witness')),
    logs: [log.key],
    memory: { read: async () => null, keep: () => Promise.reject(new Error('disk full')) },
    clock: () => startMs,
    onContradiction: () => undefined,
  });
  await expect(witness.addCheckpoint(`old 0\n\n${text}`)).rejects.toThrow('disk full');
});

// The example of C2SP signed-note, whose key is in the documentation of its Go package.
test('the standard’s own example is read and verified', () => {
  const key = readVerifierKey('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW');
  const note = readNote(
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n",
  );
  expect(checkSignature(note!, key!)).toBe('signed');
  expect(checkSignature({ ...note!, text: note!.text.replace('answer', 'reason') }, key!)).toBe('wrong');
  expect(verifierKeyText(key!)).toBe('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW');
});

test('witnesses are read from their setting', async () => {
  const store = await openFilled(1);
  const { key, address } = await startWitness('w.example/1', store);
  const text = verifierKeyText(key);
  expect(readWitnesses(`${text} ${address}/`)).toEqual([{ key, address }]);
  expect(readWitnesses('')).toEqual([]);
  for (const wrong of [
    text,
    `${text} ftp://x`,
    `${text} ${address}, ${text} ${address}`,
    `${text.replace('w.', 'v.')} ${address}`,
  ])
    expect(readWitnesses(wrong)).toBeNull();
});
