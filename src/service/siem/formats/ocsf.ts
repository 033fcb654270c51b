// Turns events into events of the Open Cybersecurity Schema Framework, version 1.8.0 (github.com/ocsf/ocsf-schema, tag
// 1.8.0): decisions and refusals are API Activity, changes are of the classes for identity and access, and what has no
// class of its own is a Base Event. INVARIANT: each event has all attributes that its class requires.

import { type ChangeFamily, familyOf } from '../events/change-families.ts';
import {
  type ChangeEvent,
  codeOf,
  type DecisionEvent,
  messageOf,
  type RefusalEvent,
  type RequestChangeEvent,
  type Severity,
  type SiemEvent,
  severityOf,
} from '../events/event.ts';

const ocsfVersion = '1.8.0';

type Attributes = Readonly<Record<string, unknown>>;

/** The event as one line of JSON. `version` is the version of Writ. */
export function ocsfEvent(event: SiemEvent, version: string): string {
  const { classUid, activityId, activityName, attributes } = classed(event);
  const code = codeOf(event);
  return JSON.stringify({
    activity_id: activityId,
    activity_name: activityName,
    category_uid: Math.floor(classUid / 1_000),
    class_uid: classUid,
    type_uid: classUid * 100 + activityId,
    time: event.atMs,
    ...severities[severityOf(event)],
    message: messageOf(event),
    metadata: {
      version: ocsfVersion,
      product: { name: 'Writ', vendor_name: 'Writ', version },
      log_name: 'records',
      sequence: event.sequence,
      uid: event.uid,
      event_code: code,
      ...(correlationOf(event) === null ? {} : { correlation_uid: correlationOf(event) }),
      ...('action_id' in attributes ? { profiles: ['security_control'] } : {}),
    },
    ...attributes,
    unmapped: { lane: event.lane, follows: event.follows, ...unmappedOf(event) },
  });
}

const severities: Readonly<Record<Severity, Attributes>> = {
  informational: { severity_id: 1, severity: 'Informational' },
  low: { severity_id: 2, severity: 'Low' },
  medium: { severity_id: 3, severity: 'Medium' },
  high: { severity_id: 4, severity: 'High' },
};

interface Classed {
  readonly classUid: number;
  readonly activityId: number;
  readonly activityName: string;
  readonly attributes: Attributes;
}

const other = 99;
const classes = {
  base: 0,
  account: 3001,
  authentication: 3002,
  entity: 3004,
  group: 3006,
  api: 6003,
} as const;

function classed(event: SiemEvent): Classed {
  switch (event.kind) {
    case 'decision':
      return apiActivity('Authorize', ofDecision(event));
    case 'refusal':
      return apiActivity('Refuse', ofRefusal(event));
    case 'request-change':
      return {
        classUid: classes.entity,
        activityId: 3,
        activityName: 'Update',
        attributes: ofRequestChange(event),
      };
    case 'change':
      return ofChange(event, familyOf(event.what));
    case 'knot':
    case 'gap':
    case 'unreadable':
      return { classUid: classes.base, activityId: other, activityName: event.kind, attributes: {} };
  }
}

/** What agents ask for is none of the schema's activities (create, read, update, delete), so it has a name of its own. */
function apiActivity(activityName: string, attributes: Attributes): Classed {
  return { classUid: classes.api, activityId: other, activityName, attributes };
}

function ofDecision(event: DecisionEvent): Attributes {
  const { agentId, agentName, requestId, action, payload, user } = event;
  return {
    actor: {
      app_name: agentName,
      app_uid: agentId,
      ...(user === null
        ? {}
        : { user: withoutNulls({ uid: user.id, name: user.email, email_addr: user.email }) }),
    },
    api: {
      operation: action,
      request: { uid: requestId, ...(Object.keys(payload).length === 0 ? {} : { data: payload }) },
      service: { name: 'Writ' },
    },
    src_endpoint: { ip: event.clientAddress, ...(event.point === null ? {} : { svc_name: event.point }) },
    ...resultOf(event),
    risk_score: event.risk,
    ...statusOf(event.outcome, event.status),
  };
}

/** The authorization result: the decision with the policy that made it, and what it means for the request. */
function resultOf(decision: Pick<DecisionEvent, 'outcome' | 'policy' | 'rule'> & { policySet?: string }) {
  const { outcome, policy, rule, policySet } = decision;
  return {
    ...(dispositions[outcome] ?? dispositions.DENY),
    authorizations: [
      {
        decision: outcome,
        policy: {
          name: policy,
          uid: rule,
          is_applied: true,
          ...(policySet === undefined ? {} : { version: policySet }),
        },
      },
    ],
  };
}

const dispositions: Readonly<Record<string, Attributes>> = {
  ALLOW: { action_id: 1, action: 'Allowed', disposition_id: 1, disposition: 'Allowed' },
  DENY: { action_id: 2, action: 'Denied', disposition_id: 2, disposition: 'Blocked' },
  ESCALATE: { action_id: 99, action: 'Escalated', disposition_id: 14, disposition: 'Delayed' },
  REAUTH_REQUIRED: {
    action_id: 99,
    action: 'Step-up required',
    disposition_id: 23,
    disposition: 'Challenge',
  },
};

function statusOf(outcome: string, code: string): Attributes {
  if (outcome === 'ALLOW') return { status_id: 1, status: 'Success', status_code: code };
  if (outcome === 'DENY') return { status_id: 2, status: 'Failure', status_code: code };
  return { status_id: 99, status: 'Pending', status_code: code };
}

