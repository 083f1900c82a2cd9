import * as fs from "node:fs";
import * as path from "node:path";
import { pushData } from "../../../cli/datasets/push-data";
import type { ApiClient } from "../../../client/api-client";
import { schemaHashOf } from "../../../core/datasets/identity";
import type { ColumnSchema } from "../../../core/datasets/shapes";
import { temporaryFolder } from "../../support/temporary-folder";

describe("pushData", () => {
  const folder = temporaryFolder("push-data");

  const label: ColumnSchema = { name: "y", type: "bool", role: "label" };
  const version = (number: number, first: string) => {
    const schema: ColumnSchema[] = [{ name: first, type: "float", role: "feature" }, label];
    return { manifest: { name: "toy", version: number, schema, schemaHash: schemaHashOf(schema) } };
  };

  async function push(firstColumns: readonly string[]): Promise<unknown> {
    const versions = firstColumns.map((first, index) => version(firstColumns.length - index, first));
    const client = {
      call: async () => ({ items: versions }),
      datasetVersions: async () => versions,
      datasetLineage: async () => ({ nodes: [{ kind: "run" }] }),
    } as unknown as ApiClient;
    const schemaFile = path.join(folder, "toy.schema.yaml");
    fs.writeFileSync(schemaFile, "columns: [{ name: x, type: float }, { name: y, type: bool, role: label }]\n");
    const target = { name: "toy", sources: [path.join(folder, "gone.csv")], schemaFile };
    const listener = { onSource: () => {}, onProgress: () => {}, onContract: () => {} };
    return pushData(client, target, {}, listener).catch((error: unknown) => error);
  }

  it("refuses changed columns before it reads the data", async () => {
    expect(await push(["w"])).toMatchObject({
      code: "SCHEMA_MISMATCH",
      message: expect.stringMatching(/^the schema differs from that of toy@1: column w .* edit it, or remove it/),
    });
  });

  it.each([[["x"]], [["w", "x"]], [[]]])(
    "reads the data if a version has its columns, or none is there: %j",
    async (first) => {
      expect(await push(first)).toMatchObject({ message: expect.stringContaining("gone.csv") });
    },
  );
});
