/** There is no git, no such revision, or no such path in the revision. A class because it is thrown. */
export class RevisionError extends Error {}
