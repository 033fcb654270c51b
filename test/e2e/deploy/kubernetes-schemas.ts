// Compares an object with the JSON schema of its kind.

import * as monitoring from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import * as apps from 'kubernetes-models/apps/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as core from 'kubernetes-models/v1';

interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
}

const groups: Readonly<Record<string, object>> = {
  v1: core,
  'apps/v1': apps,
  'networking.k8s.io/v1': networking,
  'policy/v1': policy,
  'monitoring.coreos.com/v1': monitoring,
};

/** What is wrong with the object; empty when it is of the schema. */
export function kubernetesFaults(object: KubernetesObject): readonly string[] {
  const group = groups[object.apiVersion] as Readonly<
    Record<string, new (data: object) => { validate(): void }>
  >;
  const Model = group?.[object.kind];
  if (Model === undefined) return [`there is no ${object.apiVersion} ${object.kind}`];
  try {
    new Model(object).validate();
    return [];
  } catch (error) {
    return [`${object.kind}: ${(error as Error).message}`];
  }
}
