{{- define "writ.name" -}}
{{ if contains "writ" .Release.Name }}{{ .Release.Name }}{{ else }}{{ printf "%s-writ" .Release.Name }}{{ end }}
{{- end -}}

{{- define "writ.selector" -}}
app.kubernetes.io/name: writ
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "writ.labels" -}}
{{ include "writ.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "writ.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "writ.confined" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
{{- end -}}
