// Turns an expression into a text with every pair in brackets, so that a test shows how it was read.

import { printExpression } from '../../../src/language/syntax/print/print.ts';
import type { ExpressionNode } from '../../../src/language/syntax/tree/tree.ts';

export function shapeOf(expression: ExpressionNode): string {
  switch (expression.kind) {
    case 'unary':
      return `(${expression.operator} ${shapeOf(expression.operand)})`;
    case 'binary':
      return `(${shapeOf(expression.left)} ${expression.operator} ${shapeOf(expression.right)})`;
    case 'range':
      return `(${shapeOf(expression.low)}..${shapeOf(expression.high)})`;
    case 'else':
      return `(${shapeOf(expression.subject)} else ${shapeOf(expression.fallback)})`;
    case 'has':
      return `(${printExpression(expression)})`;
    case 'single-script':
      return `(${shapeOf(expression.subject)} is single_script)`;
    case 'quantifier': {
      const sources = expression.sources.map(shapeOf).join(', ');
      return `(${expression.quantifier} ${expression.variable.text} in ${sources}: ${shapeOf(expression.body)})`;
    }
    case 'look-up':
      return `${expression.table.text}[${shapeOf(expression.key)}]${expression.column === null ? '' : `.${expression.column.text}`}`;
    case 'list-literal':
      return `[${expression.entries.map(shapeOf).join(', ')}]`;
    case 'call':
      return `${expression.callee.text}(${expression.args.map(shapeOf).join(', ')})`;
    default:
      return printExpression(expression);
  }
}
