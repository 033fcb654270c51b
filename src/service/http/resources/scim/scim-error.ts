// The error that a SCIM client gets (RFC 7644, section 3.12).

export const errorUrn = 'urn:ietf:params:scim:api:messages:2.0:Error';

export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'uniqueness';

/** A class, because Fastify takes a thrown error at any stage of a request. */
export class ScimError extends Error {
  readonly status: number;
  readonly scimType: ScimType | null;

  constructor(status: number, detail: string, scimType: ScimType | null = null) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}

export function invalidValue(detail: string): ScimError {
  return new ScimError(400, detail, 'invalidValue');
}

export function scimErrorBody({ status, scimType, message }: ScimError): object {
  return {
    schemas: [errorUrn],
    status: String(status),
    ...(scimType === null ? {} : { scimType }),
    detail: message,
  };
}
