/**
 * The file `transform.mjs` of an exported TensorFlow.js model. A test compares it with `core/features/transform.ts`.
 */
export const applier = `// How to serve this model with stock TensorFlow.js:
//
//   const model = await tf.loadLayersModel("…/model.json");
//   const document = await (await fetch("…/transform.json")).json();
//   const inputs = tf.tensor(toInputs(document, rows), [rows.length, ...document.transform.shape]);
//   const answers = toAnswers(document, model.predict(inputs).dataSync());
//
// A row is an object of raw columns: numbers, text, booleans, times as ISO 8601 (UTC) or milliseconds, tensors as lists; null is missing.

/** Raw rows to the network's dense inputs, row-major. */
export function toInputs({ columns, transform, expressions }, rows) {
  if (expressions) return plannedInputs(columns, transform, expressions, rows);
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const dense = new Float32Array(rows.length * transform.width);
  rows.forEach((row, index) => {
    for (const output of transform.outputs) {
      const raw = row[output.column];
      const at = index * transform.width + output.offset;
      if (output.kind === "piecewise") {
        const number = Math.fround(((raw ?? output.mean) - output.mean) / output.deviation);
        output.means.forEach((mean, i) => {
          const [low, high] = output.boundaries.slice(i, i + 2);
          dense[at + i] = output.scale * (Math.min(1, Math.max(0, (number - low) / (high - low))) - mean);
        });
        continue;
      }
      if (raw === null || raw === undefined) continue;
      const type = types.get(output.column);
      if (output.kind === "numeric") {
        const numbers = type === "tensor" ? [raw].flat(Infinity).map(Math.fround) : [raw];
        numbers.forEach((number, i) => { dense[at + i] = (number - output.mean) / output.deviation; });
      } else {
        const value = type === "timestamp" ? partOf(timeOf(raw), output.part) : type === "bool" ? raw === true || raw === 1 : raw;
        const known = output.vocabulary.indexOf(value);
        const code = output.buckets ? murmurHash3(value) % output.buckets : known < 0 && output.other ? output.vocabulary.length : known;
        if (code >= 0) dense[at + code] = 1;
      }
    }
  });
  return dense;
}

function plannedInputs(columns, { outputs, width }, { intermediates, features }, rows) {
  const dense = new Float32Array(rows.length * width);
  rows.forEach((raw, index) => {
    const row = Object.create(null);
    for (const { name, type } of columns) {
      const value = raw[name] ?? null;
      row[name] = value === null ? null
        : type === "timestamp" ? timeOf(value)
        : type === "bool" ? value === true || value === 1
        : type === "string" ? new TextDecoder().decode(new TextEncoder().encode(value))
        : value;
    }
    for (const { name, operation } of intermediates) row[name] = valueOf(operation, row);
    features.forEach((operation, i) => {
      const value = valueOf(operation, row);
      const at = index * width + outputs[i].offset;
      if (value === null) return;
      if (outputs[i].kind === "numeric") dense[at] = value;
      else dense[at + value] = 1;
    });
  });
  return dense;
}

function valueOf(operation, row) {
  const { op, inputs } = operation;
  if (op === "variable") return row[operation.name] ?? null;
  if (op === "number" || op === "text") return operation.value;
  const values = inputs.map((input) => valueOf(input, row));
  if (op === "coalesce") return values[0] ?? values[1];
  if (op === "missing") return values[0] === null ? 1 : 0;
  return values.includes(null) ? null : functions[op](values, operation);
}

const functions = {
  add: ([a, b]) => a + b,
  subtract: ([a, b]) => a - b,
  multiply: ([a, b]) => a * b,
  divide: ([a, b]) => (b === 0 ? null : a / b),
  less: ([a, b]) => a < b,
  floor: ([a]) => Math.floor(a),
  finite: ([a]) => (Number.isFinite(a) ? a : null),
  ln: ([a]) => (a > 0 ? Math.log(a) : null),
  sin: ([a]) => Math.sin(a),
  cos: ([a]) => Math.cos(a),
  clamp: ([a], { low, high }) => (a < low ? low : a > high ? high : a),
  bucketIndex: ([a], { boundaries }) => boundaries.filter((boundary) => boundary <= a).length,
  booleanNumber: ([a]) => Number(a),
  booleanText: ([a]) => String(a),
  wholeText: ([a]) => (Number.isSafeInteger(a) ? String(a) : null),
  join: (texts) => texts.join("\u001f"),
  lookup: ([a], operation) => tableOf(operation).get(a) ?? null,
  textLength: ([a]) => [...a].length,
  bucketOf: ([a], { buckets }) => md5Prefix(a) % buckets,
  countIn: ([list], { value }) => list.filter((each) => each === value).length,
  ngramBuckets([a], { n, buckets, maxCharacters }) {
    const all = [...a].slice(0, maxCharacters);
    const count = Math.max(0, all.length - n + 1);
    return Array.from({ length: count }, (_, i) => md5Prefix(all.slice(i, i + n).join("")) % buckets);
  },
  calendarPart([days], { part }) {
    if (Math.abs(days) > 99e6) return null;
    const date = new Date(days * 86400000);
    if (part === "year") return date.getUTCFullYear();
    if (part === "month") return date.getUTCMonth() + 1;
    if (part === "day") return date.getUTCDate();
    return days - new Date(0).setUTCFullYear(date.getUTCFullYear(), 0, 1) / 86400000 + 1;
  },
};

const tables = new WeakMap();

function tableOf(operation) {
  if (!tables.has(operation)) tables.set(operation, new Map(operation.table));
  return tables.get(operation);
}

// The first 32 bits of MD5 (RFC 1321) of UTF-8, most significant byte first.
function md5Prefix(text) {
  const bytes = new TextEncoder().encode(text);
  const padded = new DataView(new ArrayBuffer(((bytes.length + 8) >> 6) * 64 + 64));
  bytes.forEach((byte, i) => padded.setUint8(i, byte));
  padded.setUint8(bytes.length, 0x80);
  padded.setUint32(padded.byteLength - 8, bytes.length * 8, true);
  padded.setUint32(padded.byteLength - 4, Math.floor(bytes.length / 2 ** 29), true);
  const shifts = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
  let state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
  for (let block = 0; block < padded.byteLength; block += 64) {
    let [a, b, c, d] = state;
    for (let i = 0; i < 64; i++) {
      const round = i >> 4;
      const mixed = [(b & c) | (~b & d), (b & d) | (c & ~d), b ^ c ^ d, c ^ (b | ~d)][round];
      const word = [i, 5 * i + 1, 3 * i + 5, 7 * i][round] % 16;
      const constant = Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32);
      const sum = (a + mixed + constant + padded.getUint32(block + word * 4, true)) | 0;
      const shift = shifts[round][i % 4];
      [a, d, c, b] = [d, c, b, (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0];
    }
    state = [(state[0] + a) | 0, (state[1] + b) | 0, (state[2] + c) | 0, (state[3] + d) | 0];
  }
  const result = new DataView(new ArrayBuffer(4));
  result.setInt32(0, state[0], true);
  return result.getUint32(0);
}

/** The network's outputs to {label, probabilities} a row, or {value}. */
export function toAnswers({ label, activation, cut = 0.5 }, outputs) {
  if (label.kind === "value") return Array.from(outputs, (value) => ({ value }));
  const width = activation === "sigmoid" ? 1 : label.classes.length;
  return Array.from({ length: outputs.length / width }, (_, row) => {
    const logits = Array.from(outputs.slice(row * width, (row + 1) * width));
    const probabilities = activation === "sigmoid" ? binary(logits[0]) : softmax(logits);
    const best = activation === "sigmoid" ? Number(probabilities[1] > cut) : probabilities.indexOf(Math.max(...probabilities));
    return { label: label.classes[best], probabilities };
  });
}

function binary(logit) {
  const second = 1 / (1 + Math.exp(-logit));
  return [1 - second, second];
}

function softmax(logits) {
  const largest = Math.max(...logits);
  const powers = logits.map((logit) => Math.exp(logit - largest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

// MurmurHash3, x86, 32 bits, seed 0, of UTF-8.
function murmurHash3(text) {
  const bytes = new TextEncoder().encode(text);
  const rotate = (value, bits) => (value << bits) | (value >>> (32 - bits));
  const mixed = (block) => Math.imul(rotate(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
  const whole = bytes.length & ~3;
  let hash = 0;
  for (let i = 0; i < whole; i += 4) {
    const block = bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24);
    hash = (Math.imul(rotate(hash ^ mixed(block), 13), 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let i = bytes.length - 1; i >= whole; i--) tail = (tail << 8) | bytes[i];
  if (bytes.length > whole) hash ^= mixed(tail);
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function timeOf(raw) {
  if (typeof raw === "number") return Math.floor(raw);
  const found = /^([+-]\\d{6}|\\d{4,6})([-/])(\\d\\d?)\\2(\\d\\d?)(?:[T ] *(\\d\\d?):(\\d\\d)(?::(\\d\\d)(?:\\.(\\d+))?)?(?:Z|([+-])(\\d\\d):?(\\d\\d)?)?)?$/i.exec(raw.trim());
  const [, year, , month, day, hour = 0, minute = 0, second = 0, fraction = "", sign, hours = 0, minutes = 0] = found ?? [];
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const inDay = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  if (date.getUTCMonth() + 1 !== Number(month) || date.getUTCDate() !== Number(day) || inDay > 86400 || Number(minute) > 59 || Number(second) > 59)
    throw new Error("not a date or time in ISO 8601: " + raw);
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60 : 60);
  return date.getTime() + (inDay - offset) * 1000 + Number(fraction.slice(0, 3).padEnd(3, "0"));
}

function partOf(time, part) {
  const date = new Date(time);
  return part === "hour" ? date.getUTCHours() : part === "dayOfWeek" ? date.getUTCDay() : date.getUTCMonth() + 1;
}
`;
