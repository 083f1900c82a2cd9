import fc from "fast-check";
import { encodeHeader, type FrameHeader, FrameReader, frameTypes } from "../../../trainer-container/collective/frame";

interface Received {
  readonly offset: number;
  readonly payload: Buffer;
}

/** Feeds a stream as a socket would: into whatever buffer the reader offers, at most `piece` bytes at a time. */
function feed(reader: FrameReader, stream: Buffer, pieces: readonly number[], whenHeld: () => void): void {
  let at = 0;
  for (let i = 0; at < stream.length; i++) {
    const buffer = reader.nextBuffer();
    const length = Math.min(pieces[i % pieces.length]!, buffer.length, stream.length - at);
    stream.copy(buffer, 0, at, at + length);
    at += length;
    let open = reader.received(length, buffer);
    while (!open) {
      whenHeld();
      open = reader.resume();
    }
  }
}

const frame = (offset: number, payload: Buffer) =>
  Buffer.concat([encodeHeader({ type: frameTypes.sum, offset, bytes: payload.length }), payload]);

describe("FrameReader", () => {
  it("cuts any stream into its frames, however it arrives and wherever it is held", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(0, 1, 4, 39, 40, 41, 5_000, 8_192, 70_000, 200_000), { maxLength: 12 }),
        fc.array(fc.constantFrom(1, 7, 39, 40, 41, 1_000, 65_536, 100_000), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 4 }),
        (sizes, pieces, holdEvery) => {
          const payloads = sizes.map((size, i) => Buffer.alloc(size, i + 1));
          const received: Received[] = [];
          let held = 0;
          let target = Buffer.alloc(0);
          const reader = new FrameReader({
            place: ({ offset, bytes }: FrameHeader) => {
              if (offset % holdEvery === 0 && held <= offset) return "hold";
              target = Buffer.alloc(bytes);
              return target;
            },
            complete: ({ offset }) => received.push({ offset, payload: target }),
          });
          const stream = Buffer.concat(payloads.map((payload, i) => frame(i, payload)));
          // A byte at a time is for the small streams.
          const paces = stream.length > 10_000 ? pieces.map((piece) => Math.max(piece, 1_000)) : pieces;
          feed(reader, stream, paces, () => {
            held = received.length + 1;
          });
          expect(received.map(({ offset }) => offset)).toEqual(sizes.map((_, i) => i));
          expect(received.every(({ payload }, i) => payload.equals(payloads[i]!))).toBe(true);
        },
      ),
      { seed: 11, numRuns: 100 },
    );
  });

  it("reads a large payload straight into its place", () => {
    const place = Buffer.alloc(100_000);
    const reader = new FrameReader({ place: () => place, complete: () => {} });
    const header = encodeHeader({ type: frameTypes.sum, bytes: place.length });
    const buffer = reader.nextBuffer();
    header.copy(buffer);
    reader.received(header.length, buffer);
    const next = reader.nextBuffer();
    expect(next.buffer).toBe(place.buffer);
    expect(next.length).toBe(place.length);
  });

  it("refuses bytes that are no frame, and places that do not fit", () => {
    const reader = new FrameReader({ place: () => Buffer.alloc(4), complete: () => {} });
    const noise = Buffer.alloc(64, 7);
    expect(() => feed(reader, noise, [64], () => {})).toThrow("not in step");
    const other = new FrameReader({ place: () => Buffer.alloc(4), complete: () => {} });
    expect(() => feed(other, frame(0, Buffer.alloc(8)), [64], () => {})).toThrow("8 bytes has a place of 4");
  });
});
