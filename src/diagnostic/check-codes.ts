/** Codes of what the checker reports about names, types and meaning. */
export const checkCodes = {
  'unknown-name': 'a name that nothing declares',
  'type-mismatch': 'an operand is of another type than the operator takes',
} as const;
