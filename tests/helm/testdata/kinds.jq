# Of the definitions in Kubernetes' swagger.json, those of the kinds that the chart has, and those that these refer to.
def refers($all): [.[] | $all[.] | .. | .["$ref"]? // empty | ltrimstr("#/definitions/")];
def closure($all): (. + refers($all) | unique) as $more | if $more == . then . else $more | closure($all) end;
.definitions as $all
| ["apps.v1.Deployment", "core.v1.Service", "core.v1.ServiceAccount", "networking.v1.Ingress", "policy.v1.PodDisruptionBudget"]
| map("io.k8s.api." + .) | unique | closure($all)
| map({(.): $all[.]}) | add
| walk(if type == "object" then with_entries(select(.key != "description" or (.value | type) != "string")) else . end)
| {definitions: .}
