/** An exporter of Prometheus that has the number of a trigger. */
const exporter = (name: string): string =>
  `scrape ${name} with Prometheus, and use a trigger prometheus`;
/** A database answers any query. An exporter asks it at its own pace, with its own credential. */
const query = (name: string): string =>
  `let ${name} run the query as a metric of Prometheus, and use a trigger prometheus`;
/** A server that answers a GET with JSON, in which the number has a fixed place. */
const json = (path: string): string =>
  `ask ${path} by a trigger metrics-api, which becomes a source of kind http`;
const SERVED =
  "let a small server answer with its number as JSON or for Prometheus, and use a trigger metrics-api or prometheus";
const SQL = query("sql_exporter");
const GRPC =
  "its gRPC server is in the cluster; let it serve the number to Prometheus or as JSON, and use a trigger prometheus or metrics-api";
const AZURE = exporter("azure-metrics-exporter");
const GOOGLE = exporter("stackdriver-exporter");
/** A service whose source and metric are written out. */
const page = (what: string): string =>
  `${what}: docs/sources-by-service.md has its source and its metric, to be written by hand`;
const VENDOR =
  "forward the metric to Prometheus by the exporter of the vendor, and use a trigger prometheus";
const FORECAST =
  "it wants a forecast, and not a value that was measured; ask for the value itself by a trigger prometheus";

/** The nearest way out of each type of KEDA 2.21 that is not carried over. */
export const WAYS_OUT: ReadonlyMap<string, string> = new Map([
  ["activemq", exporter("the JMX exporter of ActiveMQ (org_apache_activemq_Broker_QueueSize)")],
  ["arangodb", SERVED],
  ["artemis-queue", exporter("the metrics plugin of Artemis (artemis_message_count)")],
  [
    "aws-dynamodb",
    "no metric of CloudWatch counts the items of a query; let the application write the count to CloudWatch, and use a trigger aws-cloudwatch",
  ],
  [
    "aws-dynamodb-streams",
    "it counts shards; read IteratorAge of AWS/Lambda with a trigger aws-cloudwatch",
  ],
  [
    "aws-kinesis-stream",
    "it counts shards; read GetRecords.IteratorAgeMilliseconds of AWS/Kinesis with a trigger aws-cloudwatch",
  ],
  ["azure-app-insights", AZURE],
  ["azure-blob", AZURE],
  ["azure-cosmosdb", AZURE],
  ["azure-data-explorer", SERVED],
  ["azure-eventhub", AZURE],
  ["azure-log-analytics", SERVED],
  ["azure-monitor", page("ask its API by a source of kind http with oauth2")],
  ["azure-pipelines", SERVED],
  ["azure-queue", AZURE],
  ["beanstalkd", exporter("beanstalkd_exporter (current_jobs_ready)")],
  ["cassandra", SERVED],
  ["clickhouse", SQL],
  ["couchdb", SERVED],
  ["datadog", page("serve the query as a DatadogMetric")],
  ["dynatrace", VENDOR],
  ["elastic-forecast", FORECAST],
  ["elasticsearch", page("ask INDEX/_count by a source of kind http")],
  ["etcd", SERVED],
  ["external", GRPC],
  ["external-push", GRPC],
  ["forgejo-runner", SERVED],
  ["gcp-cloudtasks", GOOGLE],
  ["gcp-spanner", SERVED],
  ["gcp-stackdriver", GOOGLE],
  ["gcp-storage", SERVED],
  ["github-runner", SERVED],
  ["graphite", exporter("graphite_exporter")],
  ["huawei-cloudeye", exporter("cloudeye-exporter")],
  ["ibmmq", exporter("the Prometheus collector of IBM MQ (ibmmq_queue_depth)")],
  ["influxdb", SERVED],
  [
    "kubernetes-resource",
    query("the custom resource state metrics of kube-state-metrics or a small exporter"),
  ],
  ["liiklus", SERVED],
  ["loki", "write a recording rule of Loki to Prometheus, and use a trigger prometheus"],
  ["mongodb", SERVED],
  ["mssql", SQL],
  ["mysql", SQL],
  ["new-relic", page("ask it in PromQL with a query key")],
  ["nsq", exporter("nsq_exporter (nsq_topic_channel_depth)")],
  ["opensearch", json("INDEX/_count of OpenSearch")],
  ["openstack-metric", SERVED],
  ["openstack-swift", SERVED],
  ["postgresql", SQL],
  ["predictkube", FORECAST],
  ["pulsar", exporter("the metrics of Pulsar itself (pulsar_subscription_back_log)")],
  ["selenium-grid", SERVED],
  ["solace-direct-messaging", exporter("the Solace exporter")],
  ["solace-event-queue", exporter("the Solace exporter")],
  ["solarwinds", VENDOR],
  ["solr", exporter("the Prometheus exporter of Solr")],
  ["splunk", SERVED],
  ["splunk-observability", VENDOR],
  ["sumologic", VENDOR],
  ["temporal", exporter("the metrics of Temporal itself (approximate_backlog_count)")],
]);

/** For a type that KEDA 2.21 does not have. */
export const ANY_WAY_OUT =
  "export its number to Prometheus or CloudWatch, or serve it as JSON, and use a trigger prometheus, aws-cloudwatch or metrics-api";
