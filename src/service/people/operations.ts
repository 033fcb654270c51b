// Who may do what: roles of people against operations of the management API, as one table. `own` grants only
// what belongs to the person: to an approver the requests that wait for one of their groups, to an owner
// their own agents and those agents' requests, and to the control owner of an agent what that agent's
// requests ask of the control owner. INVARIANT: what the table does not grant is refused; roles only add to
// each other.

export const roles = ['admin', 'operator', 'approver', 'owner', 'auditor'] as const;
export type Role = (typeof roles)[number];

export type Grant = 'yes' | 'own' | 'no';

type Row = Readonly<Record<Role, Grant>>;

export const operations = {
  'agents.view': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'own', auditor: 'yes' },
  'agents.register': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'no' },
  'agents.change': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'no' },
  'agents.disable': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'own', auditor: 'no' },
  'agents.enable': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'no' },
  'agents.revoke': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'no' },
  'agents.rotate': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'no' },
  'agents.identities': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'no' },
  'agents.signing': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'no' },
  // Only the control owner can answer for an agent; not even an admin does so in their place.
  'agents.step-up': { admin: 'own', operator: 'own', approver: 'own', owner: 'own', auditor: 'no' },
  'points.view': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'yes' },
  // Not more than the right to make an agent a new key, which also lets a person ask as that agent.
  'points.change': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'no' },
  'requests.view': { admin: 'yes', operator: 'yes', approver: 'own', owner: 'own', auditor: 'yes' },
  // An approval is given for a group by one of its people, or by the control owner; not even an admin
  // approves in their place.
  'requests.approve': { admin: 'own', operator: 'own', approver: 'own', owner: 'own', auditor: 'no' },
  'requests.reject': { admin: 'yes', operator: 'own', approver: 'own', owner: 'own', auditor: 'no' },
  'requests.report': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'own', auditor: 'no' },
  'receipt-keys.view': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'yes' },
  'receipt-keys.rotate': { admin: 'yes', operator: 'no', approver: 'no', owner: 'no', auditor: 'no' },
  'overview.view': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'yes' },
  'people.view': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'yes' },
  'people.change': { admin: 'yes', operator: 'no', approver: 'no', owner: 'no', auditor: 'no' },
  'people.invite': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'no' },
  'applications.view': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'yes' },
  'applications.decide': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'no' },
  'policies.view': { admin: 'yes', operator: 'yes', approver: 'yes', owner: 'yes', auditor: 'yes' },
  'policies.try': { admin: 'yes', operator: 'yes', approver: 'yes', owner: 'yes', auditor: 'yes' },
  // A replay counts all requests, so only people who may see all of them start one.
  'policies.replay': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'yes' },
  'policies.reload': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'no' },
  // Rolling back changes the policies, and whoever sets policies decides what everybody may do.
  'policies.roll-back': { admin: 'yes', operator: 'no', approver: 'no', owner: 'no', auditor: 'no' },
  'proposals.view': { admin: 'yes', operator: 'yes', approver: 'yes', owner: 'yes', auditor: 'yes' },
  'proposals.make': { admin: 'yes', operator: 'yes', approver: 'yes', owner: 'yes', auditor: 'no' },
  // Whoever accepts a proposal sets policies, as whoever rolls back does.
  'proposals.settle': { admin: 'yes', operator: 'no', approver: 'no', owner: 'no', auditor: 'no' },
  'audit.view': { admin: 'yes', operator: 'no', approver: 'no', owner: 'no', auditor: 'yes' },
  'tables.view': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'yes' },
  'tables.change': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'no' },
  'kill-switches.view': { admin: 'yes', operator: 'yes', approver: 'yes', owner: 'yes', auditor: 'yes' },
  'kill-switches.use': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'no' },
  'replicas.view': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'yes' },
  'alerts.view': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'yes' },
  'alerts.change': { admin: 'yes', operator: 'no', approver: 'no', owner: 'no', auditor: 'no' },
  'webhooks.view': { admin: 'yes', operator: 'yes', approver: 'no', owner: 'no', auditor: 'yes' },
  'webhooks.change': { admin: 'yes', operator: 'no', approver: 'no', owner: 'no', auditor: 'no' },
} as const satisfies Readonly<Record<string, Row>>;

export type OperationName = keyof typeof operations;

/**
 * Roles that only an admin may give; the same holds for groups. An operator who could give them would be more
 * than an operator.
 */
export const rolesOfAdmins: readonly Role[] = ['admin', 'operator', 'approver'];

/** Roles that an admin gives only in a session: a token that could give them would outlive itself. */
export const rolesOfSessions: readonly Role[] = ['admin', 'operator'];

/** Returns the most that any of the roles grants. */
export function grantOf(ofPerson: readonly Role[], operation: OperationName): Grant {
  const grants: ReadonlySet<Grant> = new Set(ofPerson.map((role) => (operations[operation] as Row)[role]));
  return grants.has('yes') ? 'yes' : grants.has('own') ? 'own' : 'no';
}

/** The objects on which a person may use an operation. */
export interface GrantScope {
  /** Everything that the operation is about. */
  readonly all: boolean;
  /** Agents in the person's charge, and what these agents ask. */
  readonly own: boolean;
  /** Requests that ask one of the person's groups. */
  readonly asked: boolean;
  /** Requests that ask the person by name, or as the control owner of their agent. */
  readonly asOwner: boolean;
}

/**
 * Returns what each role grants by itself, taken together: a role's `own` covers only that role's part,
 * whatever another role allows on other things.
 */
export function grantScopeOf(ofPerson: readonly Role[], operation: OperationName): GrantScope {
  const row: Row = operations[operation];
  const ownRoles = ofPerson.filter((role) => row[role] === 'own');
  return {
    all: ofPerson.some((role) => row[role] === 'yes'),
    own: ownRoles.some((role) => isOfCharge(role, operation)),
    asked:
      ownRoles.some((role) => role === 'admin' || role === 'approver') && operation.startsWith('requests.'),
    asOwner: ownRoles.some((role) => !isOfCharge(role, operation) || isOfAsked(operation)),
  };
}

/** Whether a person whom a request asks by name may do this, whatever else their role covers. */
function isOfAsked(operation: OperationName): boolean {
  return operation === 'requests.view' || operation === 'requests.reject';
}

/**
 * Whether `own` means agents in the person's charge and all that these ask; otherwise `own` means what the
 * person is asked.
 */
function isOfCharge(role: Role, operation: OperationName): boolean {
  return operation === 'agents.step-up' || (role === 'owner' && operation !== 'requests.approve');
}

/** Returns all that roles grant, by operation; refused operations are absent. */
export function grantsOf(ofPerson: readonly Role[]): Readonly<Partial<Record<OperationName, 'yes' | 'own'>>> {
  const names = Object.keys(operations) as OperationName[];
  return Object.fromEntries(
    names.map((name) => [name, grantOf(ofPerson, name)]).filter(([, grant]) => grant !== 'no'),
  );
}
