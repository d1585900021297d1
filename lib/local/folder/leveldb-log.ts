/**
 * The format of LevelDB's logs and manifests (its doc/log_format.md): blocks of 32 KiB that hold records of a masked CRC-32C, a length, a type and bytes; a record that does not fit
 * into its block goes on in the next one.
 */
const BLOCK_BYTES = 32_768;
const HEADER_BYTES = 7;
const TYPE = { none: 0, full: 1, first: 2, middle: 3, last: 4 } as const;

/**
 * The records of a log, oldest first; undefined where one is damaged. A record that the file cuts off at its end is none: its writer was killed before the write was answered.
 */
export const logRecords = (file: Buffer): readonly Buffer[] | undefined => {
  const records: Buffer[] = [];
  let parts: Buffer[] = [];
  for (let at = 0; at + HEADER_BYTES <= file.length; ) {
    const left = BLOCK_BYTES - (at % BLOCK_BYTES);
    if (left < HEADER_BYTES) {
      at += left;
      continue;
    }
    const type = file.readUInt8(at + 6);
    const end = at + HEADER_BYTES + file.readUInt16LE(at + 4);
    if (end > file.length) break;
    if (end - at > left || !isKnown(type) || unmasked(file.readUInt32LE(at)) !== crc32c(file.subarray(at + 6, end))) return undefined;
    parts.push(file.subarray(at + HEADER_BYTES, end));
    if (type === TYPE.full || type === TYPE.last) {
      records.push(Buffer.concat(parts));
      parts = [];
    }
    at = end;
  }
  return records;
};

const isKnown = (type: number): boolean => type >= TYPE.full && type <= TYPE.last;

const MASK = 0xa282ead8;

const unmasked = (crc: number): number => {
  const rotated = (crc - MASK) >>> 0;
  return ((rotated >>> 17) | (rotated << 15)) >>> 0;
};

/** Of Castagnoli (RFC 3720 B.4); Node has the other one alone. */
const crc32c = (bytes: Buffer): number => {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
};

const POLYNOMIAL = 0x82f63b78;
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  return crc >>> 0;
});
