import { formatBytes, formatCount, formatDuration } from "../../core/quantities";

it.each([
  [999, "999 B"],
  [1_000, "1.0 KB"],
  [12_540, "12.5 KB"],
  [99_960, "100 KB"],
  [999_600, "1.0 MB"],
  [674_140_000, "674 MB"],
  [2_100_000_000_000_000, "2100 TB"],
])("%i bytes are %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

it.each([
  [0, "0 shards"],
  [1, "1 shard"],
])("%i are counted as %s", (count, text) => {
  expect(formatCount(count, "shard")).toBe(text);
});

it.each([
  [-5, "0 s"],
  [0.2, "0 ms"],
  [999.6, "1.0 s"],
  [12_140, "12.1 s"],
  [59_960, "1m 00s"],
  [3_599_600, "1h 00m"],
  [3_900_000, "1h 05m"],
  [273_600_000, "3d 04h"],
])("%d milliseconds are %s", (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
});
