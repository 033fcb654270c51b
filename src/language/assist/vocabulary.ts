// The words that the author of a policy may use: those of the language, and the names that a set declares.

export interface Vocabulary {
  readonly keywords: readonly string[];
  readonly functions: readonly { readonly name: string; readonly signature: string; readonly doc: string }[];
  readonly attributes: readonly { readonly path: string; readonly type: string; readonly doc: string }[];
  readonly names: Readonly<Record<NameKind, readonly string[]>>;
  readonly actions: readonly ActionWords[];
}

export interface ActionWords {
  readonly key: string;
  readonly groups: readonly string[];
  readonly fields: readonly { readonly path: string; readonly type: string }[];
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
