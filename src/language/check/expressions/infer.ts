// The switch of the type checker: passes each kind of tree expression to the module that types it.

import { builtins } from '../../model/builtins.ts';
import { quantity } from '../../model/type.ts';
import type { BinaryExpression, ExpressionNode as Tree } from '../../syntax/tree/tree.ts';
import { isZone } from '../../value/time.ts';
import { inferLiteral } from '../logic/literals.ts';
import { unreadableInMeter } from '../messages/meter-errors.ts';
import { zoneUnknown } from '../messages/value-errors.ts';
import { inferArithmetic, inferNegation } from './arithmetic.ts';
import { inferCall } from './call.ts';
import { inferComparison } from './comparison.ts';
import { inferConditional } from './conditional.ts';
import { type Context, failed, type Inference, plainType } from './context.ts';
import { inferAnd, inferNot, inferOr } from './logic.ts';
import { inferLookUp } from './look-up.ts';
import { inferListLiteral, inferMembership, inferTextList } from './membership.ts';
import { inferPath } from './path.ts';
import { inferElse, inferHas } from './presence.ts';
import { inferQuantifier } from './quantifier.ts';
import { inferSingleScript, inferTextTest } from './text.ts';

/** Types an expression; each mistake is reported once. */
export function infer(node: Tree, ctx: Context): Inference {
  switch (node.kind) {
    case 'text':
    case 'number':
    case 'money':
    case 'duration':
    case 'date':
    case 'instant':
    case 'clock':
    case 'months':
    case 'boolean':
    case 'null':
      return plainType(inferLiteral(node, ctx.env));
    case 'path':
      return inferPath(node, ctx);
    case 'look-up':
      return plainType(inferLookUp(node, ctx));
    case 'unary':
      return node.operator === 'not' ? inferNot(node, ctx) : plainType(inferNegation(node, ctx));
    case 'binary':
      return inferBinary(node, ctx);
    case 'list-literal':
      return plainType(inferListLiteral(node, ctx));
    case 'text-list':
      return plainType(inferTextList(node));
    case 'quantifier':
      return plainType(inferQuantifier(node, ctx));
    case 'has':
      return inferHas(node, ctx);
    case 'single-script':
      return plainType(inferSingleScript(node, ctx));
    case 'else':
      return plainType(inferElse(node, ctx));
    case 'if':
      return inferConditional(node, ctx);
    case 'today':
      return inferToday(node, ctx);
    case 'call':
      return inferCall(node, ctx);
    // A gap, or a range after anything but `in`: the parser has reported it.
    case 'range':
    case 'missing':
      return failed;
  }
}

function inferBinary(node: BinaryExpression, ctx: Context): Inference {
  switch (node.operator) {
    case 'and':
      return inferAnd(node, ctx);
    case 'or':
      return inferOr(node, ctx);
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return inferComparison(node, node.operator, ctx);
    case 'in':
    case 'not in':
      return plainType(inferMembership(node, ctx));
    case 'like':
    case 'matches':
    case 'starts with':
    case 'ends with':
    case 'contains':
    case 'mentions any of':
    case 'inside':
    case 'within':
    case 'like any of':
    case 'matches any of':
    case 'starts with any of':
    case 'ends with any of':
    case 'contains any of':
    case 'inside any of':
      return plainType(inferTextTest(node, node.operator, ctx));
    case '+':
    case '-':
    case '*':
    case '/':
      return plainType(inferArithmetic(node, node.operator, ctx));
  }
}

function inferToday(node: Extract<Tree, { kind: 'today' }>, ctx: Context): Inference {
  if (ctx.inMeter) {
    ctx.env.report(unreadableInMeter(node.span, builtins.today.signature));
    return plainType(null);
  }
  if (!isZone(node.zone.value)) {
    ctx.env.report(zoneUnknown(node.zone));
    return plainType(null);
  }
  const zone = inferLiteral(node.zone, ctx.env);
  const args = zone === null ? [] : [zone];
  return plainType({ kind: 'call', builtin: 'today', args, type: quantity('date'), span: node.span });
}
