// /v1/policies/proposals: somebody proposes a change of the policies, the service judges it, and a person accepts or
// rejects it. INVARIANT: nobody accepts their own proposal; an acceptance names the digests of both sets, and is
// stored only if the proposal, both sets and the person are as they were seen.

import { randomUUID } from 'node:crypto';
import { textProblem } from '../../../../../language/value/visible-text.ts';
import { grantOf } from '../../../../people/operations.ts';
import { recordName } from '../../../../people/person.ts';
import type { SignInDeps } from '../../../../people/sign-in.ts';
import type { PolicyHost } from '../../../../policies/policy-host.ts';
import {
  isBy,
  type Proposal,
  type ProposalActor,
  type Proposals,
  proposalStatuses,
  type ReadProposal,
} from '../../../../policies/proposals.ts';
import type { RequestChanges } from '../../../../requests/request-changes.ts';
import type { DocumentWrite } from '../../../../store/contract/documents.ts';
import type { Dispatcher } from '../../../../webhooks/dispatch.ts';
import { conflict, notAllowed, notFound } from '../../../auth/auth-refusals.ts';
import { queryParameter } from '../../../contract/operation.ts';
import { collect, pageOf, pageParameters, pageReply, readPage } from '../../../contract/page.ts';
import { ProblemError } from '../../../contract/problem.ts';
import { idParameter, objectSchema, text } from '../../../contract/schemas.ts';
import type { EventStreams } from '../../../events/event-streams.ts';
import { actorOf, type ManagedCall, type Route, route } from '../../../routing/route.ts';
import { findVisible, requestNotFound } from '../../requests/approval-result.ts';
import { isRefusal, playgroundProblems, refusalProblem } from '../playground-view.ts';
import type { Acceptor } from './accept-proposal.ts';
import {
  contentOf,
  type GivenChange,
  judgementOf,
  type ProposalJudge,
  problemOf,
} from './judge-proposals.ts';
import {
  type AllowedProposalActions,
  commentMax,
  patchSchema,
  proposalDetail,
  proposalDetailExample,
  proposalDetailSchema,
  proposalExample,
  proposalSchema,
  proposalView,
  proposedFilesSchema,
  reasonMax,
  stateDescription,
} from './proposal-view.ts';

interface ProposalDeps {
  readonly signInDeps: SignInDeps;
  readonly policies: Pick<PolicyHost, 'current'>;
  readonly requestChanges: Pick<RequestChanges, 'snapshot'>;
  readonly proposals: Proposals;
  readonly proposalJudge: ProposalJudge;
  readonly proposalAcceptor: Acceptor;
  readonly proposalSettings: ProposalSettings;
  readonly dispatcher: Pick<Dispatcher, 'prepare'>;
  readonly eventStreams: Pick<EventStreams, 'notify'>;
  readonly origin: string;
}

export interface ProposalSettings {
  /** Whether agents and enforcement points may propose. */
  readonly mayAgentsPropose: boolean;
  /** Whether proposals that narrow are accepted at once. */
  readonly isNarrowingAccepted: boolean;
}

/** The limits of a body with a patch or whole files. */
const proposalBodyMax = { bytesMax: 512 * 1024, depthMax: 8 };

interface ProposalBody {
  readonly active_digest: string;
  readonly reason: string;
  readonly request_id?: string;
  readonly patch?: string;
  readonly files?: readonly { readonly path: string; readonly text: string | null }[];
}

const detailReply = {
  description: 'The proposal',
  schema: proposalDetailSchema,
  example: proposalDetailExample,
} as const;

/** Headers of replies to agents and enforcement points. */
const callerHeaders = ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires'] as const;
const callerDetailReply = { ...detailReply, headers: callerHeaders };

