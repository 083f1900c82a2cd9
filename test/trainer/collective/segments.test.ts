import { chunkCount, directChunkElements, segmentOf } from "../../../trainer-container/collective/segments";

describe("chunks of a direct all-reduce", () => {
  const ki = 1024;
  it.each<[string, number, number, number, number]>([
    ["nothing", 0, 2, 128 * ki, 0],
    ["less than a chunk", 1_000, 2, 128 * ki, 1],
    ["1 MiB on two ranks", 256 * ki, 2, 128 * ki, 1],
    ["16 MiB on four ranks: four of 1 MiB", 4_096 * ki, 4, 256 * ki, 4],
    ["not divisible: still four, a multiple of 4 KiB", 4_096 * ki + 4, 4, 257 * ki, 4],
    ["64 MiB on two ranks: at most 2 MiB each", 16_384 * ki, 2, 512 * ki, 16],
  ])("of %s", (_, elements, worldSize, chunk, count) => {
    expect(directChunkElements(elements, worldSize)).toBe(chunk);
    expect(chunkCount(segmentOf(elements, worldSize, 0), chunk)).toBe(count);
  });
});
