// Who may do what, written down a second time, by hand and apart from the code: roles by operations, and
// routes by operation and by credential. INVARIANT: nothing in this file is taken from the service; an
// intended change of the service is made in this file as well.

import type { Grant, Role } from '../../../src/service/people/operations.ts';

export const rolesByHand = ['admin', 'operator', 'approver', 'owner', 'auditor'] as const satisfies Role[];

/**
 * One line per operation: what each role has, in the order above; `+` all, `o` the person's own, `.` nothing.
 */
const operationLines = `
agents.view          + + . o +
agents.register      + + . . .
agents.change        + + . . .
agents.disable       + + . o .
agents.enable        + + . . .
agents.revoke        + + . . .
agents.rotate        + + . . .
agents.identities    + + . . .
agents.signing       + + . . .
agents.step-up       o o o o .
points.view          + + . . +
points.change        + + . . .
requests.view        + + o o +
requests.approve     o o o o .
requests.reject      + o o o .
requests.report      + + . o .
receipt-keys.view    + + . . +
receipt-keys.rotate  + . . . .
overview.view        + + . . +
people.view          + + . . +
people.change        + . . . .
people.invite        + + . . .
applications.view    + + . . +
applications.decide  + + . . .
policies.view        + + + + +
policies.try         + + + + +
policies.replay      + + . . +
policies.reload      + + . . .
policies.roll-back   + . . . .
proposals.view       + + + + +
proposals.make       + + + + .
proposals.settle     + . . . .
audit.view           + . . . +
tables.view          + + . . +
tables.change        + + . . .
kill-switches.view        + + + + +
kill-switches.use         + + . . .
replicas.view        + + . . +
alerts.view          + + . . +
alerts.change        + . . . .
webhooks.view        + + . . +
webhooks.change      + . . . .
`;

const marks: Readonly<Record<string, Grant>> = { '+': 'yes', o: 'own', '.': 'no' };

export const operationsByHand: Readonly<Record<string, Readonly<Record<Role, Grant>>>> = Object.fromEntries(
  operationLines
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', ...cells] = line.split(/ +/);
      const grants = rolesByHand.map((role, i) => [role, marks[cells[i] ?? '']]);
      return [name, Object.fromEntries(grants) as Record<Role, Grant>];
    }),
);

export type CredentialKind = 'session-or-token' | 'session' | 'proved-session';

/**
 * Routes that accept only some credentials, by credential. All other routes for people accept a session or a
 * token.
 */
const routeLines = `
session         DELETE /v1/session
session         POST   /v1/session/totp
session         POST   /v1/session/passkeys/options
session         GET    /v1/session/passkeys
session         POST   /v1/session/proof/options
session         DELETE /v1/session/notices/{id}
session         GET    /v1/session/recovery-codes
session         GET    /v1/sessions
session         DELETE /v1/sessions/{id}
session         GET    /v1/tokens
session         DELETE /v1/tokens/{id}
session         GET    /v1/chat-links
session         POST   /v1/chat-links/{id}/confirm
session         DELETE /v1/chat-links/{id}
proved-session  POST   /v1/session/password
proved-session  POST   /v1/session/totp/confirm
proved-session  DELETE /v1/session/totp
proved-session  POST   /v1/session/passkeys
proved-session  DELETE /v1/session/passkeys/{id}
proved-session  POST   /v1/tokens
proved-session  POST   /v1/chat-links
proved-session  POST   /v1/session/recovery-codes
proved-session  DELETE /v1/people/{id}/totp
proved-session  POST   /v1/people/{id}/reset-link
`;

export const credentialByHand: ReadonlyMap<string, CredentialKind> = new Map(
  routeLines
    .trim()
    .split('\n')
    .map((line) => {
      const [credential = '', method, path] = line.split(/ +/);
      return [`${method} ${path}`, credential as CredentialKind];
    }),
);

