import {
  deflateRawSync,
  inflateRawSync,
  type ZlibOptions,
  constants,
  type ZstdOptions,
  zstdCompressSync,
  zstdDecompressSync,
} from "node:zlib";

/**
 * Texts that are in many bodies: field names and sentences of journal, intents and pages. The
 * rarest come first, because DEFLATE needs fewer bits for a near reference. The dictionary makes
 * small bodies a third smaller, and events a half. It is part of the format: a body can only be
 * read with the same dictionary. So this text must never change, even if the sentences of the code
 * change. A better dictionary would be a second one with its own mark (compressed.ts).
 */
export const DICTIONARY = Buffer.from(
  [
    // Native rules.
    '[["AbleToScale","True","SucceededGetScale","the scale of the target was read",17',
    '],["Idle","False","InUse","a metric is above its activation threshold",17',
    '],["BreachAbove","True","Breached","the metrics ask for more pods",17',
    '],["BreachAbove","False","Within","the metrics do not ask for more pods",17',
    '],["BreachBelow","False","Within","the metrics do not ask for fewer pods",17',
    '],["ScalingLimited","False","DesiredWithinRange","the wanted count is within minReplicas and maxReplicas",17',
    '{"step":"combine","before":{"step":"sustain","before":{"step":"round","before":{"step":"clamp","before":{"step":"cool down","before":{"step":"flap","before":',
    '"because":{"reason":"WithinTarget","message":"no metric asks for another count"},',
    // Watermark rules.
    '["AbleToScale","False","BackoffBoth","the time since the previous scale is still within both the downscale and upscale forbidden windows",17',
    '],["AbleToScale","True","SuccessfulScale","the WPA controller was able to update the target scale to ',
    '"],["AbleToScale","True","ReadyForScale","the last scaling time was sufficiently old as to warrant a new scale",17',
    '],["ConvergeToWatermark","False","Feature not enabled","Value between Watermarks",17',
    '],["BelowLowWatermark","False","Value above Low Watermark","Allow downscaling if the value stays under the Watermark",17',
    '],["AboveHighWatermark","False","Value above High Watermark","Allow upscaling if the value stays over the Watermark",17',
    '],["DryRun","False","DryRun mode disabled","Scaling changes can be applied",17',
    '],["ScalingActive","True","ValidMetricFound","the WPA was able to successfully calculate a replica count from ',
    '{map[app:","currentMetrics":[{"type":"External","external":{"metricName":"","metricSelector":{"matchLabels":{"app":"","currentValue":"',
    '"gauges":[{"name":"dry_run","labels":{},"value":0},{"name":"min_replicas","labels":{},"value":1},{"name":"max_replicas","labels":{},"value":10',
    '},{"name":"high_watermark","labels":{"metric_name":"","value":10000},{"name":"high_watermak","labels":{"metric_name":"',
    '},{"name":"low_watermark","labels":{"metric_name":"","value":10000},{"name":"low_watermak","labels":{"metric_name":"","value":',
    '},{"name":"restricted_scaling","labels":{"reason":"within_bounds"},"value":0},{"name":"replicas_scaling_proposal","labels":{"metric_name":"',
    '},{"name":"restricted_scaling","labels":{"reason":"downscale_capping"},"value":0},{"name":"conditions","labels":{"condition":"scaling_limited"},"value":0',
    '},{"name":"transition_countdown","labels":{"transition":"downscale"},"value":0},{"name":"transition_countdown","labels":{"transition":"upscale"},"value":0',
    '},{"name":"conditions","labels":{"condition":"able_to_scale"},"value":1},{"name":"replicas_scaling_effective","labels":{},"value":1',
    '},{"name":"scaling_active","labels":{},"value":1}',
    '{"step":"normalise","before":{"step":"gates","before":{"step":"bounds","before":"because":{"reason":"NoChange","message":"value within the watermarks"},',
    // Intents and events.
    ',"targetUid":"","target":{"apiVersion":"apps/v1","kind":"Deployment","name":"","resourceVersion":"","targetGeneration":,"decidedMs":17,"deadlineMs":17,"specGeneration":1,"trigger":"',
    '"events":[{"type":"Normal","reason":"SuccessfulRescale","message":"New size: ; reason: All metrics below target"}],"outcome":"applied","recommendation":',
    // The HPA's.
    '"limit":{"reason":"ScaleUpLimit","value":,"message":"the desired replica count is increasing faster than the maximum scale rate"',
    '"limit":{"reason":"ScaleDownLimit","value":,"message":"the desired replica count is decreasing faster than the maximum scale rate"',
    '"limit":{"reason":"TooManyReplicas","value":,"message":"the desired replica count is more than the maximum replica count"',
    '"limit":{"reason":"ScaleDownStabilized","value":,"message":"recent recommendations were higher than current one, applying the highest recent recommendation","untilMs":17',
    '["AbleToScale","True","SucceededRescale","the HPA controller was able to update the target scale to ',
    '"],["AbleToScale","True","ReadyForNewScale","recommended size matches current size",17',
    '],["ScalingActive","True","ValidMetricFound","the HPA was able to successfully calculate a replica count from external metric (nil)",17',
    '],["ScalingActive","True","ValidMetricFound","the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)",17',
    '],["ScalingLimited","False","DesiredWithinRange","the desired count is within the acceptable range",17',
    '],["ScaledToZero","False","NotScaledToZero","the HPA controller did not scale the workload to zero",17',
    ']],[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":60,"averageValue":"',
    // A page of the journal.
    '[{"atMs":17,"epoch":,"page":0,"partial":true,"previousMs":17},[[1,{"uid":0,"namespace":0,"name":0,"kind":0,"failed":0,"from":0,"because":{"reason":0,"message":0},"bounds":{"min":0,"max":0},"generation":0,',
    '"metrics":[{"name":0,"type":0,"kind":0,"value":0,"target":0,"ratio":0,"proposal":0,"pods":{"matched":0,"owned":0},"turns":{"value":0,"below":{"value":0,"asks":0},"above":{"value":0,"asks":0}}}],"steps":[{"step":0,"before":0,"after":0}],"events":[],',
    '"status":{"conditions":[{"type":0,"status":0,"reason":0,"message":0,"transitionMs":0},{"type":0,"status":0,"reason":0,"message":0,"transitionMs":0}],"currentReplicas":0,"desiredReplicas":0,"lastScaleMs":0},"totals":{"ups":0,"added":0,"downs":0,"removed":0,"epoch":0},"ready":0}',
    // A scale, in an intent and an event.
    '"pods":{"matched":6,"owned":6,"counted":6,"unready":1,"missing":1,"oldestSeconds":1},"turns":{"value":"","below":{"value":"0.9","asks":"fewer"},"above":{"value":"1.11","asks":"more"}}},{"name":"","type":"External","kind":"measured","value":"',
    '{"partition":"default","namespace":"","name":"","target":{"kind":"Deployment","name":"","apiVersion":"apps/v1"},"settledMs":17,"from":6,"to":12,"reason":"AllMetricsBelowTarget","reason":"MetricAboveTarget","message":" asks for ; the rate limit allowed ',
    '","metrics":[{"name":"external metric (nil)","type":"External","kind":"measured","value":"m","target":"40","ratio":0.,"proposal":6,"pods":{"matched":6,"owned":6},"turns":{"value":"","above":{"value":"60.61","asks":"same"}}},{"name":"cpu resource utilization (percentage of request)","type":"Resource","kind":"measured","value":"95%","target":"60%","ratio":1.,"proposal":14,"pods":{"matched":6,"owned":6},"turns":{"value":"","below":{"value":"1.11","asks":"same"}}}],',
    '"steps":[{"step":"combine","before":6,"after":19},{"step":"sustain","before":19,"after":19},{"step":"stabilize","before":19,"after":19},{"step":"round","before":19,"after":19},{"step":"limit","before":19,"after":19},{"step":"clamp","before":19,"after":19},{"step":"cool down","before":19,"after":19},{"step":"flap","before":19,"after":19}],',
    '"steps":[{"step":"propose","before":6,"after":14},{"step":"normalise","before":14,"after":12,"limit":{"reason":"ScaleUpLimit","value":12,"message":"the desired replica count is increasing faster than the maximum scale rate"}},{"step":"gates","before":12,"after":12},{"step":"bounds","before":12,"after":12}],',
    '"steps":[{"step":"propose","before":19,"after":16},{"step":"stabilize","before":16,"after":16},{"step":"limit","before":16,"after":16}],"specGeneration":1,"outcome":"applied"}',
  ].join(""),
);

