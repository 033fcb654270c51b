// Turns terms into JavaScript expressions. Numbers of the payload stay JavaScript numbers; parsed and
// computed values are quantities; undefined and null are unknown. INVARIANT: a term's code is total: it never
// throws on a payload of the shape.

import type { Builtin } from '../../model/builtins.ts';
import { canonical } from '../../model/canonical.ts';
import { isPushed, type PushedTable } from '../../model/pushed-row.ts';
import type { Value } from '../../model/value.ts';
import { isDecimal, isMoneyTerm } from '../../program/condition.ts';
import { plainNumber } from '../../program/plain.ts';
import type { ColumnTerm, LiteralTerm, Program, RequestFact, Term } from '../../program/program.ts';
import type { Constant } from '../../program/template.ts';
import type { RuntimeName } from '../runtime/runtime.ts';
import { PushedSource, type RowSource } from '../runtime/tables.ts';
import { type Js, joinJs, js } from './js.ts';
import { loopTerm } from './loops.ts';
import { payloadIssues } from './payload-issues.ts';
import { resolvePayload } from './payload-resolve.ts';
import { boundedCode, elseCode, readCode, valuesOf } from './reads.ts';
import { commaJs, constantCode, temporary, use, type Writer } from './writer.ts';

/** Generates an expression that yields the term's value, or undefined or null when the value is unknown. */
export function termCode(writer: Writer, term: Term): Js {
  const value = (operand: Term): Js => writer.unit.term(writer, operand);
  switch (term.kind) {
    case 'literal':
      return literalCode(writer, term);
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
    case 'meter': {
      const name = constantCode(writer, term, {
        inline: () => js`${term.meter}`,
        make: (constant) => constant.meter,
      });
      const { currency } = term;
      return typeof currency === 'object' && currency !== null
        ? js`${use(writer, 'readMeterIn')}(f.meters, ${name}, ${value(currency)})`
        : js`${use(writer, 'readMeter')}(f.meters, ${name}, ${currency})`;
    }
    case 'column':
      return columnCode(writer, term);
    case 'now':
      return js`${use(writer, 'readNow')}(f.nowMs)`;
    case 'risk':
      return js`s.risk`;
    case 'let':
      return letCode(writer, term);
    case 'else':
      return elseCode(writer, term.subject, valuesOf(writer, term.fallback, value(term.fallback)));
    case 'if': {
      const code = writer.unit.condition(writer, term.condition);
      const [whenTrue, otherwise] = [value(term.whenTrue), value(term.otherwise)];
      if (code.isTwoValued) return js`(${code.js} ? ${whenTrue} : ${otherwise})`;
      const truth = temporary(writer);
      return js`((${truth} = ${code.js}) === 2 ? ${whenTrue} : ${truth} === 0 ? ${otherwise} : undefined)`;
    }
    case 'arithmetic':
      return js`${use(writer, operationOf(term))}(${value(term.left)}, ${value(term.right)})`;
    case 'negate':
      return js`${use(writer, 'negate')}(${value(term.operand)})`;
    case 'count':
    case 'sum':
      return loopTerm(writer, term);
    case 'list':
      return js`[${joinJs(term.elements.map(value), commaJs)}]`;
    case 'text-list':
      return constantCode(writer, term, {
        inline: () =>
          js`[${joinJs(
            term.texts.map((text) => js`${text}`),
            commaJs,
          )}]`,
        make: ({ texts }) => texts,
      });
    case 'call':
      return callCode(writer, term);
  }
}

/**
 * The code of a constant: JavaScript text when the language has a literal for it, otherwise a binding or a
 * constant outside of the text.
 */
function literalCode(writer: Writer, term: LiteralTerm): Js {
  const { value } = term;
  if (value === null || typeof value === 'boolean') return js`${value}`;
  return constantCode(writer, term, {
    inline: () => inlineValue(writer, value),
    make: (constant) => readyValue(constant.value),
  });
}

function inlineValue(writer: Writer, value: Value): Js {
  const ready = readyValue(value);
  if (typeof ready === 'string' || typeof ready === 'number') return js`${ready}`;
  return writer.unit.bindings.bind(`value ${canonical(value)}`, () => ready);
}

/**
 * The constant as generated code compares it. Numbers that JavaScript represents exactly become plain
 * numbers.
 */
