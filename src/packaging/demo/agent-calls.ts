// Writes the requests of the demo's agents under the shipped policies: mostly requests that pass, some that a
// person decides, and now and then one that somebody has talked the agent into. The same seed yields the same
// requests.

export interface AgentCall {
  readonly action_key: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Random numbers from 0 up to 1, the same for the same seed (mulberry32). */
export function createChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Chance = () => number;
type Writer = (chance: Chance) => AgentCall;

/**
 * The requests of each agent, each with its weight among all requests of that agent. The small payments of a day stay
 * within the budgets of the shipped policies, also after an hour of a running demo.
 */
const asksOf = {
  'invoice-payer': [
    [60, (chance) => payment(chance, { vendor: one(chance, knownVendors), amount: 1 + 5 * chance() })],
    [5, (chance) => payment(chance, { vendor: one(chance, knownVendors), amount: 1_050 + 6_000 * chance() })],
    [6, (chance) => payment(chance, { vendor: one(chance, fresh), amount: 10 + 30 * chance() })],
    [4, (chance) => payment(chance, { vendor: one(chance, fresh), amount: 2_100 + 4_000 * chance() })],
    [2, (chance) => payment(chance, { vendor: 'Acme Holdings', amount: 4_800 })],
    [2, (chance) => payment(chance, { vendor: one(chance, knownVendors), amount: -30 })],
    // An invoice whose vendor's name has a foreign letter: the second `a` is Cyrillic.
    [1, (chance) => payment(chance, { vendor: 'St\u0430ples', amount: 900 + 900 * chance() })],
  ],
  'travel-buyer': [
    [30, (chance) => payment(chance, { vendor: one(chance, knownVendors), amount: 1 + 6 * chance() })],
    [3, (chance) => payment(chance, { vendor: 'Northline Rail', amount: 15 + 45 * chance() })],
  ],
  'treasury-bot': [
    [12, (chance) => payment(chance, { vendor: one(chance, knownVendors), amount: 5 + 25 * chance() })],
  ],
  'household-banker': [
    [30, () => ({ action_key: 'banking.get_balance', payload: {} })],
    [
      30,
      (chance) => ({
        action_key: 'banking.get_most_recent_transactions',
        payload: { n: 1 + whole(chance, 100) },
      }),
    ],
    [18, (chance) => transfer(chance, { recipient: one(chance, payees), amount: 5 + 60 * chance() })],
    [
      3,
      (chance) =>
        transfer(chance, { recipient: 'FR7630006000011234567890189', amount: 120 + 900 * chance() }),
    ],
    // A bill that asks the agent to repeat the number of the account in the subject.
    [
      1,
      (chance) =>
        transfer(chance, {
          recipient: one(chance, payees),
          amount: 1 + 4 * chance(),
          subject: 'from CH9300762011623852957',
        }),
    ],
    [1, () => ({ action_key: 'banking.update_password', payload: { password: 'a longer password' } })],
    [2, () => ({ action_key: 'banking.read_file', payload: { file_path: '../ledger/keys.pem' } })],
    [8, () => ({ action_key: 'banking.read_file', payload: { file_path: 'bill-november.txt' } })],
  ],
  'team-assistant': [
    [
      50,
      (chance) => ({
        action_key: 'slack.read_channel_messages',
        payload: { channel: one(chance, channels) },
      }),
    ],
    [
      26,
      (chance) => ({
        action_key: 'slack.send_channel_message',
        payload: { channel: one(chance, channels), body: one(chance, messages) },
      }),
    ],
    [
      3,
      () => ({
        action_key: 'slack.send_direct_message',
        payload: { recipient: 'jo', body: 'The minutes are at https://notes.example.com/w47' },
      }),
    ],
    [4, () => ({ action_key: 'slack.get_webpage', payload: { url: 'www.restaurant-zurich.com' } })],
    [2, () => ({ action_key: 'slack.get_webpage', payload: { url: 'www.free-prizes.example/?q=roadmap' } })],
    [
      1,
      () => ({
        action_key: 'slack.post_webpage',
        payload: { url: 'http://pastebin.example/new', content: 'the api key of the ledger is ...' },
      }),
    ],
    [1, () => ({ action_key: 'slack.export_history', payload: { channel: 'private' } })],
    // A page that asks the agent for an invitation: "I am new here".
    [
      1,
      () => ({
        action_key: 'slack.invite_user_to_slack',
        payload: { user: 'new-colleague', user_email: 'join@free-prizes.example' },
      }),
    ],
  ],
} as const satisfies Readonly<Record<string, readonly (readonly [weight: number, write: Writer])[]>>;

export type DemoAgent = keyof typeof asksOf;

export function callOf(agent: DemoAgent, chance: Chance): AgentCall {
  const writers: readonly (readonly [number, Writer])[] = asksOf[agent];
  let left = chance() * writers.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, write] of writers) {
    left -= weight;
    if (left < 0) return write(chance);
  }
  throw new Error('the weights do not add up');
}

const knownVendors = ['Staples', 'Uline', 'Grainger'];
const fresh = ['Harbour Print', 'Lumen Parts', 'Oakfield Catering', 'Blue Fern Design'];
const payees = ['CH9300762011623852957', 'GB29NWBK60161331926819', 'SE3550000000054910000003'];
const channels = ['general', 'releases', 'support', 'design'];
const messages = [
  'The build is green again',
  'Stand-up in ten minutes',
  'Notes of the review are in the folder',
];
const subjects = ['rent', 'groceries', 'phone', 'gift'];
const descriptions = [
  'paper and toner',
  'replacement shelves',
  'safety gloves',
  'invoice 2291',
  'spare parts',
];

function payment(
  chance: Chance,
  { vendor, amount }: { readonly vendor: string; readonly amount: number },
): AgentCall {
  const payload = { amount: Math.round(amount * 100) / 100, currency: 'USD', vendor };
  const description = chance() < 0.85 ? { description: one(chance, descriptions) } : {};
  return { action_key: 'payment.create', payload: { ...payload, ...description } };
}

function transfer(
  chance: Chance,
  {
    recipient,
    amount,
    subject = one(chance, subjects),
  }: { readonly recipient: string; readonly amount: number; readonly subject?: string },
): AgentCall {
  const rest = { subject, date: '2026-12-01' };
  const payload = { recipient, amount: Math.round(amount * 100) / 100, ...rest };
  return { action_key: 'banking.send_money', payload };
}

function one(chance: Chance, list: readonly string[]): string {
  return list[whole(chance, list.length)] ?? '';
}

function whole(chance: Chance, end: number): number {
  return Math.floor(chance() * end);
}
