// The part of JavaScript that the generators write, as a tree. `read` makes the tree from a text, and
// `interpret` runs it.

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
  /** `n++` and `n--`. Their value is never used. */
  | { readonly kind: 'step'; readonly name: string; readonly by: 1 | -1 }
  | {
      readonly kind: 'choice';
      readonly test: CodeExpression;
      readonly whenTrue: CodeExpression;
      readonly otherwise: CodeExpression;
    }
  /** Evaluates all parts in order; the value is that of the last part. */
  | { readonly kind: 'sequence'; readonly parts: readonly CodeExpression[] }
  | { readonly kind: 'array'; readonly elements: readonly CodeExpression[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, CodeExpression])[] }
  | { readonly kind: 'arrow'; readonly code: FunctionTree };

export interface Member {
  readonly kind: 'member';
  readonly object: CodeExpression;
  readonly key: CodeExpression;
  /** Whether the value is undefined when the object is null or undefined. */
  readonly isOptional: boolean;
}

export interface CodeAssignment {
  readonly kind: 'assignment';
  readonly operator: '=' | '+=';
  readonly target: CodeExpression;
  readonly value: CodeExpression;
}

/** The operators of each precedence, lowest precedence first. */
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
  /** A block of statements. `break` leaves the nearest block that has a label. */
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