const proposePolicies = route<ProposalDeps, ProposalBody>({
  method: 'POST',
  url: '/v1/policies/proposals',
  access: 'proposals.make',
  isForAgents: true,
  isForPoints: true,
  bodyMax: proposalBodyMax,
  operation: {
    id: 'proposePolicies',
    summary: 'Proposes a change of the active policies; the service judges it at once',
    description: `The service compiles the change, runs the tests, proves the guarantees and compares it with the active policies. A change that does not apply or has errors is refused. Agents and enforcement points can propose if \`proposals.agents\` is on. ${stateDescription}`,
    body: {
      description: 'A patch or whole files, and the reason.',
      schema: objectSchema(
        {
          active_digest: {
            ...text(100),
            description: 'The digest of the policies that the change starts from.',
          },
          reason: text(reasonMax),
        },
        {
          patch: patchSchema,
          files: proposedFilesSchema,
          request_id: { ...text(100), description: 'A request that the proposal is about.' },
        },
      ),
      examples: {
        file: {
          active_digest: proposalExample.active_digest,
          reason: proposalExample.reason,
          files: [{ path: 'payments/vendors.policy', text: '# the whole file\n' }],
        },
      },
    },
    replies: { 201: callerDetailReply },
    problems: [
      'conflict',
      'invalid_proposal',
      'too_many_proposals',
      'request_not_found',
      ...playgroundProblems,
    ],
  },
  handle: async (deps, call) => {
    const proposer = proposerOf(deps, call);
    const change = changeOf(call.body);
    const { active_digest: seen, reason, request_id: requestId = null } = call.body;
    checkText('reason', reason, reasonMax);
    if (requestId !== null) await checkRequest(deps, call, requestId);
    const refusal = await deps.proposals.refusal(proposer);
    if (refusal !== null) throw new ProblemError('too_many_proposals', refusal);
    if (deps.policies.current().digest !== seen) throw conflict(otherPolicies);
    const answer = await thread(() => deps.proposalJudge.judge(change, `${proposer.kind} ${proposer.id}`));
    const content = contentOf(answer);
    if (answer.kind === 'refused' || content === null) throw invalidProposal(answer, call.body);
    if (answer.active !== seen) throw conflict(otherPolicies);
    if (content.files.length === 0) throw new ProblemError('invalid_proposal', 'the change changes nothing');
    const judgement = judgementOf(answer, deps.signInDeps.directory.clock());
    const id = randomUUID();
    const event = { type: 'proposal.made', id, about: 'A change of the policies is proposed' } as const;
    const made = await store(deps, event, (along) =>
      deps.proposals.create({ id, proposer, reason, requestId, judgement, content }, along),
    );
    if (made === null) throw conflict();
    call.reply.code(201);
    return await detailFor(deps, call, await acceptedBySetting(deps, made));
  },
});

const listProposals = route<ProposalDeps>({
  method: 'GET',
  url: '/v1/policies/proposals',
  access: 'proposals.view',
  isForAgents: true,
  isForPoints: true,
  operation: {
    id: 'listProposals',
    summary: 'Proposals, newest first; agents and enforcement points see their own',
    parameters: [
      queryParameter(
        'status',
        'The status of the proposal.',
        { type: 'string', enum: proposalStatuses },
        'pending',
      ),
      ...pageParameters,
    ],
    replies: {
      200: { ...pageReply('A page of proposals', proposalSchema, proposalExample), headers: callerHeaders },
    },
  },
  handle: async ({ proposals, policies }, call) => {
    const { countMax, after } = readPage(call.query);
    const { status } = call.query;
    const state = status === undefined ? null : status === 'pending' ? 'pending' : 'settled';
    const items = await collect(
      { countMax: countMax + 1, after },
      {
        next: (from, atOnce) => proposals.list({ state, after: from, countMax: atOnce }),
        positionOf: ({ value }) => value,
        matches: ({ value }) => isVisibleTo(call, value) && (status ?? value.status) === value.status,
      },
    );
    const active = policies.current().digest;
    return pageOf(items, countMax, (proposal) => proposalView(proposal, active));
  },
});

const proposalId = idParameter('The id in the list.', proposalExample.id);

const getProposal = route<ProposalDeps>({
  method: 'GET',
  url: '/v1/policies/proposals/:id',
  access: 'proposals.view',
  isForAgents: true,
  isForPoints: true,
  operation: {
    id: 'getProposal',
    summary: 'A proposal with its patch, and its comparison with the active policies',
    parameters: [proposalId],
    replies: { 200: callerDetailReply },
    problems: ['not_found'],
  },
  handle: async (deps, call) => await detailFor(deps, call, await proposalIn(deps, call)),
});

interface AcceptBody {
  readonly active_digest: string;
  readonly proposed_digest: string;
  readonly comment: string;
  readonly breaks_guarantee?: boolean;
}