/**
 * A larger inflated body is damage, not data: an item holds 400 KB at most, and this text
 * compresses less than a hundredfold.
 */
const INFLATED_BYTES_MAX = 40_000_000;

/** Set in the first byte of every body: it uses the dictionary. */
const WITH_DICTIONARY = 0x80;

/**
 * Compresses a value as JSON text with DEFLATE. The first byte holds the version of the content, up
 * to 127, and whether the dictionary is used.
 */
export const compress = (version: number, value: unknown): Uint8Array =>
  compressText(version, Buffer.from(JSON.stringify(value)));

/** The same of a value that is JSON text already. */
export const compressText = (version: number, text: Buffer): Uint8Array => {
  const deflated = deflateRawSync(text, { ...roomFor(text.length), dictionary: DICTIONARY });
  return Buffer.concat([Buffer.of(version | WITH_DICTIONARY), deflated]);
};

const WINDOW_BITS = { min: 9, max: 15 } as const;
const MEMORY_LEVEL_MAX = 8;
/** The text shrinks to less than a quarter. */
const SHRINKS_BY = 4;
/** The text seldom shrinks to less than a twelfth. */
const SHRINKS_AT_MOST_BY = 12;
const CHUNK_BYTES = { min: 1_024, max: 65_536 } as const;

/**
 * A window as long as dictionary and text, with matching memory. The result is the same as with the
 * largest window, but zlib need not clear 256 KB for an intent of 700 bytes.
 */
