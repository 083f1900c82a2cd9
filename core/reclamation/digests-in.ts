const digits = 64;

const isDigit = new Uint8Array(256);
for (const character of "0123456789abcdef") isDigit[character.charCodeAt(0)] = 1;

/**
 * Finds every SHA-256 in a text: each sequence of exactly 64 lower-case hexadecimal digits. It needs no knowledge of the
 * document, so a new kind of reference is found without a change here.
 */
export async function* digestsIn(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const text = Buffer.concat([rest, chunk]);
    yield* completeDigests(text, false);
    // A sequence at the end may continue. Of a longer one, 65 digits are enough to know that it is no digest.
    let start = text.length;
    while (start > 0 && text.length - start <= digits && isDigit[text[start - 1]!] === 1) start -= 1;
    rest = Buffer.from(text.subarray(start));
  }
  yield* completeDigests(rest, true);
}

/** @param last whether a sequence at the end is complete */
function* completeDigests(text: Buffer, last: boolean): Generator<string> {
  // Every sequence of 64 digits contains a position that is a multiple of 64, less one.
  for (let at = digits - 1; at < text.length; at += digits) {
    if (isDigit[text[at]!] !== 1) continue;
    let start = at;
    while (start > 0 && at - start <= digits && isDigit[text[start - 1]!] === 1) start -= 1;
    let end = at + 1;
    while (end < text.length && end - start <= digits && isDigit[text[end]!] === 1) end += 1;
    if (end - start === digits && (end < text.length || last)) yield text.toString("latin1", start, end);
  }
}
