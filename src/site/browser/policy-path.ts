/** The path of the playground's only file. */
export const policyPath = 'playground.policy';
