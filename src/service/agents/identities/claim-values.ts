// Compares the claims of a token with the claims that an identity requires. INVARIANT: a value is equal to a
// required one or it does not match; the one exception is a SPIFFE id whose last step is `*`, which stands for
// one step of the path and nothing else.

/** Required claims: each name with the values of which the token has one. */
export type RequiredClaims = Readonly<Record<string, readonly string[]>>;

const spiffePrefix = 'spiffe://';
const anyStep = '/*';
/** A trust domain and at least one step; the characters are those of the SPIFFE id standard. */
const spiffeForm = /^spiffe:\/\/[a-z0-9._-]+(?:\/[A-Za-z0-9._-]+)+$/;
const stepForm = /^[A-Za-z0-9._-]+$/;

/** Whether a text is a SPIFFE id with a path, in the one form that the standard permits. */
function isSpiffeId(text: string): boolean {
  return spiffeForm.test(text) && !text.split('/').some((step) => step === '.' || step === '..');
}

/** What is wrong with a required value, as one sentence in lower case; null when it can be required. */
export function valueProblem(claim: string, value: string): string | null {
  if (claim === 'sub' && value.startsWith(spiffePrefix)) {
    const path = value.endsWith(anyStep) ? value.slice(0, -anyStep.length) : value;
    // `spiffe://domain/*` would be every workload of one step, so a pattern needs a step before the star.
    if (isSpiffeId(path)) return null;
    return 'is not a SPIFFE id such as `spiffe://example.org/ns/payments/sa/buyer` or `spiffe://example.org/ns/payments/*`';
  }
  return value.includes('*') ? '`*` stands for a step of a SPIFFE id only' : null;
}

function isMatch(required: string, value: string): boolean {
  if (!required.startsWith(spiffePrefix) || !required.endsWith(anyStep)) return required === value;
  const parent = required.slice(0, 1 - anyStep.length);
  return value.startsWith(parent) && stepForm.test(value.slice(parent.length)) && isSpiffeId(value);
}

/** Whether a token has all required claims. Only texts match: a list or a number equals nothing. */
export function hasClaims(required: RequiredClaims, claimOf: (claim: string) => unknown): boolean {
  return Object.entries(required).every(([claim, values]) => {
    const value = claimOf(claim);
    return typeof value === 'string' && values.some((one) => isMatch(one, value));
  });
}

/** Whether a token could have the claims of both: no claim tells them apart. */
export function areAlike(left: RequiredClaims, right: RequiredClaims): boolean {
  return Object.entries(left).every(([claim, values]) => {
    const others = Object.hasOwn(right, claim) ? right[claim] : undefined;
    return others === undefined || values.some((one) => others.some((other) => mayBeSame(one, other)));
  });
}

function mayBeSame(left: string, right: string): boolean {
  return left === right || isMatch(left, right) || isMatch(right, left);
}
