// The words that the author of a policy may use: those of the language, and the names that a set declares.

export interface Vocabulary {
  readonly keywords: readonly string[];
  readonly functions: readonly { readonly name: string; readonly signature: string; readonly doc: string }[];
  readonly attributes: readonly { readonly path: string; readonly type: string; readonly doc: string }[];
  readonly names: Readonly<Record<NameKind, readonly string[]>>;
  readonly actions: readonly ActionWords[];
  readonly tables: readonly TableWords[];
  readonly places: readonly PlaceName[];
}

export interface ActionWords {
  readonly key: string;
  readonly groups: readonly string[];
  readonly fields: readonly { readonly path: string; readonly type: string }[];
}

/** A table whose rows have columns; the path of a column is its name. */
export interface TableWords {
  readonly name: string;
  readonly columns: readonly { readonly path: string; readonly type: string }[];
}

/** A `let` that names a record of the payload, or a row of a table. */
export interface PlaceName {
  readonly kind: 'record' | 'row';
  readonly name: string;
  /** The path of the record, such as `payload.customer`, or the name of the table. */
  readonly of: string;
}

export type NameKind =
  | 'lists'
  | 'tables'
  | 'meters'
  | 'lets'
  | 'hours'
  | 'groups'
  | 'approvers'
  | 'policies'
  | 'types'
  | 'guarantees';
