// Random policy sets as texts of declarations that refer to one another. Names come from small pools, so that
// rules meet, imply and repeat each other, and so that a removed or renamed declaration is missing somewhere.

import fc from 'fast-check';

export type Draw = (max: number) => number;

/** A set as files, each a list of declarations. */
export type Texts = readonly (readonly string[])[];

const of = <T>(draw: Draw, items: readonly T[]): T => items[draw(items.length)]!;

const actionKeys = ['pay.create', 'pay.refund', 'mail.send', 'mail.read', 'order.place'];
const patterns = [...actionKeys, ...actionKeys, 'pay.*', '*.create', '*', 'money', 'pay.create, mail.*'];
const lists = ['known', 'blocked', 'all_names'];
const lets = ['small', 'trusted', 'bound', 'whole'];

/** One declaration; `name` keeps policies distinct. */
function declaration(draw: Draw, name: string): string {
  switch (draw(14)) {
    case 0:
      return action(draw);
    case 1:
      return of(draw, [
        'group money',
        'approvers finance "Finance"',
        'approvers finance "Finance" by chat up to risk 40',
        'approvers finance "Finance" by chat up to risk 400',
        'approvers security "Security"',
        'type short = string ..8',
      ]);
    case 2:
      return list(draw);
    case 3:
      return aLet(draw);
    case 4:
      return meter(draw);
    case 5:
      return of(draw, [
        'hours office = mon-fri 09:00-17:00 in "Europe/Berlin"',
        'hours office = mon-sat 08:00-17:00 in "Europe/Berlin" except days',
        'list days = [2026-12-25]',
      ]);
    case 6:
      return guarantee(draw, name);
    default:
      return policy(draw, name);
  }
}

function guarantee(draw: Draw, name: string): string {
  return `guarantee ${name} on ${of(draw, patterns)} { never allow when ${condition(draw)} }`;
}

function action(draw: Draw): string {
  const kind = of(draw, ['"a" | "b" | "c"', '"a" | "b" | "c" | "d"', 'string', 'short']);
  const amount = of(draw, ['number', 'number 0..', 'number 0..100']);
  const note = of(draw, ['note?: string', 'note: string ..20', 'note?: string | null']);
  const group = of(draw, [' in money', '', '']);
  return `action ${of(draw, actionKeys)}${group} { kind: ${kind}, amount: ${amount}, ${note}, cost: money(currency), currency: ${of(draw, ['"USD"', '"USD" | "EUR"'])} }`;
}

function list(draw: Draw): string {
  return of(draw, [
    'list known = ["a", "b"]',
    'list known = ["a", "B", "c"]',
    'list known = ["a", "b", "c"]',
    'list blocked ignoring case = ["c"]',
    'list blocked = ["c", "x"]',
    'list all_names ignoring case = known + blocked',
    'list all_names from "names.txt"',
  ]);
}

function aLet(draw: Draw): string {
  return of(draw, [
    `let small = payload.amount < ${draw(4) * 10}`,
    'let small = payload.kind == "a" or payload.amount < 5',
    'let trusted = agent.risk_tier in ["low", "medium"]',
    'let trusted = payload has note and payload.note != "x"',
    `let bound = ${draw(3) * 10}`,
    'let whole = small and trusted',
    'let whole = small and payload has note',
    'let whole = (payload.note else "none") == "none"',
    ...(draw(4) === 0 ? ['let small = whole'] : []),
  ]);
}

function meter(draw: Draw): string {
  return of(draw, [
    'meter spent = sum(payload.amount) of pay.create per agent over 24h',
    'meter spent = sum(payload.amount) of pay.* per session over 24h',
    'meter spent = count() of * when small per agent over 1h',
    'meter times = count() of mail.send per session over 1h',
  ]);
}

function policy(draw: Draw, name: string): string {
  const when = draw(4) === 0 ? ` when ${condition(draw)}` : '';
  const except = draw(8) === 0 ? ' except pay.refund' : '';
  const rules = Array.from({ length: 1 + draw(3) }, (_, at) => rule(draw, `r${at}`));
  return `${draw(12) === 0 ? 'shadow ' : ''}policy ${name} on ${of(draw, patterns)}${except}${when} {\n  ${rules.join('\n  ')}\n}`;
}

function rule(draw: Draw, name: string): string {
  const when = draw(6) === 0 ? '' : ` when ${condition(draw)}`;
  const unless = draw(6) === 0 ? ` unless ${condition(draw)}` : '';
  const points = draw(5) === 0 ? ' risk +20' : '';
  const because = draw(6) === 0 ? ' because "at {payload.amount}"' : '';
  switch (draw(7)) {
    case 0:
      return `deny ${name}${when}${unless}${points}${because}`;
    case 1:
      return `escalate ${name} to ${of(draw, ['finance', 'security', 'owner'])}${when}${unless}${points}`;
    case 2:
      return `risk ${name} +${10 + 10 * draw(3)}${when}`;
    case 3:
      return `reauth ${name}${when}`;
    case 4:
      return `deny ${name} when risk >= ${of(draw, ['30', 'bound', '90'])}`;
    default:
      return `allow ${name}${draw(3) === 0 ? ' for 10m' : ''}${when}${unless}${because}`;
  }
}

