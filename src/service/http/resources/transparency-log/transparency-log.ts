// /v1/log: the published checkpoint of the transparency log and its key for everybody, proofs for people who may see the
// records, and statements for agents. INVARIANT: without sign-in, nothing of a record leaves but the hash of
// all of them; a public reply costs at most one read of the store a second.

import type { Statements } from '../../../receipts/statement.ts';
import type { Store } from '../../../store/contract/store.ts';
import { checkpointNoteText, type ReadCheckpoint } from '../../../transparency-log/checkpoint-note.ts';
import {
  type InclusionProof,
  type ProofProblem,
  proveConsistency,
  proveRecord,
} from '../../../transparency-log/prove.ts';
import { verifierKeyText } from '../../../transparency-log/signed-note.ts';
import type { TransparencyLog } from '../../../transparency-log/transparency-log.ts';
import { type JsonSchema, queryParameter } from '../../contract/operation.ts';
import { ProblemError } from '../../contract/problem.ts';
import { listReply, objectSchema, text } from '../../contract/schemas.ts';
import { callerIn, type Route, route } from '../../routing/route.ts';
import { requestNotFound } from '../requests/approval-result.ts';
import { requestId } from '../requests/requests.ts';

interface LogRouteDeps {
  readonly store: Store;
  readonly transparencyLog: TransparencyLog;
  readonly statements: Statements;
}

const checkpointExample = `writ.example.com/writ
1200
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

\u2014 writ.example.com/writ Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`;

const getLogCheckpoint = route<LogRouteDeps>({
  method: 'GET',
  url: '/v1/log/checkpoint',
  access: 'public',
  operation: {
    id: 'getLogCheckpoint',
    summary: 'The published checkpoint of the transparency log, with the cosignatures of its witnesses',
    description:
      'A signed note (C2SP tlog-checkpoint): the name of the log, the number of records, and the root hash.',
    replies: {
      200: {
        description: 'The checkpoint',
        contentType: 'text/plain',
        schema: { type: 'string' },
        example: checkpointExample,
      },
    },
    problems: ['not_found'],
  },
  handle: async ({ transparencyLog }, { reply }) => {
    const checkpoint = await publishedOf(transparencyLog);
    reply.type('text/plain; charset=utf-8');
    return checkpointNoteText(checkpoint);
  },
});

const publicKeySchema = objectSchema({
  kty: text(10),
  crv: text(20),
  x: text(100),
  kid: text(100),
  use: text(10),
  alg: text(10),
});

const getLogKey = route<LogRouteDeps>({
  method: 'GET',
  url: '/v1/log/key',
  access: 'public',
  operation: {
    id: 'getLogKey',
    summary: 'The public keys of the transparency log, its witnesses, and statements',
    description:
      'A verifier must get these keys in another way as well, or compare them: whoever forges a log also forges this reply.',
    replies: {
      200: {
        description:
          'The keys; `verifier_key` and `witness_keys` are verifier keys of signed notes (C2SP signed-note)',
        schema: objectSchema({
          log: text(200),
          verifier_key: text(400),
          witness_keys: { type: 'array', items: text(400) },
          statement_key: publicKeySchema,
        }),
        example: {
          log: 'writ.example.com/writ',
          verifier_key: 'writ.example.com/writ+a521535f+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
          witness_keys: [],
          statement_key: {
            kty: 'OKP',
            crv: 'Ed25519',
            x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
            kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
            use: 'sig',
            alg: 'EdDSA',
          },
        },
      },
    },
  },
  handle: async ({ transparencyLog: { key, witnesses }, statements }) => ({
    log: key.name,
    verifier_key: verifierKeyText(key),
    witness_keys: witnesses.map((witness) => verifierKeyText(witness.key)),
    statement_key: statements.key,
  }),
});

const hashes: JsonSchema = { type: 'array', items: text(44) };
const count: JsonSchema = { type: 'integer', minimum: 0 };

const proofSchema = objectSchema({
  log: text(200),
  sequence: count,
  leaf_index: count,
  tree_size: count,
  entry: {
    type: 'object',
    description: 'The record, as in `GET /v1/audit/export`.',
    additionalProperties: true,
  },
  inclusion: hashes,
  checkpoint: { type: 'string' },
});

const proofExample: InclusionProof = {
  log: 'writ.example.com/writ',
  sequence: 7,
  leaf_index: 6,
  tree_size: 1_200,
  entry: { kind: 'refusal', sequence: 7 },
  inclusion: ['CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I='],
  checkpoint: checkpointExample,
};

