{{- define "writ.pod" -}}
metadata:
  labels:
    {{- include "writ.selector" . | nindent 4 }}
spec:
  # Replies are held for up to 55 seconds.
  terminationGracePeriodSeconds: 75
  automountServiceAccountToken: false
  # Otherwise the name of a service would become settings, such as WRIT_PORT.
  enableServiceLinks: false
  {{- with .Values.image.pullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  {{- if eq .Values.store.kind "postgres" }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "writ.selector" . | nindent 10 }}
  initContainers:
    # The service takes a master key that only its user can read; a mounted secret is readable by a group.
    - name: key
      image: {{ include "writ.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command: ["/nodejs/bin/node", "-e"]
      args:
        - >-
          const fs = require('node:fs');
          fs.mkdirSync('/data/own', { recursive: true, mode: 0o700 });
          fs.writeFileSync('/data/own/writ.key', fs.readFileSync('/secret/writ.key'), { mode: 0o600 });
      securityContext:
        {{- include "writ.confined" . | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /data }
        - { name: key, mountPath: /secret, readOnly: true }
  {{- end }}
  containers:
    - name: writ
      image: {{ include "writ.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      ports:
        - { name: http, containerPort: 8181 }
      env:
        - { name: WRIT_DATA, value: /data/own }
        - { name: WRIT_PUBLIC_URL, value: {{ .Values.publicUrl | quote }} }
        - { name: WRIT_TRUSTED_PROXIES, value: {{ .Values.trustedProxies | quote }} }
        {{- if eq .Values.store.kind "postgres" }}
        - name: WRIT_STORE
          valueFrom:
            secretKeyRef: { name: {{ .Values.store.secret }}, key: WRIT_STORE }
        {{- end }}
        {{- with .Values.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      readinessProbe:
        httpGet: { path: /readyz, port: http }
        periodSeconds: 5
      livenessProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 10
        failureThreshold: 6
      startupProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 2
        failureThreshold: 60
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        {{- include "writ.confined" . | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /data }
        - { name: policies, mountPath: /policies, readOnly: true }
        - { name: tmp, mountPath: /tmp }
  volumes:
    - { name: tmp, emptyDir: {} }
    {{- if eq .Values.store.kind "postgres" }}
    - { name: data, emptyDir: {} }
    - name: key
      secret:
        secretName: {{ .Values.store.secret }}
        items: [{ key: writ.key, path: writ.key }]
    {{- end }}
    - name: policies
      {{- if .Values.policies.volume }}
      {{- toYaml .Values.policies.volume | nindent 6 }}
      {{- else }}
      configMap: { name: {{ .Values.policies.configMap }} }
      {{- end }}
{{- end -}}