const acceptProposal = route<ProposalDeps, AcceptBody>({
  method: 'POST',
  url: '/v1/policies/proposals/:id/accept',
  access: 'proposals.settle',
  operation: {
    id: 'acceptProposal',
    summary: 'Accepts a proposal of somebody else',
    description:
      'Bound to both digests: if other policies are active by now, the proposal is judged again and the acceptance is refused. The service writes the files where it can, and the reply comes when the proposed policies are active; otherwise the reply has the patch for Git.',
    parameters: [proposalId],
    body: {
      description: 'What the caller has seen, and why it is accepted.',
      schema: objectSchema(
        {
          active_digest: { ...text(100), description: '`active_digest` of the proposal.' },
          proposed_digest: { ...text(100), description: '`proposed_digest` of the proposal.' },
          comment: text(commentMax),
        },
        {
          breaks_guarantee: {
            type: 'boolean',
            description: 'Must be true to accept a proposal that breaks a guarantee.',
          },
        },
      ),
      examples: {
        accept: {
          active_digest: proposalExample.active_digest,
          proposed_digest: proposalExample.proposed_digest,
          comment: 'agreed with finance',
        },
      },
    },
    replies: { 200: detailReply },
    problems: ['not_found', 'conflict', ...playgroundProblems],
  },
  handle: async (deps, call) => {
    const { comment, breaks_guarantee: isBreakAccepted = false } = call.body;
    checkText('comment', comment, commentMax);
    const read = await proposalIn(deps, call);
    const by = personOf(call);
    if (isBy(read.value, by)) throw notAllowed('somebody else has to accept your proposal');
    const judged = await judgedAsSeen(deps, read, call.body);
    if (judged.value.judgement.classification === 'breaks-guarantee' && !isBreakAccepted)
      throw conflict('this breaks a guarantee: send `breaks_guarantee: true` to accept that');
    return await detailFor(
      deps,
      call,
      await accept(deps, judged, { by, comment, along: await asPermitted(deps, call) }),
    );
  },
});

const rejectProposal = route<ProposalDeps, { readonly comment: string }>({
  method: 'POST',
  url: '/v1/policies/proposals/:id/reject',
  access: 'proposals.settle',
  operation: {
    id: 'rejectProposal',
    summary: 'Rejects a proposal',
    parameters: [proposalId],
    body: {
      description: 'The reason, which the proposer sees.',
      schema: objectSchema({ comment: text(commentMax) }),
      examples: { no: { comment: 'the limit is there for a reason' } },
    },
    replies: { 200: detailReply },
    problems: ['not_found', 'conflict'],
  },
  handle: async (deps, call) => {
    checkText('comment', call.body.comment, commentMax);
    const read = await proposalIn(deps, call);
    const along = await asPermitted(deps, call);
    return await close(deps, call, {
      read,
      status: 'rejected',
      by: personOf(call),
      comment: call.body.comment,
      along,
    });
  },
});

const withdrawProposal = route<ProposalDeps>({
  method: 'POST',
  url: '/v1/policies/proposals/:id/withdraw',
  access: 'proposals.make',
  isForAgents: true,
  isForPoints: true,
  operation: {
    id: 'withdrawProposal',
    summary: "Withdraws the caller's own proposal",
    parameters: [proposalId],
    replies: { 200: callerDetailReply },
    problems: ['not_found', 'conflict'],
  },
  handle: async (deps, call) => {
    const read = await proposalIn(deps, call);
    const by = callerOf(call);
    if (!isBy(read.value, by)) throw notAllowed('only the proposer can withdraw a proposal');
    return await close(deps, call, { read, status: 'withdrawn', by, comment: '', along: [] });
  },
});

export const proposalRoutes: readonly Route<ProposalDeps>[] = [
  proposePolicies,
  listProposals,
  getProposal,
  acceptProposal,
  rejectProposal,
  withdrawProposal,
];

const otherPolicies = 'other policies are active by now: make the change again on these';

// ---- who

function personOf(call: ManagedCall<unknown>): ProposalActor {
  const { person } = actorOf(call);
  return { kind: 'person', id: person.id, name: person.name, who: recordName(person) };
}