function readyValue(value: Value): unknown {
  if (isDecimal(value)) return plainNumber(value) ?? value;
  return isMoneyTerm(value) ? { ...value, amount: plainNumber(value.amount) ?? value.amount } : value;
}

function columnCode(writer: Writer, term: ColumnTerm): Js {
  const key = writer.unit.term(writer, term.key);
  const cell = js`${use(writer, 'readColumn')}(${rowsCode(writer, term)}, f, ${key}, ${term.index})`;
  return boundedCode(writer, term, cell);
}

/** The code of the rows of the table that a term or condition names. */
export function rowsCode(writer: Writer, named: Constant & { readonly table: string }): Js {
  const { table } = named;
  return constantCode(writer, named, {
    inline: () =>
      writer.unit.bindings.bind(`rows of ${writer.unit.lists.tableVersion(table)}`, () =>
        rowSource(writer.unit.program, table),
      ),
    make: (constant, { program }) => rowSource(program, constant.table),
  });
}

type LetTerm = Extract<Term, { kind: 'let' }>;

/**
 * The code of a let: a call of its own function when the code is of one action, or a read of the let when the
 * code is shared.
 */
function letCode(writer: Writer, term: LetTerm): Js {
  if (writer.unit.apart === null) {
    return boundedCode(writer, term, js`${writer.unit.shared[term.index]!}(f, s)`);
  }
  const shared = constantCode(writer, term, {
    inline: () => js``,
    make: (constant, { letAt }) => letAt(constant.index),
  });
  return boundedCode(writer, term, js`${use(writer, 'readLet')}(${shared}, f, s)`);
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
    case 'request.point':
      return js`f.request.point`;
    case 'request.delegated':
      return js`(${use(writer, 'readChain')}(f.request).length > 0)`;
    case 'request.delegate':
      return js`${use(writer, 'readDelegate')}(f.request)`;
    case 'request.chain':
      return js`${use(writer, 'readChain')}(f.request)`;
    case 'request.user.id':
      return js`f.request.user?.id`;
    case 'request.user.email':
      return js`f.request.user?.email`;
    case 'request.user.roles':
      return js`f.request.user?.roles`;
    case 'request.user.groups':
      return js`f.request.user?.groups`;
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

/** The code of a call with one argument. The result is unknown when the argument is unknown. */
function lifted(name: RuntimeName): CallCode {
  return (writer, [arg = js`undefined`], term) => {
    if (term.args[0]?.mayBeUnknown !== true) return js`${use(writer, name)}(${arg})`;
    const value = temporary(writer);
    return js`((${value} = ${arg}) == null ? undefined : ${use(writer, name)}(${value}))`;
  };
}

/** The code of a call with quantities. The runtime function accepts unknown quantities, too. */
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
  commands: lifted('commands'),
  domain: lifted('domain'),
  host: lifted('hostOf'),
  scheme: lifted('schemeOf'),
  port: lifted('portOf'),
  ip: lifted('ipOf'),
  first: (writer, [list], term) => boundedCode(writer, term, js`${list}?.[0]`),
  join: (writer, args, term) =>
    boundedCode(writer, term, js`${use(writer, 'joinTexts')}([${joinJs(args, commaJs)}])`),
  quantity: lifted('quantityOf'),
  date: (writer, [instant, zone]) => js`${use(writer, 'dateOf')}(${instant}, ${zone})`,
  today: (writer, args) => js`${use(writer, 'dateOf')}(${use(writer, 'readNow')}(f.nowMs), ${args.at(-1)})`,
  months_later: (writer, [date, months]) => js`${use(writer, 'monthsAfter')}(${date}, ${months})`,
  min: ofQuantities('minimum'),
  max: ofQuantities('maximum'),
  abs: ofQuantities('absolute'),
} as const satisfies Record<Builtin, CallCode>;

/** Returns the source of the rows of a table. The program must have the table. */
function rowSource({ tables }: Program, name: string): RowSource {
  const table = tables.get(name);
  if (isPushed(table)) return pushedSource(table);
  return table!.rows!;
}

function pushedSource(table: PushedTable): PushedSource {
  const { shape } = table.pushed;
  return new PushedSource(table, (row) =>
    payloadIssues(shape, row).length > 0 ? 'unfit' : resolvePayload(shape, row),
  );
}
