// Terms into JavaScript expressions. Numbers of the payload stay JavaScript numbers, whatever is parsed or computed is
// a quantity; undefined and null are unknown. INVARIANT: a term's code is total, it never throws on a payload of the
// shape.

import type { Builtin } from '../model/builtins.ts';
import type { Value } from '../model/value.ts';
import { canonical } from '../program/canonical.ts';
import { isDecimal, isMoney } from '../program/condition.ts';
import type { RequestFact, Sort, Term } from '../program/program.ts';
import { formatDecimal } from '../value/decimal.ts';
import { type Js, joinJs, js } from './js.ts';
import { loopTerm } from './loops.ts';
import { plainNumber } from './quantity.ts';
import { elseCode, readCode, valuesOf } from './reads.ts';
import type { RuntimeName } from './runtime.ts';
import { commaJs, temporary, use, type Writer } from './writer.ts';

/** An expression that yields the term's value, or undefined or null where it is unknown. */
export function termCode(writer: Writer, term: Term): Js {
  const value = (operand: Term): Js => writer.unit.term(writer, operand);
  switch (term.kind) {
    case 'literal':
      return literalCode(writer, term.value);
    case 'read':
      return readCode(writer, term);
    case 'absent':
      return js`undefined`;
    case 'truth': {
      const code = writer.unit.condition(writer, term.condition);
      return code.isTwoValued ? code.js : js`${use(writer, 'truthValue')}(${code.js})`;
    }
    case 'fact':
      return factCode(writer, term.fact);
    case 'meter':
      return js`${use(writer, 'readMeter')}(f.meters, ${term.meter}, ${term.currency})`;
    case 'now':
      return js`${use(writer, 'readNow')}(f.nowMs)`;
    case 'risk':
      return js`s.risk`;
    case 'let':
      return js`${writer.unit.shared[term.index]!}(f, s)`;
    case 'else':
      return elseCode(writer, term.subject, valuesOf(writer, term.fallback, value(term.fallback)));
    case 'arithmetic':
      return js`${use(writer, operationOf(term))}(${value(term.left)}, ${value(term.right)})`;
    case 'negate':
      return js`${use(writer, 'negate')}(${value(term.operand)})`;
    case 'count':
    case 'sum':
      return loopTerm(writer, term);
    case 'list':
      return js`[${joinJs(term.elements.map(value), commaJs)}]`;
    case 'call':
      return callCode(writer, term);
  }
}

/** Whether the term, where it is known, is a JavaScript number for certain. */
export function isPlain(term: Term): boolean {
  switch (term.kind) {
    case 'literal':
      return isDecimal(term.value) && plainNumber(term.value) !== null;
    case 'read':
      return isNumberSort(term.sort) && (term.read.root === 'payload' || term.read.steps.length > 0);
    case 'count':
      return true;
    case 'call':
      return term.builtin === 'length' || term.builtin === 'port';
    default:
      return false;
  }
}

function isNumberSort(sort: Sort): boolean {
  return sort === 'number' || sort === 'integer';
}

/** A constant as text where JavaScript has a literal for it, else bound. */
function literalCode(writer: Writer, value: Value): Js {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return js`${value}`;
  if (isDecimal(value)) {
    const number = plainNumber(value);
    return number === null ? bound(writer, `decimal ${formatDecimal(value)}`, value) : js`${number}`;
  }
  if (isMoney(value)) {
    const amount = plainNumber(value.amount) ?? value.amount;
    return bound(writer, `money ${formatDecimal(value.amount)} ${value.currency}`, { ...value, amount });
  }
  return bound(writer, `value ${canonical(value)}`, value);
}

function bound(writer: Writer, key: string, value: unknown): Js {
  return writer.unit.bindings.bind(key, () => value);
}

function factCode(writer: Writer, fact: RequestFact): Js {
  switch (fact) {
    case 'agent.id':
      return js`f.agent.id`;
    case 'agent.name':
      return js`f.agent.name`;
    case 'agent.risk_tier':
      return js`f.agent.risk_tier`;
    case 'agent.control_owner':
      return js`f.agent.control_owner`;
    case 'agent.tags':
      return js`f.agent.tags`;
    case 'request.ip':
      return js`${use(writer, 'readIp')}(f.request.ip)`;
    case 'request.signed':
      return js`f.request.signed`;
    case 'request.session':
      return js`f.request.session`;
  }
}

const operations = { '+': 'add', '-': 'subtract', '*': 'multiply', '/': 'divide' } as const;

function operationOf({ operator, left, right }: Extract<Term, { kind: 'arithmetic' }>): RuntimeName {
  const isBetweenDates = operator === '-' && left.sort === 'date' && right.sort === 'date';
  return isBetweenDates ? 'subtractDates' : operations[operator];
}

type Call = Extract<Term, { kind: 'call' }>;
type CallCode = (writer: Writer, args: readonly Js[], term: Call) => Js;

function callCode(writer: Writer, term: Call): Js {
  const args = term.args.map((arg) => writer.unit.term(writer, arg));
  return calls[term.builtin](writer, args, term);
}

/** Of one argument, unknown with it. */
function lifted(name: RuntimeName): CallCode {
  return (writer, [arg = js`undefined`], term) => {
    if (term.args[0]?.mayBeUnknown !== true) return js`${use(writer, name)}(${arg})`;
    const value = temporary(writer);
    return js`((${value} = ${arg}) == null ? undefined : ${use(writer, name)}(${value}))`;
  };
}

/** Of quantities, which the runtime takes unknown as well. */
function ofQuantities(name: RuntimeName): CallCode {
  return (writer, args) => js`${use(writer, name)}(${joinJs(args, commaJs)})`;
}

const calls = {
  length: (writer, args, term) =>
    term.args[0]?.sort === 'list' ? js`${args[0]}?.length` : lifted('length')(writer, args, term),
  lower: lifted('lower'),
  trim: lifted('trim'),
  fold: lifted('fold'),
  links: lifted('links'),
  domain: lifted('domain'),
  host: lifted('hostOf'),
  scheme: lifted('schemeOf'),
  port: lifted('portOf'),
  date: (writer, [instant, zone]) => js`${use(writer, 'dateOf')}(${instant}, ${zone})`,
  today: (writer, args) => js`${use(writer, 'dateOf')}(${use(writer, 'readNow')}(f.nowMs), ${args.at(-1)})`,
  min: ofQuantities('minimum'),
  max: ofQuantities('maximum'),
  abs: ofQuantities('absolute'),
} as const satisfies Record<Builtin, CallCode>;