function condition(draw: Draw): string {
  const tests = Array.from({ length: 1 + draw(3) }, () => test(draw));
  const [first = 'true', ...rest] = tests;
  return rest.reduce((text, next) => (draw(4) === 0 ? `(${text} or ${next})` : `${text} and ${next}`), first);
}

function test(draw: Draw): string {
  switch (draw(16)) {
    case 0:
      return `payload.kind == "${of(draw, ['a', 'b', 'c'])}"`;
    case 1:
      return `payload.kind in ["a", "${of(draw, ['b', 'c'])}"]`;
    case 2:
      return `payload.kind ${of(draw, ['in', 'not in'])} ${of(draw, lists)}`;
    case 3:
      return 'payload has note';
    case 4:
      return 'payload has note and payload.note contains "x"';
    case 5:
      return `payload.amount in ${draw(3) * 10}..${20 + draw(3) * 10}`;
    case 6:
      return of(
        draw,
        lets.filter((name) => name !== 'bound'),
      );
    case 7:
      return `payload.cost <= ${draw(3) * 100} ${of(draw, ['USD', 'EUR'])}`;
    case 8:
      return of(draw, ['spent > 100', 'times > 3', 'now in office']);
    case 9:
      return `action.key == "${of(draw, actionKeys)}"`;
    case 10:
      return `not (payload.kind == "${of(draw, ['a', 'b'])}")`;
    default:
      return `payload.amount ${of(draw, ['<', '<=', '>', '>=', '=='])} ${of(draw, ['5', '10', '20', 'bound'])}`;
  }
}

/** Files of declarations that most others depend on, and some random ones. */
export function randomTexts(draw: Draw): Texts {
  const basis = [
    ...actionKeys.map((key) => action(draw).replace(/action \S+/, `action ${key}`)),
    'group money',
    action(draw).replace(/action \S+( in money)?/, 'action stock.count in money'),
    'type short = string ..8',
    'approvers finance "Finance"',
    'approvers security "Security"',
    'list known = ["a", "b"]',
    'list blocked = ["c"]',
    'list all_names = known + blocked',
    'let small = payload.amount < 10',
    'let trusted = agent.risk_tier == "low"',
    'let bound = 50',
    'let whole = small and trusted',
    'meter spent = sum(payload.amount) of pay.create per agent over 24h',
    'meter times = count() of mail.send per session over 1h',
    'hours office = mon-fri 09:00-17:00 in "Europe/Berlin"',
  ];
  const others = Array.from({ length: 3 + draw(10) }, (_, at) =>
    draw(9) === 0 ? guarantee(draw, `p${at}`) : policy(draw, `p${at}`),
  );
  const files = Array.from({ length: 2 + draw(2) }, (): string[] => []);
  for (const text of [...basis, ...others]) of(draw, files).push(text);
  return files;
}

/**
 * One change: a declaration is added, removed, replaced, moved or changed in one word, or a comment moves the
 * rest.
 */
export function edited(texts: Texts, draw: Draw, step: number): Texts {
  const files = texts.map((file) => [...file]);
  const file = of(draw, files);
  const at = draw(Math.max(1, file.length));
  switch (draw(9)) {
    case 0:
      file.splice(at, 0, declaration(draw, `q${step}`));
      break;
    case 1:
      file.splice(at, 1);
      break;
    case 2:
      file.splice(at, 1, another(file[at] ?? '', draw));
      break;
    case 3:
      file.splice(at, 0, '# moved');
      break;
    case 4:
      of(draw, files).push(...file.splice(at, 1));
      break;
    case 5:
      file[at] = (file[at] ?? '').replace('payload.kind', 'payload.kinds');
      break;
    case 6:
      file[at] = (file[at] ?? '').replace('payload.kinds', 'payload.kind');
      break;
    case 7:
      file[at] = (file[at] ?? '').replace(/\b(small|trusted|known|p\d)\b/, 'renamed');
      break;
    default:
      file[at] = (file[at] ?? '').replace(/\d+/, String(draw(4) * 10));
  }
  return files;
}

/** Another declaration of the same name, if one is drawn. */
function another(text: string, draw: Draw): string {
  const [, kind = '', name = ''] = /^(\w+) ([\w.]+)/.exec(text) ?? [];
  for (let tries = 0; tries < 60; tries++) {
    const next = kind === 'policy' ? policy(draw, name) : declaration(draw, name);
    if (next.startsWith(`${kind} ${name} `)) return next;
  }
  return text;
}

/** A source of numbers below a maximum; its stream shrinks. */
export const draws: fc.Arbitrary<Draw> = fc
  .infiniteStream(fc.nat(1_000_000_000))
  .map((numbers) => (max) => (numbers.next().value as number) % max);
