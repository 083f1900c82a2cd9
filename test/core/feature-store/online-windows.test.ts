import { maxWindowRows, readOnline } from "../../../core/feature-store/online";
import { viewVersionOf } from "./versions";

it("refuses an entity with too many rows in the windows of a view", async () => {
  const version = viewVersionOf({
    ...{ name: "spend", entities: ["customer"], eventTime: "at" },
    columns: { customer: "int", at: "timestamp", spend: "float" },
    steps: [{ kind: "window", column: "spend", aggregate: "sum", over: "1d", name: "day" }],
  });
  const row = { key: "[1]", order: "1", eventTime: 0, values: [2] };
  const read = (rows: number) =>
    readOnline(
      {
        clock: { now: () => 0 },
        online: {
          get: async () => [{ ...row, values: { customer: 1, at: 0, spend: 2 } }],
          getWindowRows: async (_rows, _key, _since, limit) => Array.from({ length: Math.min(limit, rows) }, () => row),
        },
      },
      [version],
      [{ customer: 1 }],
    );
  expect((await read(maxWindowRows))[0]!.features).toEqual({ spend: 2, day: 2 * maxWindowRows });
  await expect(read(maxWindowRows + 1)).rejects.toThrow(
    /entities\[0\].*must have at most 10000 rows in the windows of view spend; aggregate them/,
  );
});
