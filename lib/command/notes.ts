/**
 * What a command does beyond its first line, one sentence a line: `tidemark COMMAND --help` shows
 * it below the options, and docs/cli.md is printed with it. A page that has more is named by its
 * file.
 */
export const NOTES: Readonly<Record<string, string>> = {
  get: `
Without a name it lists all autoscalers, or the autoscalers of a type.
With names it shows those that exist, and ends with an error for each that does not.
-o name prints eu-1/shop/web, which every command takes.
-o wide adds REFERENCE, REASON and AGE.
--sort-by takes the path of a field: numbers are compared as numbers, and what has no such field comes last.
Without it the order is cluster, namespace, name.
--fields also works with -o json: each item then has its cluster, partition, namespace, name, uid and generation too.
--watch looks every 5 s; one that was deleted, or has lost the labels of -l, is printed once more, as deleted.
With --output-watch-events, JSON and YAML have {type, object}.
docs/output.md has the columns, the states and the fields of the document.`,
  describe: `
The sheet has the layout of kubectl describe hpa, and the windows: what was recommended, what stabilization holds until when, and which scales use up which rate.
docs/output.md shows one.`,
  explain: `
It shows each metric, each step with what it changed and which limit bit, and what would have to change for another outcome.
With --at it is the nearest evaluation before that time, and the line Shown says how long before.
The journal has one of each minute, and one of each sync that changed something; it is kept for 14 days.
Before that it is the nearest scale, which is kept for 13 months.
docs/output.md shows one, and says what of an earlier time is not stored any more.`,
  doctor: `
It says of each finding what was seen, what it costs, and the line of the manifest to change; docs/doctor.md has every rule.
A problem is what keeps an autoscaler from its work, and makes the exit code 1; advice is what could cost less, and leaves it at 0.
It reads what the syncs have stored and asks no cluster: of all autoscalers it takes about as many reads as get -o json.`,
  schedule: `
It shows the bounds now, or at the time of --at, and the changes after it within 400 days.
Overrides that meet the autoscaler are in it too.
--next takes 1 to 1000.`,
  timeline: `
It has the highest load as a share of its target, the count, the count that the metrics asked for, what held or cut the count, and marks for scales and edits.
A line below says what each letter means.
-o svg is the same as a picture, json has the history with events and edits, and csv is the CSV of history.`,
  history: `
It reads the journal of the last 14 days; before that, and for steps of five minutes or more, samples of five minutes, for 13 months.
Of several evaluations in one step it has the last counts and the highest load.
A step without an evaluation has no line.`,
  events: `
It lists the events of one autoscaler, of a namespace (-n), of clusters, or of all (--all); events are kept for 13 months.
An event comes when its outcome is known.
-o wide adds the workload, the generation that decided, the time until the outcome was known, and the id.
The events of a deleted autoscaler are found by NAMESPACE/NAME.
A fleet of many clusters is read fastest with --since.
In csv, a text that a spreadsheet would take for a formula has a ' before it.`,
  changes: `
They are kept for 13 months.
Below each edit is a line for each field: + added, - removed, ~ changed.
A deleted autoscaler is found by NAMESPACE/NAME, a removed cluster by --all --cluster.
With only -n, --cluster or --clusters it lists the edits of that namespace or of those clusters.
With a name, an edit that was never made (its editor was overtaken or died) is marked.`,
  export: `
The files hold the same documents as events, changes and history, with times in UTC.
All three reach back 13 months; of what is older than 14 days, the history has steps of five minutes.
In csv, the fields of an edit and the metrics of a point are JSON.
Memory stays constant, however much there is.
A file gets its name when it is whole, and nothing is overwritten.`,
  audit: `
Its first lines are the period and the totals; holes are what is not known, each with its reason.
It asks no cluster, and shows what the grants of the caller let it see.
The head of the chain is printed on standard error: keep it elsewhere, and --verify --head finds an audit that was made anew with less in it.
A removed cluster is in it only by --cluster.
docs/audit.md has every field.`,
  mcp: `
Its tools are the commands that look: status, list, get, describe, explain, doctor, schedule, timeline, events, changes, shadow and replay.
It has no tool that edits, and shows what the grants of the caller let it see.
An answer has at most 40,000 characters, and says what was left out.
docs/mcp.md has how an assistant gets it.`,
  series: `
It is what Prometheus receives from a run (docs/monitoring.md).`,
  status: `
It names the next step for each problem.
It is healthy when every partition was synced within two periods, every cluster answers and can be evaluated, and no newest scale was refused.
No autoscaler may have missed a metric or wanted more than its maxReplicas for 15 minutes, and no count may be fought over.
Everything stored must be readable, no time ahead of the clock, and no dead-letter queue may have a message.
Of a data folder a run must be alive.
A cluster that was just added has three minutes and two periods for its first sync.
A freeze, a pause and an override are shown and are no problem.
Under "Worth a look" stands what leaves it healthy, such as a workload that does not exist.`,
  apply: `
Files hold YAML or JSON, several documents, Lists.
All documents are checked before any is stored, and all problems of all files are reported at once, each with its file, line and field.
They are then stored one by one, and each is printed when it is stored: an apply that is killed has stored what it printed, and perhaps some of the next twenty-five.
Applying the same again stores the rest.
On a data folder Ctrl-C ends it after the current documents; a stack finishes the request.
A field that is not known, or is written twice, is an error unless --validate says otherwise.
What is accepted but is perhaps not meant is a line that begins with "warning: ".
-n is for manifests that name no namespace; one that names another is refused.
Objects of other kinds are passed over and counted on standard error; input of nothing else is an error.
So is a kind that looks mistyped, one under an apiVersion that is not accepted, and any other kind of the groups autoscaling and tidemark.dev.
There is no -k: give the output of kustomize build to -f -.
Of a folder the files .yaml, .yml and .json are read in order of name, at most 1,000; links to folders are not followed.
A document of kind Cluster connects a cluster or changes it, as "tidemark cluster add" does, and needs the right to connect clusters; a field that it does not have gets its default.
Clusters come first, then metric sources, then autoscalers; a cluster that is refused does not stop the other ones, and stops what comes after the clusters.
--prune deletes as kubectl does, in the cluster and the namespaces of the documents; where the documents have clusters, it also removes the clusters with the labels that are in no document.
It removes no cluster that has autoscalers, and nothing where more than 5 clusters and more than half of those with the labels would go.
It deletes nothing after an apply that was refused or cut off, and never an autoscaler that is read from an object of its cluster.
What another person edited since it was looked at stays, with an error.`,
  create: `
It is as apply, for scripts that must not meet an autoscaler.`,
  replace: `
It is as apply, for scripts that must meet each autoscaler.`,
  diff: `
It is a unified diff of the manifests with their defaults filled in; nothing is stored.`,
  edit: `
It opens the manifest in that editor, otherwise in vi, and applies what was saved.
A refused manifest is opened again with the reason at its top.
An autoscaler that another person edited meanwhile is not changed; a note says in which file the text is kept.
Saved without a change, or empty, nothing is done.`,
  autoscale: `
It makes what kubectl autoscale would make, for a Deployment, StatefulSet, ReplicaSet or ReplicationController.
It looks for the workload first, from where the syncs connect to the cluster, and stores nothing where it is not there.
Where the cluster or your rights give no answer, a note says so.
With --dry-run -o yaml it prints the manifest and opens nothing.
One that exists is not changed.`,
  delete: `
With -f it deletes those that the manifests name; only kind, name and namespace count, and all are read before anything is deleted.
What does not exist is an error at the end, and the others are deleted all the same.
What labels found is deleted only in the version that had them.
Where two people delete one at the same moment, one of them reads that it was deleted in the meantime.`,
  pause: `
It is measured all the same: get, describe and explain show what would happen, and its windows go on.
It lasts until it is resumed or the time has come.`,
  "override set": `
Look first whom it meets, with --dry-run.
An override ends by itself, and goes before schedule and manifest; bounds need an end, at most 30 days ahead.
Any hold holds; of each bound the override of the narrowest place counts, and --force turns that round.
docs/overrides.md has the rules.`,
  "override list": `
For a name, a namespace or a cluster it also lists the wider ones that meet it.`,
  "override extend": `
An expired override is not brought back.`,
  "override clear": `
The command changes says who set, extended and cleared which override.`,
  "calendar put": `
Of an iCalendar file it reads whole days, yearly rules (FREQ=YEARLY with INTERVAL, COUNT, UNTIL) and EXDATE; anything else is refused with its line.
The fleet has at most 50 calendars, a calendar 400 dates, and all together 1,000.
docs/overrides.md has more.`,
  "calendar list": `
-o dates prints what put reads.`,
  "calendar delete": `
Autoscalers whose schedules name a calendar that is gone hold (UnknownCalendar): to replace one, use put.`,
  import: `
It reads HPAs (autoscaling/v2), WatermarkPodAutoscalers, ScaledObjects, DatadogPodAutoscalers and objects that set counts by time.
Status, and what the server, Flux, Argo CD and KEDA have added, is left out.
With --apply, beside the controllers that are still there, they hold and write nothing.
What is not carried over goes to standard error; an object of which something is lost has no manifest, and the command then ends with 1.
docs/import.md has what becomes of each field.`,
  shadow: `
With a name it compares sync by sync: how many agree, every difference with both reasons, and the replica-hours of both.
Without one it prints a verdict for each: ready, look at, or too early.
csv has a row for each stretch of equal syncs; the journal is kept for 14 days.
docs/import.md says how the verdict is made.`,
  takeover: `
An HPA is deleted, a WatermarkPodAutoscaler gets dryRun: true, a ScaledObject is paused by its annotation, a DatadogPodAutoscaler gets the mode Preview.
Each autoscaler waits until it wants the count that there is and reads all its metrics, at most for --wait.
The first switch is made by itself, then two at once, then four, up to --batch.
The first two syncs are watched: where they cannot read or scale, the switch is undone.
It ends with 0 only where every autoscaler was taken; the same command goes on with the others.
docs/import.md has each step and each result.`,
  handback: `
-A and -l mean the autoscalers whose newest switch is a takeover.
It pauses the autoscaler, waits for a sync that holds, makes the object of the newest takeover again, and resumes when a sync has seen it, so that two never write at once.
Where a step fails the autoscaler stays paused, which keeps the count.`,
  writers: `
Tidemark is named by its field manager and its user, everything else by its user.
A workload may change its writer only by a takeover or handback that the history has.
docs/import.md has the policy that makes an API server log the writes.`,
  convert: `
All manifests of the files are printed, or none; an object of another kind is an error.
Objects that set counts by time become the schedule of the autoscaler that they are for.
What changes is on standard error, and what would be lost is refused by its name.
docs/import.md has the tables.`,
  crd: `
docs/specs-in-cluster.md has its columns, and where an API server and apply differ.`,
  "explain-schema": `
FIELD may leave out "spec."; of an object it lists the fields.
With -o json and without a field it prints the whole JSON Schema.`,
  "explain-reason": `
docs/reasons.md is the same list as a page.`,
  "cluster add": `
Before a connection is stored it is looked at, as "tidemark cluster check" does, and it is refused where no sync could work with it; --force stores it without a look.
By default one partition, "default", holds all namespaces.
--endpoint and --ca-data are compared with what AWS says.
With --replace, namespaces that move to another partition take their windows along; the command waits up to 90 s for open intents there to settle.
With --stack it needs the right to connect clusters.
docs/clusters.md has how a cluster is connected.`,
  "cluster check": `
The command ends with 1 where a necessary point failed: no sync could work.
A warning is none.
Custom kinds that its autoscalers scale are found; --kind names one before there is an autoscaler of it.`,
  "cluster rbac": `
Give what it prints to kubectl apply -f -.
Without a name it opens nothing.`,
  "cluster list": `
docs/clusters.md has what each state means.`,
  "cluster export": `
A caller needs to see the whole cluster, with its connection.
No document has a secret: it has the name of one.`,
  "cluster describe": `
It has its partitions and settings, since when it is in its state, and what the last sync reported.`,
  "cluster pause": `
Every workload is measured all the same.`,
  "cluster remove": `
Its history stays, and nothing can be applied to it meanwhile.
cluster describe shows a removal that was broken off: remove it again, or resume it to keep it.`,
  "partition describe": `
docs/clusters.md shows one.`,
  "partition reset": `
The autoscalers of a page that cannot be read go on as if each had just been scaled as far as its rules allow; such an intent is settled as unknown.
It waits up to 90 s for a sync to end, and 40 s for each intent: first its PUT must be out of time.
The history keeps the bytes, and each reset leaves a change with the name of the person.
After an error the same command goes on from there.`,
  "fleet freeze": `
A freeze stops writes, not measuring: every sync reads the clusters, decides and journals.
A fleet that is frozen already stays as it is, with its first reason; --replace puts the new one in its place.`,
  "fleet thaw": `
Look at DESIRED of get before it: the next sync goes to those counts, as far as the limits of each autoscaler let it.`,
  "fleet adopt": `
Until then every sync on such tables holds.
docs/operations.md has the runbook.`,
  "fleet move": `
docs/standby.md has the runbook, and what is lost.
It takes the right to connect clusters, and asks nothing of the region that the fleet was in.`,
  "access grant": `
From its first grant on a caller has only its grants.
--cluster '*' without -n is the whole fleet; a freeze needs that.
It takes the right to connect clusters; docs/api.md has what a pattern matches.`,
  "access revoke": `
It takes the right to connect clusters.`,
  "access require": `
It takes the right to connect clusters; on is refused until the caller itself has a grant of edit on the whole fleet.`,
  "auth can-i": `
Without -n all of the cluster is meant, and without --cluster all of the fleet.
In a data folder the answer is always yes: it has no callers.`,
  "wake send": `
A wake names no count: the sync decides as a planned sync does.
A wake within two seconds before a planned sync leaves the work to it.
docs/wake.md has who else can wake.`,
  "source put": `
It takes the right to connect clusters.
apply -f, diff -f and delete -f take a source as a document of the kind MetricSource, too.
docs/sources.md has each field.`,
  "source status": `
It has a line for each source: who asks it, how many metrics the newest syncs missed, the newest error, and questions and dollars a month.`,
  "source describe": `
It prints a document that apply takes.`,
  "stack deploy": `
The file has stage, region and parameters, which docs/operations.md lists; every deployment reads it, so that none loses a value.
It refuses a file with an unknown name, a value outside its bounds or a combination that would not work, before anything is sent.
It shows what changes, and runs osls deploy of the checkout.
A value that the stack has and the file does not name is not dropped silently: it asks on a terminal, and anywhere else is refused without --drop.
--set writes the value into the file when the deployment has succeeded; comments of the file stay.
Where TIDEMARK_STACK names another stack than the file, it refuses.`,
  "stack diff": `
Exit code 2 says that it could not compare.`,
  "stack status": `
With -o json it has the outputs too.`,
  "stack remove": `
It names the tables, which stay, and asks for the name of the stack.`,
  cost: `
Options that are not given are read from the stack or the data folder; a partition counts as a cluster.
Where the syncs of the last day have measured how much they change, there are two bills: one with the measured share, and one with the assumed share.
With both --clusters and --autoscalers the command opens neither a stack nor a folder.
The cost of readers is a line of its own, and both sums contain it.
The document has the fields fleet, parts, firstMonth, afterYear (with 13 months of history) and prices.
Where syncs have measured, it also has syncs (what one sync of all clusters has and changes) and assumed.
docs/cost.md has what each part is made of.`,
  start: `
It is npm start of the clone; docs/embedded-run.md has a section for each option.`,
  completion: `
It completes commands, options, types, and the names of autoscalers, namespaces, clusters and partitions of the fleet, read within two seconds.
kubectl tidemark completes with kubectl_complete-tidemark.`,
};
