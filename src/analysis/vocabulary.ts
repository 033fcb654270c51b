// Turns a set into the words that a policy author may use: the words of the language and the names that the
// set declares.

import { nameKinds } from '../language/assist/declared-words.ts';
import { placeNames } from '../language/assist/place-names.ts';
import type { NameKind, TableWords, Vocabulary } from '../language/assist/vocabulary.ts';
import { typeOfFixedFact } from '../language/check/expressions/facts.ts';
import { ownerGroup } from '../language/check/expressions/names.ts';
import { type Attribute, attributes } from '../language/model/attributes.ts';
import { builtins, namedBuiltins } from '../language/model/builtins.ts';
import { describeSlot, describeType, stepText } from '../language/model/describe.ts';
import type { PolicySet, Table } from '../language/model/policy.ts';
import type { Field, Shape, Type } from '../language/model/type.ts';
import { contextualWords, reservedWords } from '../language/syntax/parse/tokens.ts';
import type { Declaration, PolicyFile } from '../language/syntax/tree/tree.ts';

export function vocabularyOf(set: PolicySet, trees: readonly PolicyFile[]): Vocabulary {
  return {
    keywords: [...new Set([...reservedWords, ...contextualWords])].toSorted(),
    functions: namedBuiltins
      .map((name) => [name, builtins[name]] as const)
      .map(([name, { signature, meaning }]) => ({
        name,
        signature,
        doc: meaning,
      })),
    attributes: Object.entries(attributes).map(([path, doc]) => {
      // The keys are attributes, because they come from the table of attributes.
      return { path, type: attributeType(path as Attribute), doc };
    }),
    names: namesOf(trees),
    actions: [...set.actions.values()]
      .map(({ key, groups, shape }) => ({ key, groups, fields: fieldsOf(shape, 'payload') }))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    tables: [...set.tables.values()].flatMap(tableWords),
    places: placeNames(trees),
  };
}

/** Empty for a table whose rows are single values. */
function tableWords({ name, columns, pushed }: Table): readonly TableWords[] {
  if (columns.some((column) => column.name === '')) return [];
  if (pushed !== null)
    return [
      {
        name,
        columns: pushed.shape.fields.map((field) => ({ path: stepText(field.name), type: fieldType(field) })),
      },
    ];
  return [
    {
      name,
      columns: columns.map((column) => ({ path: stepText(column.name), type: describeType(column.type) })),
    },
  ];
}

function attributeType(attribute: Attribute): string {
  if (attribute === 'now') return 'timestamp';
  if (attribute === 'risk') return 'number';
  const type = typeOfFixedFact(attribute);
  return type === null ? 'string' : describeType(type);
}

const kinds: Readonly<Partial<Record<Declaration['kind'], NameKind>>> = nameKinds;

function namesOf(trees: readonly PolicyFile[]): Vocabulary['names'] {
  const names: Record<NameKind, Set<string>> = {
    lists: new Set(),
    tables: new Set(),
    meters: new Set(),
    lets: new Set(),
    hours: new Set(),
    groups: new Set(),
    // The group of the control owner needs no declaration.
    approvers: new Set([ownerGroup]),
    policies: new Set(),
    types: new Set(),
    guarantees: new Set(),
  };
  for (const declaration of trees.flatMap(({ declarations }) => declarations)) {
    const kind = kinds[declaration.kind];
    if (kind !== undefined && declaration.kind !== 'action') names[kind].add(declaration.name.text);
  }
  const sorted = (kind: NameKind): readonly string[] => [...names[kind]].toSorted();
  return {
    lists: sorted('lists'),
    tables: sorted('tables'),
    meters: sorted('meters'),
    lets: sorted('lets'),
    hours: sorted('hours'),
    groups: sorted('groups'),
    approvers: sorted('approvers'),
    policies: sorted('policies'),
    types: sorted('types'),
    guarantees: sorted('guarantees'),
  };
}

type FieldEntry = Vocabulary['actions'][number]['fields'][number];

/** Fields at any depth; elements of a list have `[]` in their path. */
function fieldsOf(shape: Shape, path: string): readonly FieldEntry[] {
  return shape.fields.flatMap((field) => {
    const fieldPath = `${path}.${stepText(field.name)}`;
    return [{ path: fieldPath, type: fieldType(field) }, ...innerFields(field.type, fieldPath)];
  });
}

function fieldType(field: Field): string {
  return `${describeSlot(field)}${field.isOptional ? ' (may be absent)' : ''}`;
}

function innerFields(type: Type, path: string): readonly FieldEntry[] {
  if (type.kind === 'record') return fieldsOf(type.shape, path);
  return type.kind === 'list' ? innerFields(type.element.type, `${path}[]`) : [];
}
