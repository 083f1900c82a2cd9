import * as fs from "node:fs";
import * as path from "node:path";
import { parseJobFile } from "../../cli/job-file";
import { parseDatasetSchema } from "../../core/datasets/schema";
import { fitColumnsOf } from "../../core/features/feature-columns";

describe.each(["digits", "flights", "penguins"])("examples/%s", (example) => {
  const folder = path.join(__dirname, "../../examples", example);
  const read = (name: string) => fs.readFileSync(path.join(folder, name), "utf8");
  const schema = parseDatasetSchema(read("schema.yaml"));
  const { job } = parseJobFile("job.yaml", read("job.yaml"));

  it("has a job for its dataset, whose slices are there", () => {
    expect(job.dataset).toBe(`${example}@latest`);
    const { slices } = fitColumnsOf(schema.columns, job.evaluation.slices);
    expect(slices.map(({ name }) => name)).toEqual(job.evaluation.slices);
  });

  it("keeps room for another worker", () => {
    expect(job.resources.microBatches).toBeGreaterThan(job.resources.workers);
  });
});
