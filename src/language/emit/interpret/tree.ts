// The part of JavaScript that the generators write, as a tree: what `read` makes of a text and `interpret` carries out.

export type CodeExpression =
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'name'; readonly name: string }
  | Member
  | { readonly kind: 'call'; readonly callee: CodeExpression; readonly args: readonly CodeExpression[] }
  | {
      readonly kind: 'binary';
      readonly operator: CodeOperator;
      readonly left: CodeExpression;
      readonly right: CodeExpression;
    }
  | { readonly kind: 'unary'; readonly operator: '!' | '-' | 'typeof'; readonly operand: CodeExpression }
  | CodeAssignment
  /** `n++` and `n--`, whose value nobody uses. */
  | { readonly kind: 'step'; readonly name: string; readonly by: 1 | -1 }
  | {
      readonly kind: 'choice';
      readonly test: CodeExpression;
      readonly whenTrue: CodeExpression;
      readonly otherwise: CodeExpression;
    }
  /** All of them in order; the value is the last one's. */
  | { readonly kind: 'sequence'; readonly parts: readonly CodeExpression[] }
  | { readonly kind: 'array'; readonly elements: readonly CodeExpression[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, CodeExpression])[] }
  | { readonly kind: 'arrow'; readonly code: FunctionTree };

export interface Member {
  readonly kind: 'member';
  readonly object: CodeExpression;
  readonly key: CodeExpression;
  /** Undefined where there is no object. */
  readonly isOptional: boolean;
}

export interface CodeAssignment {
  readonly kind: 'assignment';
  readonly operator: '=' | '+=';
  readonly target: CodeExpression;
  readonly value: CodeExpression;
}

/** Operators by how tightly they bind, the loosest first. */
export const binaryOperators = [
  ['??'],
  ['||'],
  ['&&'],
  ['|'],
  ['&'],
  ['===', '!==', '==', '!='],
  ['<', '<=', '>', '>='],
  ['+', '-'],
  ['*'],
] as const;

export type CodeOperator = (typeof binaryOperators)[number][number];

export type CodeStatement =
  | { readonly kind: 'declare'; readonly name: string; readonly value: CodeExpression | null }
  | { readonly kind: 'return'; readonly value: CodeExpression }
  | { readonly kind: 'if'; readonly test: CodeExpression; readonly whenTrue: CodeStatement }
  /** Also what `break` leaves, where it has a label. */
  | { readonly kind: 'block'; readonly statements: readonly CodeStatement[]; readonly isLabelled: boolean }
  | {
      readonly kind: 'for';
      readonly start: readonly CodeStatement[];
      readonly test: CodeExpression;
      readonly step: CodeExpression;
      readonly body: CodeStatement;
    }
  | {
      readonly kind: 'for-in';
      readonly name: string;
      readonly object: CodeExpression;
      readonly body: CodeStatement;
    }
  | { readonly kind: 'break' }
  | { readonly kind: 'expression'; readonly expression: CodeExpression }
  | { readonly kind: 'function'; readonly name: string; readonly code: FunctionTree };

export interface FunctionTree {
  readonly parameters: readonly string[];
  readonly body: readonly CodeStatement[];
}
