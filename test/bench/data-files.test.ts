import { classify } from "../../bench/corruption/data-files";

it.each([
  ["dynamodb/000005.ldb", { class: "database dynamodb" }],
  ["batch/batch.level/CURRENT", { class: "database batch" }],
  ["seals/s3-index.seal", { class: "database s3-index" }],
  ["s3/notifications.ndjson", { class: "journals" }],
  ["seals/events-journal.ndjson.seal", { class: "journals" }],
  ["s3/buckets/b/objects/k=", { class: "objects" }],
  ["states/LOCK", { notData: expect.any(String) }],
  ["stack.log.1", { notData: expect.any(String) }],
  ["new-service/data.bin", {}],
])("%s is %j", (file, expected) => {
  expect(classify(file)).toEqual(expected);
});
