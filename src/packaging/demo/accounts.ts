// Creates the people and agents of a demo: the account of its visitor, simulated colleagues, and simulated
// agents with their keys.

import { randomBytes } from 'node:crypto';
import type { RunningServer } from '../../service/http/main.ts';
import type { DemoAccount } from '../../service/http/resources/dashboard/dashboard.ts';
import { createTotpSecret, totpAt } from '../../service/people/totp.ts';
import type { DemoAgent } from './agent-calls.ts';
import { createCaller, type DemoCaller } from './exchange.ts';

const colleagues = {
  finance: { name: 'Finance colleague (simulated)', roles: ['approver'], groups: ['finance'] },
  treasury: { name: 'Treasury colleague (simulated)', roles: ['approver', 'owner'], groups: ['finance'] },
  security: { name: 'Security colleague (simulated)', roles: ['approver', 'owner'], groups: ['security'] },
} as const;

export type Colleague = keyof typeof colleagues;

export const colleagueNames = Object.keys(colleagues) as readonly Colleague[];

const agents = {
  'invoice-payer': { risk_tier: 'medium', owner: 'security', tags: ['payments', 'production'] },
  'travel-buyer': { risk_tier: 'low', owner: 'treasury', tags: ['payments'] },
  'treasury-bot': { risk_tier: 'critical', owner: 'security', tags: ['payments', 'production'] },
  'household-banker': { risk_tier: 'high', owner: 'you', tags: ['banking'] },
  'team-assistant': { risk_tier: 'low', owner: 'you', tags: ['chat', 'pilot'] },
} as const satisfies Readonly<Record<DemoAgent, object>>;

export interface DemoAccounts {
  readonly agents: Readonly<Record<DemoAgent, { readonly id: string; readonly caller: DemoCaller }>>;
  readonly colleagues: Readonly<Record<Colleague, DemoCaller>>;
}

export function demoAccount(): Required<DemoAccount> {
  return { email: addressOf('you'), password: newPassword(), totp_secret: createTotpSecret() };
}

/** Registers all people and agents with a new service. */
export async function createDemoAccounts(
  { url, setUpUrl }: Pick<RunningServer, 'url' | 'setUpUrl'>,
  account: DemoAccount,
): Promise<DemoAccounts> {
  const token = setUpUrl?.split('#token=')[1];
  const { id } = await createCaller(url).done('/v1/setup', {
    token,
    name: 'You',
    email: account.email,
    password: account.password,
  });
  const admin = await openSession(url, account);
  const roles = ['admin', 'operator', 'approver', 'owner', 'auditor'];
  await admin.done(`/v1/people/${id}`, { roles, groups: ['finance', 'security'] }, 'PATCH');
  const pairs = colleagueNames.map(async (name) => [name, await join(url, { admin, name })] as const);
  return {
    colleagues: Object.fromEntries(await Promise.all(pairs)) as DemoAccounts['colleagues'],
    agents: await registerAgents(url, admin),
  };
}

/** Opens a person's session, as a browser does. */
export async function openSession(url: string, account: DemoAccount): Promise<DemoCaller> {
  const { body, cookie } = await createCaller(url).send('/v1/session', {
    email: account.email,
    password: account.password,
  });
  return createCaller(url, { cookie: cookie ?? '', 'x-csrf-token': body.csrf_token });
}

/** Sets up one-time codes for the visitor, so that they can step up. Each code is good once. */
export async function setUpCodes(url: string, account: Required<DemoAccount>, nowMs: number): Promise<void> {
  const session = await openSession(url, account);
  const { password, totp_secret: secret } = account;
  const code = totpAt(secret, nowMs);
  await session.done('/v1/session/totp/confirm', { secret, code, password });
  const { body } = await session.send('/v1/session', undefined, 'GET');
  for (const { id } of body.notices) await session.done(`/v1/session/notices/${id}`, undefined, 'DELETE');
  await session.done('/v1/session', undefined, 'DELETE');
}

interface NewPerson {
  readonly admin: DemoCaller;
  readonly name: Colleague;
}

/**
 * Lets a colleague join, with a token. A session would end when nothing happens in it for long, and the past
 * of a demo is a week.
 */
async function join(url: string, { admin, name }: NewPerson): Promise<DemoCaller> {
  const account = { email: addressOf(name), password: newPassword() };
  const invited = await admin.done('/v1/invitations', { email: account.email, ...colleagues[name] });
  await createCaller(url).done('/v1/invitations/accept', {
    token: invited.token,
    password: account.password,
  });
  const session = await openSession(url, account);
  const draft = { name: 'demo', roles: colleagues[name].roles, days: 90, password: account.password };
  const { token } = await session.done('/v1/tokens', draft);
  return createCaller(url, { authorization: `Bearer ${token}` });
}

async function registerAgents(url: string, admin: DemoCaller): Promise<DemoAccounts['agents']> {
  const registered: Partial<Record<DemoAgent, DemoAccounts['agents'][DemoAgent]>> = {};
  for (const [name, { owner, ...draft }] of Object.entries(agents)) {
    const made = await admin.done('/v1/agents', { name, control_owner: addressOf(owner), ...draft });
    const caller = createCaller(url, { 'x-agent-api-key': made.api_key });
    registered[name as DemoAgent] = { id: made.agent.id, caller };
  }
  return registered as DemoAccounts['agents'];
}

function addressOf(name: string): string {
  return `${name}@demo.example`;
}

function newPassword(): string {
  return randomBytes(12).toString('base64url');
}
