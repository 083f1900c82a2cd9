import type { CaseGroup, MlflowCase } from "../case";
import { caseOf } from "./steps";
import { create, createModel, makeRun, search, update } from "./version-steps";

const mine = "name = '<nonce>'";
const searching: readonly MlflowCase[] = [
  caseOf(
    "by attributes",
    createModel,
    ...makeRun,
    { ...makeRun.at(-1)!, save: { second: "run.info.run_id" } },
    create({ run_id: "<run>" }),
    create({ run_id: "<second>", source: "s3://bucket/other" }),
    create(),
    ...[
      mine,
      `${mine} AND version_number = 1`,
      `${mine} AND version_number = '1'`,
      `${mine} AND version_number > 1`,
      `${mine} AND version_number != 2`,
      `${mine} AND version_number <= 2`,
      "run_id = '<run>'",
      "run_id IN ('<run>', '<second>')",
      `${mine} AND run_id NOT IN ('<run>')`,
      `${mine} AND run_id LIKE '%<second>'`,
      `${mine} AND source_path = 's3://bucket/other'`,
      `${mine} AND source_path LIKE '%OTHER'`,
      `${mine} AND source_path ILIKE '%OTHER'`,
      "name IN ('<nonce>', 'other')",
      "name LIKE '<nonce>%'",
      "name != 'other' AND name LIKE '<nonce>'",
    ].map((filter) => search({ filter, order_by: "version_number ASC" })),
  ),
  caseOf(
    "by tags",
    createModel,
    create({
      tags: [
        { key: "a", value: "1" },
        { key: "b c", value: "2" },
      ],
    }),
    create({ tags: [{ key: "a", value: "2" }] }),
    create(),
    ...["tags.a = '1'", "tags.a != '1'", "tags.a LIKE '%'", "tags.`b c` = '2'", "tag.a ILIKE '1'", "tags.no = '1'"].map(
      (filter) => search({ filter: `${filter} AND ${mine}`, order_by: "version_number ASC" }),
    ),
  ),
  caseOf(
    "by order",
    createModel,
    create(),
    create(),
    create(),
    update({ version: "2", description: "x" }),
    search({ filter: mine }),
    search({ filter: mine, order_by: "version_number" }),
    search({ filter: mine, order_by: "version_number DESC" }),
    search({ filter: mine, order_by: "last_updated_timestamp ASC" }),
    search({ filter: mine, order_by: "creation_timestamp DESC" }),
    search({ filter: mine, order_by: ["name DESC", "version_number ASC"] }),
  ),
  caseOf(
    "by pages",
    createModel,
    create(),
    create(),
    create(),
    search({ filter: mine, max_results: "2", order_by: "version_number ASC" }, { save: { token: "next_page_token" } }),
    search({ filter: mine, max_results: "2", order_by: "version_number ASC", page_token: "<token>" }),
    search({ filter: mine, page_token: "nonsense" }),
  ),
  caseOf(
    "filters, orders and limits that are none",
    ...[
      "name",
      "version_number = 'x'",
      "version_number LIKE '1'",
      "version_number = 1.5",
      "version_number IN (1, 2)",
      "run_id > 'a'",
      "run_id = 5",
      "source_path IN ('a')",
      "current_stage = 'Staging'",
      "creation_timestamp > 5",
      "tags.a > '1'",
      "tags.a = 1",
      "name = 'a' OR name = 'b'",
      "params.a = '1'",
    ].map((filter) => search({ filter })),
    ...["run_id", "colour DESC", "tags.a", "version_number UP"].map((order_by) => search({ order_by })),
    ...["0", "-1", "200001", "x"].map((max_results) => search({ max_results })),
  ),
];

export const versionSearchCases: CaseGroup = {
  group: "version-searches",
  cases: [...searching],
};