/** The operation of the table that each route belongs to. */
const accessLines = `
agents.view          GET /v1/agents, GET /v1/agents/{id}, GET /v1/agents/{id}/keys
agents.view          GET /v1/agents/{id}/activity, GET /v1/agents/{id}/identities
agents.register      POST /v1/agents
agents.change        PATCH /v1/agents/{id}
agents.disable       POST /v1/agents/{id}/disable
agents.enable        POST /v1/agents/{id}/enable
agents.revoke        POST /v1/agents/{id}/revoke
agents.rotate        POST /v1/agents/{id}/keys
agents.identities    POST /v1/agents/{id}/identities, DELETE /v1/agents/{id}/identities/{identity}
agents.signing       POST /v1/agents/{id}/signing
agents.step-up       POST /v1/requests/{id}/step-up, POST /v1/requests/{id}/step-up/options
agents.step-up       POST /v1/agents/{id}/step-up, POST /v1/agents/{id}/step-up/options
agents.view          GET /v1/agents/{id}/delegations
agents.disable       DELETE /v1/delegations/{id}
points.view          GET /v1/enforcement-points, GET /v1/enforcement-points/{id}, GET /v1/enforcement-points/{id}/keys
points.change        POST /v1/enforcement-points, PATCH /v1/enforcement-points/{id}, POST /v1/enforcement-points/{id}/keys
points.change        POST /v1/enforcement-points/{id}/disable, POST /v1/enforcement-points/{id}/enable, POST /v1/enforcement-points/{id}/revoke
requests.view        GET /v1/requests, GET /v1/requests/count, GET /v1/requests/{id}, GET /v1/requests/export
receipt-keys.view    GET /v1/receipt-keys
receipt-keys.rotate  POST /v1/receipt-keys
requests.view        GET /v1/requests/{id}/explain, GET /v1/requests/{id}/suggestions, GET /v1/requests/{id}/amounts, GET /v1/review-locks, GET /v1/agents/{id}/payload-profile
requests.view        GET /v1/standing-approvals, GET /v1/standing-approvals/{id}
requests.reject      POST /v1/standing-approvals/{id}/revoke
requests.approve     POST /v1/requests/{id}/approve, GET /v1/approvals, POST /v1/requests/{id}/revoke-approval
requests.view        GET /v1/plans, GET /v1/plans/{id}
requests.reject      POST /v1/plans/{id}/votes
requests.reject      POST /v1/approvals/votes, POST /v1/requests/{id}/reject, POST /v1/requests/{id}/comments, POST /v1/requests/{id}/review-lock, DELETE /v1/requests/{id}/review-lock
requests.reject      GET /v1/requests/{id}/assignment, POST /v1/requests/{id}/assignment, DELETE /v1/requests/{id}/assignment, POST /v1/requests/{id}/snooze, DELETE /v1/requests/{id}/snooze
requests.report      POST /v1/requests/{id}/outcome
overview.view        GET /v1/overview
people.view          GET /v1/people, GET /v1/people/{id}, GET /v1/invitations
people.change        PATCH /v1/people/{id}, DELETE /v1/people/{id}/totp, POST /v1/people/{id}/reset-link
people.change        GET /v1/people/{id}/sessions, DELETE /v1/people/{id}/sessions
people.change        DELETE /v1/people/{id}/sessions/{session}
people.change        GET /v1/people/{id}/chat-links, DELETE /v1/people/{id}/chat-links/{link}
people.invite        POST /v1/invitations, DELETE /v1/invitations/{id}
applications.view    GET /v1/applications
applications.decide  POST /v1/applications/{id}/grant, POST /v1/applications/{id}/decline
policies.view        GET /v1/policies/vocabulary, GET /v1/actions, GET /v1/diagnostics/{code}
policies.try         GET /v1/policies/first-request
policies.view        GET /v1/policies/history, GET /v1/policies/state, GET /v1/groups
policies.view        GET /v1/policies, GET /v1/policies/hits, GET /v1/policies/files, GET /v1/policies/file
policies.try         POST /v1/policies/try, POST /v1/policies/diff, GET /v1/policies/diff
policies.try         GET /v1/policies/summary, GET /v1/policies/summary/diff
policies.try         GET /v1/policies/draft, PUT /v1/policies/draft, DELETE /v1/policies/draft
policies.replay      POST /v1/policies/replay
policies.reload      POST /v1/policies/reload
policies.roll-back   POST /v1/policies/roll-back
proposals.view       GET /v1/policies/proposals
proposals.view       GET /v1/policies/proposals/{id}
proposals.make       POST /v1/policies/proposals
proposals.make       POST /v1/policies/proposals/{id}/withdraw
proposals.settle     POST /v1/policies/proposals/{id}/accept
proposals.settle     POST /v1/policies/proposals/{id}/reject
audit.view           GET /v1/audit, GET /v1/audit/export, POST /v1/audit/verify, GET /v1/audit/stream
audit.view           GET /v1/audit/approvals, GET /v1/audit/approvals/export
audit.view           GET /v1/log/proof, GET /v1/log/consistency
tables.view          GET /v1/tables, GET /v1/tables/{name}, GET /v1/tables/{name}/{key}
tables.change        PUT /v1/tables/{name}/{key}, DELETE /v1/tables/{name}/{key}
kill-switches.view        GET /v1/kill-switches
kill-switches.use         POST /v1/kill-switches, POST /v1/kill-switches/{id}/deactivate
replicas.view        GET /v1/replicas
alerts.view          GET /v1/alerts, GET /v1/alerts/active, GET /v1/alert-rules
alerts.change        POST /v1/alert-rules, PATCH /v1/alert-rules/{id}, DELETE /v1/alert-rules/{id}
webhooks.view        GET /v1/webhooks, GET /v1/webhooks/{id}, GET /v1/webhooks/{id}/deliveries
webhooks.change      POST /v1/webhooks, PATCH /v1/webhooks/{id}, DELETE /v1/webhooks/{id}
webhooks.change      POST /v1/webhooks/{id}/secret, POST /v1/webhooks/{id}/test
signed-in            GET /v1/session, DELETE /v1/session, POST /v1/session/password, GET /v1/events
signed-in            POST /v1/session/totp, POST /v1/session/totp/confirm, DELETE /v1/session/totp
signed-in            GET /v1/session/passkeys, POST /v1/session/passkeys, POST /v1/session/passkeys/options
signed-in            DELETE /v1/session/passkeys/{id}, POST /v1/session/proof/options
signed-in            DELETE /v1/session/notices/{id}, GET /v1/sessions, DELETE /v1/sessions/{id}
signed-in            GET /v1/session/recovery-codes, POST /v1/session/recovery-codes
people.change        POST /v1/stand-ins/{id}/confirm
signed-in            GET /v1/stand-ins, POST /v1/stand-ins, DELETE /v1/stand-ins/{id}
signed-in            GET /v1/tokens, POST /v1/tokens, DELETE /v1/tokens/{id}
signed-in            GET /v1/chat-links, POST /v1/chat-links
signed-in            POST /v1/chat-links/{id}/confirm, DELETE /v1/chat-links/{id}
`;

export const accessByHand: ReadonlyMap<string, string> = new Map(
  accessLines
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [access = '', rest = ''] = line.split(/ +(.*)/);
      return rest.split(', ').map((route) => [route, access] as const);
    }),
);