function ofRefusal({
  agentId,
  refusalId,
  code,
  detail,
  httpStatus,
  clientAddress,
}: RefusalEvent): Attributes {
  return {
    actor: { app_uid: agentId },
    api: {
      operation: 'authorize',
      request: { uid: refusalId },
      response: { code: httpStatus, error: code, error_message: detail },
      service: { name: 'Writ' },
    },
    http_response: { code: httpStatus },
    src_endpoint: { ip: clientAddress },
    action_id: 2,
    action: 'Denied',
    disposition_id: 25,
    disposition: 'Rejected',
    status_id: 2,
    status: 'Failure',
    status_code: code,
    status_detail: detail,
  };
}

function ofRequestChange(event: RequestChangeEvent): Attributes {
  const { requestId, who, status, decision } = event;
  return {
    actor: actorOf(who),
    entity: { uid: requestId, type: 'request' },
    ...(decision === null ? {} : resultOf(decision)),
    status_id: 1,
    status: 'Success',
    status_code: status,
  };
}

function ofChange(event: ChangeEvent, { of, type }: ChangeFamily): Classed {
  const { what, who, subject, before, after } = event;
  const common = { actor: actorOf(who), status_id: 1, status: 'Success' };
  const classOf = (activity: Activity | undefined, attributes: Attributes): Classed => {
    const [activityId, activityName] = activity ?? [other, what];
    return { classUid: classes[of], activityId, activityName, attributes: { ...common, ...attributes } };
  };
  switch (of) {
    case 'account':
      return classOf(accountActivities[what], { user: userOf(subject) });
    case 'authentication':
      return classOf(authenticationActivities[what], { user: userOf(who), service: { name: 'Writ' } });
    case 'group':
      return classOf(groupActivities[what], { group: { name: subject, uid: subject } });
    case 'entity':
      return classOf(entityActivities.find(([end]) => what.endsWith(end))?.[1], {
        entity: { uid: subject === '' ? type : subject, type, ...(before === null ? {} : { data: before }) },
        ...(after === null
          ? {}
          : { entity_result: { uid: subject === '' ? type : subject, type, data: after } }),
      });
  }
}

type Activity = readonly [number, string];

const accountActivities: Readonly<Record<string, Activity>> = {
  'person-invited': [1, 'Create'],
  'person-provisioned': [1, 'Create'],
  'first-admin-set-up': [1, 'Create'],
  'access-granted': [1, 'Create'],
  'password-changed': [3, 'Password Change'],
  'password-reset': [4, 'Password Reset'],
  'provisioning-ended': [5, 'Disable'],
  'codes-set-up': [10, 'MFA Factor Enable'],
  'passkey-added': [10, 'MFA Factor Enable'],
  'codes-removed': [11, 'MFA Factor Disable'],
  'passkey-removed': [11, 'MFA Factor Disable'],
  'factors-reset': [11, 'MFA Factor Disable'],
};

const authenticationActivities: Readonly<Record<string, Activity>> = {
  'signed-in': [1, 'Logon'],
  'person-signed-on': [1, 'Logon'],
  'session-ended': [2, 'Logoff'],
  'sessions-ended': [2, 'Logoff'],
};

const groupActivities: Readonly<Record<string, Activity>> = {
  'group-provisioned': [6, 'Create'],
  'group-removed': [5, 'Delete'],
};

/** By the end of the kind of change. */
const entityActivities: readonly (readonly [string, Activity])[] = [
  ...(['-added', '-made', '-created', '-pushed', '-submitted'] as const).map(
    (end) => [end, [1, 'Create']] as const,
  ),
  ...(['-changed', '-rotated', '-over'] as const).map((end) => [end, [3, 'Update']] as const),
  ...(['-removed', '-revoked', '-withdrawn', '-pruned'] as const).map((end) => [end, [4, 'Delete']] as const),
  ['-enabled', [8, 'Enable']],
  ['-disabled', [9, 'Disable']],
  ['-deactivated', [11, 'Deactivate']],
  ['-activated', [10, 'Activate']],
];

/** Who did it: a person by `address (id)`, or a part of the service. */
function actorOf(who: string): Attributes {
  return who.includes('@') ? { user: userOf(who) } : { app_name: who };
}

function userOf(text: string): Attributes {
  const [, email, id] = /^(\S+@\S+) \((\S+)\)$/.exec(text) ?? [];
  if (email === undefined || id === undefined) return text.includes('@') ? { name: text } : { uid: text };
  return { name: email, uid: id, email_addr: email };
}

function correlationOf(event: SiemEvent): string | null {
  return event.kind === 'decision' || event.kind === 'request-change' ? event.requestId : null;
}

/** What the schema has no attribute for. */
function unmappedOf(event: SiemEvent): Attributes {
  switch (event.kind) {
    case 'decision':
      return withoutNulls({ key_id: event.keyId, is_signed: event.isSigned, session: event.session });
    case 'refusal':
      return { key_id: event.keyId };
    case 'request-change':
      return withoutNulls({ group: event.group, executed: event.wasExecuted });
    case 'change':
      return familyOf(event.what).of === 'entity'
        ? {}
        : withoutNulls({ subject: event.subject, before: event.before, after: event.after });
    case 'gap':
      return { first_sequence: event.firstSequence, last_sequence: event.sequence, because: event.because };
    case 'knot':
    case 'unreadable':
      return {};
  }
}

function withoutNulls(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null));
}