const getLogProof = route<LogRouteDeps>({
  method: 'GET',
  url: '/v1/log/proof',
  access: 'audit.view',
  operation: {
    id: 'getLogProof',
    summary: 'Proves that records are in the transparency log: all of a request, or one by its number',
    description:
      'The leaf of a record is `entry` as canonical JSON (RFC 8785). Anybody can verify the proof with the public key of the log, without access to this service.',
    parameters: [
      queryParameter('request', 'The id of a request.', text(64), '0195a3f0-0000-7000-8000-000000000000'),
      queryParameter('sequence', 'The number of a record.', text(16), '7'),
    ],
    replies: { 200: listReply('The proofs, by record number', proofSchema, proofExample) },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ store, transparencyLog }, { query }) => {
    const sequences = await sequencesIn(store, query);
    const checkpoint = await publishedOf(transparencyLog);
    const items: InclusionProof[] = [];
    for (const sequence of sequences)
      items.push(proofOr(await proveRecord(store, sequence, checkpoint), sequence));
    return { items };
  },
});

const getLogConsistency = route<LogRouteDeps>({
  method: 'GET',
  url: '/v1/log/consistency',
  access: 'audit.view',
  operation: {
    id: 'getLogConsistency',
    summary: 'Proves that the published checkpoint continues an earlier one',
    parameters: [
      {
        ...queryParameter('old', 'The number of records of the earlier checkpoint.', text(16), '600'),
        isRequired: true,
      },
    ],
    replies: {
      200: {
        description: 'The proof',
        schema: objectSchema({
          old_size: count,
          new_size: count,
          consistency: hashes,
          checkpoint: { type: 'string' },
        }),
        example: {
          old_size: 600,
          new_size: 1_200,
          consistency: proofExample.inclusion,
          checkpoint: checkpointExample,
        },
      },
    },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ store, transparencyLog }, { query }) => {
    const oldSize = readNumber('old', query.old ?? '');
    const checkpoint = await publishedOf(transparencyLog);
    if (oldSize > checkpoint.size)
      throw new ProblemError('conflict', `the published checkpoint has ${checkpoint.size} records`);
    const proof = await proveConsistency(store, oldSize, checkpoint);
    if (proof === 'changed') throw changed();
    return proof;
  },
});

const getStatement = route<LogRouteDeps>({
  method: 'GET',
  url: '/v1/requests/:id/statement',
  access: 'agent',
  operation: {
    id: 'getStatement',
    summary: 'A signed statement about a request: how it was decided and what became of it',
    description:
      'For the agent of the request, whether it was granted or not. A statement never permits an action: tools take only receipts.',
    parameters: [requestId],
    replies: {
      200: {
        description: 'The statement, a JWT of the type `writ-statement+jwt`',
        schema: objectSchema({ statement: { type: 'string' } }),
        example: { statement: 'eyJhbGciOiJFZERTQSJ9.e30.c2lnbmF0dXJl' },
        headers: ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires'],
      },
    },
    problems: ['request_not_found'],
  },
  handle: async ({ statements }, call) => {
    const statement = await statements.state(call.params.id ?? '', callerIn(call));
    if (statement === null) throw requestNotFound();
    return { statement };
  },
});

export const logRoutes: readonly Route<LogRouteDeps>[] = [
  getLogCheckpoint,
  getLogKey,
  getLogProof,
  getLogConsistency,
  getStatement,
];

async function publishedOf(transparencyLog: TransparencyLog): Promise<ReadCheckpoint> {
  const checkpoint = await transparencyLog.published();
  if (checkpoint === null)
    throw new ProblemError(
      'not_found',
      'the log has no published checkpoint yet: ask again in a few seconds',
    );
  return checkpoint;
}

const idForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function sequencesIn(
  { chain }: Store,
  { request, sequence }: Readonly<Record<string, string>>,
): Promise<readonly number[]> {
  if ((request === undefined) === (sequence === undefined))
    throw new ProblemError('invalid_query', 'name either `request` or `sequence`');
  if (sequence !== undefined) return [readNumber('sequence', sequence)];
  const id = String(request).toLowerCase();
  const sequences = idForm.test(id) ? await chain.sequencesOf(id) : [];
  if (sequences.length === 0)
    throw new ProblemError('not_found', 'there is no such request, or its records were deleted');
  return sequences;
}

function readNumber(name: string, value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new ProblemError('invalid_query', `\`${name}\` must be a whole number`);
}

function changed(): ProblemError {
  return new ProblemError('conflict', 'the records or the hash tree were changed: run `writ audit verify`');
}

function proofOr(proof: InclusionProof | ProofProblem, sequence: number): InclusionProof {
  switch (proof) {
    case 'absent':
      throw new ProblemError('not_found', `there is no record ${sequence}`);
    case 'pruned':
      throw new ProblemError('not_found', `record ${sequence} was deleted: the log keeps only its hash`);
    case 'later':
      throw new ProblemError(
        'conflict',
        `the published checkpoint does not cover record ${sequence} yet: ask again in a few seconds`,
      );
    case 'changed':
      throw changed();
    default:
      return proof;
  }
}
