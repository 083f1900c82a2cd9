import { ByteReader, ByteWriter } from "../../../adapters/metric-log/bytes";
import { Receipts } from "../../../adapters/metric-log/log-state";

function again(receipts: Receipts): Receipts {
  const out = new ByteWriter();
  receipts.write(out);
  return Receipts.read(new ByteReader(out.bytes()));
}

describe("receipts", () => {
  it("know each batch that came, in any order, and no other", () => {
    const receipts = new Receipts();
    for (const sequence of [5, 1, 2, 9, 4, 1]) receipts.add("w", sequence);
    for (const one of [receipts, again(receipts)]) {
      expect(Array.from({ length: 11 }, (_, i) => i).filter((i) => one.has("w", i))).toEqual([1, 2, 4, 5, 9]);
      expect(one.has("v", 1)).toBe(false);
    }
  });

  it("of a writer that leaves nothing out take no room, however many there are", () => {
    const receipts = new Receipts();
    for (let sequence = 0; sequence < 10_000; sequence += 1) receipts.add("w", sequence);
    const out = new ByteWriter();
    receipts.write(out);
    expect(out.length).toBeLessThan(10);
  });

  it("forget the oldest gaps and the writers that were silent longest", () => {
    const receipts = new Receipts();
    for (let i = 0; i < 40; i += 1) receipts.add("w", 2 * i);
    expect([receipts.has("w", 0), receipts.has("w", 78)]).toEqual([false, true]);
    for (let i = 0; i < 64; i += 1) receipts.add(`v${i}`, 1);
    expect([receipts.has("w", 78), receipts.has("v0", 1)]).toEqual([false, true]);
  });
});