const roomFor = (bytes: number): ZlibOptions => {
  const windowBits = Math.min(
    WINDOW_BITS.max,
    Math.max(WINDOW_BITS.min, 32 - Math.clz32(DICTIONARY.length + bytes + LOOKAHEAD_BYTES)),
  );
  return {
    windowBits,
    memLevel: Math.min(MEMORY_LEVEL_MAX, windowBits - 6),
    chunkSize: chunkFor(Math.ceil(bytes / SHRINKS_BY)),
  };
};

/**
 * The output buffer of zlib, as large as the expected output: so it clears no 64 KB for an intent,
 * and needs few buffers for a page.
 */
const chunkFor = (bytes: number): number =>
  Math.min(CHUNK_BYTES.max, Math.max(CHUNK_BYTES.min, bytes));
/** The part of the window that zlib does not use. */
const LOOKAHEAD_BYTES = 262;

/** The JSON text of a body. Throws the error of zlib for damaged bytes. */
export const inflatedText = (body: Uint8Array): Buffer => {
  const chunkSize = chunkFor(body.length * SHRINKS_AT_MOST_BY);
  return inflateRawSync(body.subarray(1), {
    maxOutputLength: INFLATED_BYTES_MAX,
    chunkSize,
    dictionary: DICTIONARY,
  });
};

/** The version of the content of a body; below 0 for bytes that are no such body. */
export const versionOf = ([first = 0]: Uint8Array): number => first - WITH_DICTIONARY;

/**
 * Decompresses a body to its version and value. Throws the error of zlib or JSON for damaged bytes.
 */
export const decompress = (
  body: Uint8Array,
): { readonly version: number; readonly value: unknown } => ({
  version: versionOf(body),
  value: JSON.parse(inflatedText(body).toString()) as unknown,
});

/**
 * What `read` makes of the value of a body; `undefined` for damage, or a later version: a reader
 * then does without.
 */
export const readIfKnown = <Value>(
  body: Uint8Array,
  known: number,
  read: (value: unknown) => Value,
): Value | undefined => {
  try {
    const { version, value } = decompress(body);
    return version === known ? read(value) : undefined;
  } catch {
    return undefined;
  }
};

/** The first of ever lighter forms whose body is not too large; the last one in any case. */
export const firstWithin = <Form>(
  bytesMax: number,
  forms: readonly Form[],
  bodyOf: (form: Form) => Uint8Array,
): Uint8Array => {
  let body = new Uint8Array();
  for (const form of forms) {
    body = new Uint8Array(bodyOf(form));
    if (body.length <= bytesMax) break;
  }
  return body;
};

export interface Zstd {
  readonly compress: typeof zstdCompressSync;
  readonly decompress: typeof zstdDecompressSync;
}

const PROBE_BYTES = 256;
/** Bytes that shrink only with a dictionary: each value occurs once. */
const PROBE = Buffer.from(Array.from({ length: PROBE_BYTES }, (_, at) => (at * 167) % PROBE_BYTES));

/**
 * True where zstd uses a dictionary: what equals its dictionary shrinks to almost nothing, and
 * comes back. Node before 24.6 drops the option without an error. What it writes can be read
 * everywhere, but is no smaller; and it cannot read what a later Node wrote with a dictionary.
 */
export const usesDictionaries = (
  { compress: pack, decompress: unpack }: Zstd = {
    compress: zstdCompressSync,
    decompress: zstdDecompressSync,
  },
): boolean => {
  try {
    const small = pack(PROBE, { dictionary: PROBE });
    return small.length < PROBE_BYTES / 2 && unpack(small, { dictionary: PROBE }).equals(PROBE);
  } catch {
    return false;
  }
};

let answer: boolean | undefined;

/** Whether the zstd of this process uses dictionaries. It is tried once, when it is asked first. */
export const hasDictionaries = (): boolean => {
  answer ??= usesDictionaries();
  return answer;
};

/** A larger text is damage, not data. */
const TEXT_BYTES_MAX = 40_000_000;
/**
 * Level 9 saves 1 % of the bytes at most, and takes five times as long for a small page. Level 1
 * needs 1.5 to 2 times the bytes. Level 5 takes half of the time for a sixth more bytes: writing
 * those costs some fifty times what the time does.
 */
const LEVEL = 8;

/** The base is the dictionary. The checksum shows a wrong or damaged base. */
const PARAMS: ZstdOptions = {
  params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
};

/** The bytes of a text, as its difference from a base where there is one. */
export const packed = (text: Uint8Array, base?: Uint8Array): Buffer =>
  zstdCompressSync(text, { ...PARAMS, ...(base && { dictionary: base }) });

/** The text of packed bytes. Throws the error of zlib for damaged bytes, and for another base. */
export const unpacked = (bytes: Uint8Array, base?: Uint8Array): Buffer =>
  zstdDecompressSync(bytes, { maxOutputLength: TEXT_BYTES_MAX, ...(base && { dictionary: base }) });
