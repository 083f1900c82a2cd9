import fc, { type Arbitrary } from "fast-check";
import type { MlflowOperation } from "../../../../api/mlflow/operation";
import { damaged, hostileText } from "../../fuzz/arbitrary";
import { filterOf, orderOf } from "./filters";
import { filePath, rootPath } from "./paths";
import type { Own } from "./requests";

const encoded = (text: string): string =>
  encodeURIComponent(Buffer.from(text).toString()).replaceAll(/%40%7B(\w+)%7D/g, "@{$1}");
const multipart = '--x\r\ncontent-disposition: form-data; name="file"; filename="../a.txt"\r\n\r\nhello\r\n--x--\r\n';
const files = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom("hello", "\u0000\u0001", "ä🦄", "a".repeat(5_000)).map((body) => ({ body })),
  },
  { weight: 1, arbitrary: fc.constant({ body: multipart, type: "multipart/form-data; boundary=x" }) },
  { weight: 1, arbitrary: fc.constant({ body: multipart.slice(0, 40), type: "multipart/form-data; boundary=y" }) },
  { weight: 1, arbitrary: fc.constant({ body: "" }) },
);
const headers = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(
        "bytes=0-1",
        "bytes=-1",
        "bytes=5-1",
        "bytes=0-0,2-3",
        "bytes=99999999999999999999-",
        "x",
        "bytes=-",
      )
      .map((range) => ({ range })),
  },
  { weight: 1, arbitrary: fc.constantFrom("0".repeat(64), "x").map((digest) => ({ "x-amz-content-sha256": digest })) },
  { weight: 1, arbitrary: fc.constantFrom("1", "-1", "x").map((length) => ({ "content-length": length })) },
);
const ofRun = fc.tuple(fc.constantFrom("run_id", "run_uuid"), fc.oneof(filePath, hostileText));
const searchedRuns = fc.record(
  {
    experiment_ids: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(["@{experiment_id}"], ["0", "@{experiment_id}"], []) },
      { weight: 1, arbitrary: fc.constantFrom(["none"], ["0".repeat(400)]) },
    ),
    filter: filterOf("runs"),
    run_view_type: fc.constantFrom("ALL", "ACTIVE_ONLY", "DELETED_ONLY", 1, 3, "2"),
    max_results: fc.constantFrom(1, 1, 2, "5", 1000, 1, 2, 3, 0, 50_001),
    order_by: fc.array(orderOf("runs"), { maxLength: 3 }),
    page_token: fc.oneof(
      { weight: 6, arbitrary: fc.constant("") },
      { weight: 2, arbitrary: fc.constant("@{page_token}") },
      { weight: 1, arbitrary: hostileText },
    ),
  },
  { requiredKeys: ["experiment_ids"] },
);

/**
 * Generates requests of operations that read their requests themselves: files, the search of runs, the server's own.
 */
export function rawRequests({ method, path }: MlflowOperation): Arbitrary<Own> {
  if (path === "/mlflow/runs/search") {
    const body = fc.oneof(
      { weight: 8, arbitrary: searchedRuns },
      { weight: 2, arbitrary: searchedRuns.chain(damaged) },
    );
    return body.map((each) => ({ body: JSON.stringify(each) ?? "", type: "application/json" }));
  }
  if (path.endsWith("/*") && method === "PUT")
    return fc.tuple(rootPath, files, headers).map(([behind, file, more]) => ({ behind, ...file, headers: more }));
  if (path.endsWith("/*")) return fc.tuple(rootPath, headers).map(([behind, more]) => ({ behind, headers: more }));
  if (path === "/mlflow/upload-artifact")
    return fc
      .tuple(filePath, files)
      .map(([name, file]) => ({ query: `run_uuid=@{run_id}&path=${encoded(name)}`, ...file }));
  if (path === "/get-artifact")
    return fc
      .tuple(ofRun, headers)
      .map(([[name, file], more]) => ({ query: `${name}=@{run_id}&path=${encoded(file)}`, headers: more }));
  if (path === "/model-versions/get-artifact")
    return filePath.map((file) => ({ query: `name=@{name}&version=@{version}&path=${encoded(file)}` }));
  return fc.oneof(filePath, hostileText).map((file) => ({
    query: `artifact_file_path=${encoded(file)}&path=${encoded(file)}`,
  }));
}
