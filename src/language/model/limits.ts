// How much may be gone through inside quantifiers, whose work is a product of what the payload holds. What exceeds a
// limit is unknown, which never opens the gate; definition and compiled code count alike.

/** Elements of a list, times the rounds of all quantifiers around it. */
export const elementRoundsMax = 100_000;

/** UTF-16 code units of a text, times the rounds of all quantifiers around it. */
export const textRoundsMax = 4_000_000;
