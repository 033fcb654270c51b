// Values with which the Helm chart is rendered: the defaults, and every branch of the templates.

const monitored = {
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
};
export const chartReleases: Readonly<Record<string, object>> = {
  'a file': {},
  'a database': { store: { kind: 'postgres' } },
  'a file, with everything set': {
    ...monitored,
    image: { tag: '0.2.0', pullSecrets: [{ name: 'registry' }] },
    store: { volume: { size: '20Gi', storageClass: 'fast' } },
    policies: { volume: { persistentVolumeClaim: { claimName: 'policies', readOnly: true } } },
    env: [{ name: 'WRIT_SMTP_URL', valueFrom: { secretKeyRef: { name: 'mail', key: 'url' } } }],
    networkPolicy: {
      from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }],
      egress: [{ ports: [{ port: 53, protocol: 'UDP' }] }],
    },
  },
  'a database, with everything set': {
    ...monitored,
    store: { kind: 'postgres', secret: 'of-writ', replicas: 5 },
    service: { type: 'LoadBalancer', port: 8080 },
    networkPolicy: { enabled: false },
  },
};