/** Whoever calls, as the author of a proposal. */
function callerOf(call: ManagedCall<unknown>): ProposalActor {
  const { agent, point } = call;
  if (agent !== null) return { kind: 'agent', id: agent.id, name: agent.name, who: `agent ${agent.id}` };
  if (point !== undefined)
    return { kind: 'point', id: point.id, name: point.name, who: `point ${point.name} (${point.id})` };
  return personOf(call);
}

function proposerOf({ proposalSettings }: ProposalDeps, call: ManagedCall<unknown>): ProposalActor {
  const caller = callerOf(call);
  if (caller.kind !== 'person' && !proposalSettings.mayAgentsPropose)
    throw notAllowed('agents cannot propose changes here: `proposals.agents` is off');
  return caller;
}

/** People see all proposals, agents and enforcement points their own. */
function isVisibleTo(call: ManagedCall<unknown>, proposal: Proposal): boolean {
  return call.actor !== null || isBy(proposal, callerOf(call));
}

async function proposalIn({ proposals }: ProposalDeps, call: ManagedCall<unknown>): Promise<ReadProposal> {
  const read = await proposals.find(call.params.id ?? '');
  if (read === null || !isVisibleTo(call, read.value)) throw notFound('proposal');
  return read;
}

/**
 * The caller as they are now, to be written along: the write fails when they change at the same time. Throws a
 * ProblemError when they may no longer settle proposals.
 */
async function asPermitted(
  { signInDeps: { directory } }: ProposalDeps,
  call: ManagedCall<unknown>,
): Promise<readonly DocumentWrite[]> {
  const stored = await directory.people.find(actorOf(call).person.id);
  if (stored?.value.status !== 'active' || grantOf(stored.value.roles, 'proposals.settle') !== 'yes')
    throw notAllowed();
  return [directory.people.put(stored.value, stored.version)];
}

function allowedTo(call: ManagedCall<unknown>, proposal: Proposal): AllowedProposalActions {
  const isPending = proposal.status === 'pending';
  const isOwn = isBy(proposal, callerOf(call));
  const maySettle = call.actor !== null && grantOf(call.actor.roles, 'proposals.settle') === 'yes';
  return {
    accept: isPending && maySettle && !isOwn && proposal.judgement.proposed !== null,
    reject: isPending && maySettle,
    withdraw: isPending && isOwn,
  };
}

async function detailFor(deps: ProposalDeps, call: ManagedCall<unknown>, { value }: ReadProposal) {
  const content = await deps.proposals.content(value.id);
  const active = deps.policies.current().digest;
  return proposalDetail(value, { content, active, allowed: allowedTo(call, value) });
}

// ---- what

function changeOf({ patch, files }: ProposalBody): GivenChange {
  if (patch !== undefined && files === undefined) return { kind: 'patch', patch };
  if (patch === undefined && files !== undefined) return { kind: 'files', files };
  const detail = 'give either `patch` or `files`';
  throw new ProblemError('invalid_body', detail, { errors: [{ pointer: '/patch', detail }] });
}

function checkText(field: string, value: string, lengthMax: number): void {
  const problem = textProblem(value, lengthMax);
  if (problem === null) return;
  const detail = `the ${field} ${problem}`;
  throw new ProblemError('invalid_body', detail, { errors: [{ pointer: `/${field}`, detail }] });
}

async function checkRequest(deps: ProposalDeps, call: ManagedCall<unknown>, id: string): Promise<void> {
  // An enforcement point by itself has no requests.
  const isKnown = call.actor !== null || call.agent !== null;
  if (!isKnown || (await findVisible(deps.requestChanges, call, id)) === null) throw requestNotFound();
}

const errorsMax = 20;

/** The refusal of a change that does not apply or has errors, each error with its place. */
function invalidProposal(
  answer: Awaited<ReturnType<ProposalJudge['judge']>>,
  { files = [] }: ProposalBody,
): ProblemError {
  if (answer.kind !== 'refused') return new ProblemError('invalid_proposal', 'the change has no content');
  const errors = answer.diagnostics
    .filter(({ severity }) => severity === 'error')
    .slice(0, errorsMax)
    .map(({ file, line, column, code, message }) => {
      const at = files.findIndex(({ path }) => path === file);
      const pointer = at === -1 ? (files.length > 0 ? '/files' : '/patch') : `/files/${at}/text`;
      return { pointer, detail: `${file}:${line}:${column}: ${message} (${code})` };
    });
  return new ProblemError('invalid_proposal', problemOf(answer), errors.length === 0 ? {} : { errors });
}

