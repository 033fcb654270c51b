// A witness of transparency logs (C2SP tlog-witness): cosigns a checkpoint only if it continues the last one that it
// cosigned of the same log. INVARIANT: the new checkpoint is kept before its cosignature leaves, and two
// checkpoints of a log are judged one after the other, so no two that contradict each other are ever cosigned.

import { type ReadCheckpoint, readCheckpointNote } from './checkpoint-note.ts';
import { emptyRoot, type Hash, isConsistent } from './merkle-tree.ts';
import { checkSignature, cosign, type NoteSigner, signatureLine, type VerifierKey } from './signed-note.ts';

/** Keeps the last cosigned checkpoint of each log, as text, by the log's name. */
export interface WitnessMemory {
  read(origin: string): Promise<string | null>;
  /** Resolves when the checkpoint is on the disk. */
  keep(origin: string, checkpoint: string): Promise<void>;
}

export interface WitnessDeps {
  readonly signer: NoteSigner;
  /** The keys of the logs that it cosigns; a log's name is that of its key. */
  readonly logs: readonly VerifierKey[];
  readonly memory: WitnessMemory;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Told of checkpoints that do not continue what was cosigned, with both as text. */
  readonly onContradiction: (contradiction: Contradiction) => void;
}

export interface Contradiction {
  readonly why: string;
  readonly kept: string;
  readonly submitted: string;
}

export interface WitnessReply {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422;
  readonly body: string;
  readonly contentType: string;
}

export interface WitnessServer {
  /** Answers the body of an `add-checkpoint` call. Rejects when the memory fails; then nothing was cosigned. */
  addCheckpoint(body: string): Promise<WitnessReply>;
}

interface Submission {
  readonly oldSize: number;
  readonly proof: readonly Hash[];
  readonly checkpoint: ReadCheckpoint;
  readonly text: string;
}

const hashesMax = 63;

export function createWitness(deps: WitnessDeps): WitnessServer {
  let last: Promise<unknown> = Promise.resolve();
  return {
    addCheckpoint(body) {
      const turn = last.then(() => answer(deps, body));
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}

async function answer(deps: WitnessDeps, body: string): Promise<WitnessReply> {
  const submission = readSubmission(body);
  if (submission === null) return plain(400, 'this is not a checkpoint with a consistency proof\n');
  const { checkpoint, oldSize, text } = submission;
  const keys = deps.logs.filter(({ name }) => name === checkpoint.origin);
  if (keys.length === 0) return plain(404, 'this witness does not know the log\n');
  const checks = keys.map((key) => checkSignature(checkpoint.note, key));
  if (checks.includes('wrong') || !checks.includes('signed'))
    return plain(403, 'the checkpoint is not signed with a known key of the log\n');
  if (oldSize > checkpoint.size) return plain(400, 'the old size is larger than the checkpoint\n');
  const keptText = await deps.memory.read(checkpoint.origin);
  const kept = keptText === null ? null : readCheckpointNote(keptText);
  if (keptText !== null && kept === null) throw new Error('the checkpoint that was kept cannot be read');
  const refusal = refusalOf(submission, kept);
  if (refusal !== null) {
    if (refusal.contradiction !== null && keptText !== null)
      deps.onContradiction({ why: refusal.contradiction, kept: keptText, submitted: text });
    return refusal.reply;
  }
  await deps.memory.keep(checkpoint.origin, text);
  const signature = cosign(checkpoint.note.text, deps.signer, Math.floor(deps.clock() / 1000));
  return plain(200, signatureLine(signature));
}

interface Refusal {
  readonly reply: WitnessReply;
  /** Null when the log may be honest. */
  readonly contradiction: string | null;
}

function refusalOf({ checkpoint, oldSize, proof }: Submission, kept: ReadCheckpoint | null): Refusal | null {
  const old = kept ?? { size: 0, root: emptyRoot };
  const sizeReply: WitnessReply = { status: 409, body: `${old.size}\n`, contentType: 'text/x.tlog.size' };
  if (checkpoint.size === old.size && Buffer.compare(checkpoint.root, old.root) !== 0)
    return { reply: sizeReply, contradiction: 'the log forked: it signed two roots for one size' };
  if (checkpoint.size < old.size)
    return {
      reply: sizeReply,
      contradiction:
        'the checkpoint is smaller than the one that was cosigned: the log shrank, or somebody sent an old checkpoint',
    };
  if (oldSize !== old.size) return { reply: sizeReply, contradiction: null };
  if (isConsistent(old, checkpoint, proof)) return null;
  return {
    reply: plain(422, 'the proof does not show that the log continues\n'),
    contradiction: 'the log forked: the new checkpoint is not shown to continue the one that was cosigned',
  };
}

function plain(status: WitnessReply['status'], body: string): WitnessReply {
  return { status, body, contentType: 'text/plain; charset=utf-8' };
}

/** Reads the body of the call; null when it has another form. */
function readSubmission(body: string): Submission | null {
  const at = body.indexOf('\n\n');
  const [first = '', ...lines] = body.slice(0, at).split('\n');
  const [, oldSize] = /^old (0|[1-9]\d{0,15})$/.exec(first) ?? [];
  const proof = lines.map((line) => Buffer.from(line, 'base64'));
  const isProof = proof.every(
    (hash, index) => hash.length === 32 && hash.toString('base64') === lines[index],
  );
  const text = body.slice(at + 2);
  const checkpoint = readCheckpointNote(text);
  if (at < 0 || oldSize === undefined || !isProof || proof.length > hashesMax || checkpoint === null)
    return null;
  return { oldSize: Number(oldSize), proof, checkpoint, text };
}
