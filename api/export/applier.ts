/**
 * The file `transform.mjs` of an exported TensorFlow.js model: the transform without dependencies on this platform. A
 * test compares it with `core/features/transform.ts`.
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
export function toInputs({ columns, transform }, rows) {
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const dense = new Float32Array(rows.length * transform.width);
  rows.forEach((row, index) => {
    for (const output of transform.outputs) {
      const raw = row[output.column];
      if (raw === null || raw === undefined) continue;
      const type = types.get(output.column);
      const at = index * transform.width + output.offset;
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
  const iso = raw.trim().replace(" ", "T");
  return Date.parse(/T/.test(iso) && !/(Z|[+-]\\d\\d:?\\d\\d)$/i.test(iso) ? iso + "Z" : iso);
}

function partOf(time, part) {
  const date = new Date(time);
  return part === "hour" ? date.getUTCHours() : part === "dayOfWeek" ? date.getUTCDay() : date.getUTCMonth() + 1;
}
`;
