// Limits on the data that quantifiers iterate over: their work is a product of sizes in the payload. A value
// beyond a limit is unknown, which never opens the gate. The definition and the compiled code count in the
// same way.

/** The most elements of a list, times the rounds of all quantifiers around it. */
export const elementRoundsMax = 100_000;

/** The most UTF-16 code units of a text, times the rounds of all quantifiers around it. */
export const textRoundsMax = 4_000_000;

/** The most bytes of a request's JSON, unless the service is set to accept more. Proofs count on it. */
export const payloadBytesMax = 256 * 1024;
