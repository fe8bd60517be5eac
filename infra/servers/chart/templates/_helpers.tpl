{{- /* Labels of a part, by which its pods are selected, too. It takes a list: root, name of the part. */}}
{{- define "bucketsearch.labels" -}}
{app.kubernetes.io/name: bucketsearch, app.kubernetes.io/instance: {{ (index . 0).Release.Name | quote }}, app.kubernetes.io/component: {{ index . 1 }}}
{{- end }}

{{- /* What the pods of workers and of the search page have in common: fields of their spec. It takes a list: root, values of the
part, name of its ServiceAccount. A program that is told to end does so within 30 seconds; the search page is told 5 seconds later. */}}
{{- define "bucketsearch.pod" -}}
serviceAccountName: {{ index . 2 }}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: 40
securityContext: {fsGroup: 65532}
{{- with (index . 0).Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with (index . 1).nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with (index . 1).tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- end }}

{{- /* The same for their container. It takes a list: root, values of the part, name of its Secret. */}}
{{- define "bucketsearch.container" -}}
image: {{ required "image is missing, such as --set image=registry.example.org/bucketsearch:0.1.0" (index . 0).Values.image | quote }}
resources: {{ toJson (index . 1).resources }}
securityContext: {{ include "bucketsearch.confined" . }}
{{- with index . 2 }}
envFrom: [{secretRef: {name: {{ . }}}}]
{{- end }}
{{- end }}

{{- define "bucketsearch.confined" -}}
{runAsNonRoot: true, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}
{{- end }}

{{- define "bucketsearch.s3" -}}
--s3={{ required "s3 is missing, such as --set s3=https://s3.example.org/my-bucket" .Values.s3 }}
{{- end }}

{{- /* HOST:PORT of Redis, as all namespaces know it: KEDA asks from one of its own. */}}
{{- define "bucketsearch.redis" -}}
{{ .Values.redis.address | default (printf "%s-redis.%s.svc:6379" .Release.Name .Release.Namespace) }}
{{- end }}

{{- /* What KEDA must know to ask Redis. The password is a variable of the container that it scales. */}}
{{- define "bucketsearch.trigger" -}}
address: {{ include "bucketsearch.redis" . | quote }}
{{- if .Values.redis.tls }}
enableTLS: "true"
{{- end }}
{{- with .Values.redis.username }}
username: {{ . | quote }}
{{- end }}
{{- if .Values.redis.secret }}
passwordFromEnv: REDIS_PASSWORD
{{- end }}
{{- end }}
