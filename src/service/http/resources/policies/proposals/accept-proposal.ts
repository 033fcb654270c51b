// Accepts a proposal: the acceptance is stored first, with its record and everything that allows it, and then the files
// are written, or the patch is left for Git. INVARIANT: a proposed set becomes active only after its acceptance is stored;
// whatever fails before or after that, the active policies stay.

import {
  changeFiles,
  checkChange,
  type FileChange,
  FileChangeRefusal,
} from '../../../../policies/change-files.ts';
import type { PolicyHost } from '../../../../policies/policy-host.ts';
import type { ProposalActor, Proposals, ReadProposal } from '../../../../policies/proposals.ts';
import { noRollBack } from '../../../../policies/roll-back.ts';
import type { DocumentWrite } from '../../../../store/contract/documents.ts';
import type { Store } from '../../../../store/contract/store.ts';

export interface AcceptanceDeps {
  readonly proposals: Proposals;
  readonly policies: Pick<PolicyHost, 'current' | 'state' | 'reload'>;
  readonly store: Pick<Store, 'replicas'>;
  /** Writes the files; tests replace it to make the disk fail. */
  readonly write?: typeof changeFiles;
  readonly onFailure: (error: unknown) => void;
}

export interface Acceptance {
  readonly by: ProposalActor;
  readonly comment: string;
  /** Documents that must be as they were seen, and messages that go out. */
  readonly along: readonly DocumentWrite[];
}

export type AcceptanceResult =
  | { readonly kind: 'accepted'; readonly read: ReadProposal }
  /** Nothing has changed. `why`: a sentence in lower case. */
  | { readonly kind: 'refused'; readonly why: string };

export interface Acceptor {
  /** Accepts a proposal that is judged for the active policies. */
  accept(read: ReadProposal, acceptance: Acceptance): Promise<AcceptanceResult>;
  /** Continues with accepted proposals whose files an earlier process did not write. */
  resume(): Promise<void>;
}

const acceptedMax = 100;

export function createAcceptor(deps: AcceptanceDeps): Acceptor {
  const { proposals, policies, onFailure } = deps;
  /** One acceptance at a time, because all of them write the same files. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
  return {
    accept: (read, acceptance) => inTurn(() => accept(deps, read, acceptance)),
    resume: () =>
      inTurn(async () => {
        const settled = await proposals.list({ state: 'settled', after: null, countMax: acceptedMax });
        const open = settled.filter(
          ({ value }) =>
            value.status === 'accepted' && value.delivery === 'files' && value.activeAtMs === null,
        );
        for (const read of open) {
          if (read.value.judgement.proposed === policies.current().digest) await proposals.noteActive(read);
          else await write(deps, read);
        }
      }).catch(onFailure),
  };
}

async function accept(
  deps: AcceptanceDeps,
  read: ReadProposal,
  acceptance: Acceptance,
): Promise<AcceptanceResult> {
  const { proposals, policies } = deps;
  const refused = (why: string): AcceptanceResult => ({ kind: 'refused', why });
  const content = await proposals.content(read.value.id);
  if (content === null) return refused(changedMeanwhile);
  const delivery = await deliveryOf(deps, content.files);
  if ('why' in delivery) return refused(delivery.why);
  if (policies.current().digest !== read.value.judgement.active) return refused(changedMeanwhile);
  const stored = await proposals.settle(read, { ...acceptance, status: 'accepted', delivery: delivery.by });
  if (stored === null) return refused(changedMeanwhile);
  if (delivery.by === 'patch') return { kind: 'accepted', read: stored };
  return await write(deps, stored);
}

const changedMeanwhile = 'someone else changed this at the same time: reload and try again';

type Delivery = { readonly by: 'files' | 'patch' } | { readonly why: string };

/** Whether the service can write the files; a refusal when what is on disk would be lost. */
async function deliveryOf(
  { policies, store }: AcceptanceDeps,
  files: readonly FileChange[],
): Promise<Delivery> {
  const { directory } = policies.state();
  if (directory === null || noRollBack(policies.state(), store.replicas) !== null) return { by: 'patch' };
  await policies.reload();
  if (policies.state().status !== 'current')
    return { why: 'the files on disk are not active: fix or remove them first' };
  try {
    await checkChange(directory, files);
    return { by: 'files' };
  } catch (error) {
    if (!(error instanceof FileChangeRefusal)) throw error;
    return error.kind === 'not-writable' ? { by: 'patch' } : { why: error.message };
  }
}

/** Writes the files of an accepted proposal; when that fails, the proposal is pending again. */
async function write(deps: AcceptanceDeps, read: ReadProposal): Promise<AcceptanceResult> {
  const { proposals, policies, write: writeFiles = changeFiles } = deps;
  const { id, judgement } = read.value;
  const { directory } = policies.state();
  const content = await proposals.content(id);
  const why =
    content === null || directory === null || policies.current().digest !== judgement.active
      ? 'other policies became active in the meantime'
      : await writtenOr(() => writeFiles(directory, content.files));
  if (why === null) await policies.reload();
  if (
    why === null &&
    policies.current().digest === judgement.proposed &&
    policies.state().status === 'current'
  )
    return {
      kind: 'accepted',
      read: (await proposals.noteActive(read)) ?? (await proposals.find(id)) ?? read,
    };
  const undone = why ?? (await takeBack(deps, content?.files ?? []));
  await proposals.reopen(read, undone);
  return { kind: 'refused', why: undone };
}

/** Restores the files, because they do not make the proposed set; returns why. */
async function takeBack({ policies }: AcceptanceDeps, files: readonly FileChange[]): Promise<string> {
  const back = files.map(({ path, before, after }) => ({ path, before: after, after: before }));
  const failed = await writtenOr(() => changeFiles(policies.state().directory ?? '', back));
  await policies.reload();
  return failed ?? 'the files did not become the proposed policies: they are as they were';
}

/** Null when the files are written; else why not. */
async function writtenOr(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof FileChangeRefusal) return error.message;
    throw error;
  }
}