/** Waits for the thread; its refusals become problems. */
async function thread<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isRefusal(error) ? refusalProblem(error) : error;
  }
}

// ---- settling

/**
 * The proposal, judged for the active policies and with the digests that the caller has seen. Throws a conflict
 * otherwise, with what the proposal means by now.
 */
async function judgedAsSeen(
  deps: ProposalDeps,
  read: ReadProposal,
  seen: Pick<AcceptBody, 'active_digest' | 'proposed_digest'>,
): Promise<ReadProposal> {
  checkPending(read.value);
  const judged = await thread(() => deps.proposalJudge.judgedNow(read));
  if (judged === null) throw conflict();
  const { active, proposed, classification, problem } = judged.value.judgement;
  if (proposed === null) throw conflict(problem ?? 'the proposal is invalid');
  if (active !== seen.active_digest || proposed !== seen.proposed_digest)
    throw conflict(`the proposal was judged again, as \`${classification}\`: review it again`);
  return judged;
}

function checkPending({ status }: Proposal): void {
  if (status !== 'pending') throw conflict(`the proposal is no longer pending: it was ${status}`);
}

interface AcceptInput {
  readonly by: ProposalActor;
  readonly comment: string;
  readonly along: readonly DocumentWrite[];
}

async function accept(deps: ProposalDeps, read: ReadProposal, input: AcceptInput): Promise<ReadProposal> {
  const { id } = read.value;
  const event = {
    type: 'proposal.settled',
    id,
    about: 'A proposed change of the policies was accepted',
  } as const;
  const accepted = await store(deps, event, async (messages) => {
    const result = await deps.proposalAcceptor.accept(read, {
      ...input,
      along: [...input.along, ...messages],
    });
    if (result.kind === 'refused') throw conflict(result.why);
    return result.read;
  });
  if (accepted === null) throw conflict();
  return accepted;
}

/** The proposal, accepted at once if a setting says so and there is nothing that a person has to judge. */
async function acceptedBySetting(deps: ProposalDeps, read: ReadProposal): Promise<ReadProposal> {
  const { classification, notes, tests } = read.value.judgement;
  const isNarrowing = classification === 'narrows' || classification === 'no-change';
  const isClear = isNarrowing && notes.length === 0 && tests !== null && tests.newly_failed === 0;
  if (!deps.proposalSettings.isNarrowingAccepted || !isClear) return read;
  const by = { kind: 'system', id: '', name: 'Writ', who: 'system' } as const;
  try {
    return await accept(deps, read, { by, comment: 'by `proposals.accept_narrowing`', along: [] });
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return (await deps.proposals.find(read.value.id)) ?? read;
  }
}

interface ProposalEvent {
  readonly type: 'proposal.made' | 'proposal.settled';
  readonly id: string;
  /** A sentence without its period. */
  readonly about: string;
}

/** Stores a change of a proposal together with the messages that tell of it. */
async function store(
  { dispatcher, eventStreams, origin, signInDeps }: ProposalDeps,
  { type, id, about }: ProposalEvent,
  write: (messages: readonly DocumentWrite[]) => Promise<ReadProposal | null>,
): Promise<ReadProposal | null> {
  const prepared = await dispatcher.prepare({
    type,
    id,
    text: `${about}.`,
    page: `${origin}/proposals/${id}`,
    links: { proposal: `${origin}/v1/policies/proposals/${id}` },
    atMs: Math.trunc(signInDeps.directory.clock()),
  });
  const stored = await write(prepared.writes);
  if (stored === null) return null;
  prepared.taken();
  eventStreams.notify('policies');
  return stored;
}

interface CloseInput extends AcceptInput {
  readonly read: ReadProposal;
  readonly status: 'rejected' | 'withdrawn';
}

async function close(deps: ProposalDeps, call: ManagedCall<unknown>, { read, ...input }: CloseInput) {
  checkPending(read.value);
  const about = `A proposed change of the policies was ${input.status}`;
  const closed = await store(deps, { type: 'proposal.settled', id: read.value.id, about }, (messages) =>
    deps.proposals.settle(read, { ...input, delivery: null, along: [...input.along, ...messages] }),
  );
  if (closed === null) throw conflict();
  return await detailFor(deps, call, closed);
}
