import { parseReference } from "../../cli/model-reference";

describe("parseReference", () => {
  it.each([
    ["churn", { name: "churn" }],
    ["churn@3", { name: "churn", version: 3 }],
    ["churn/12", { name: "churn", version: 12 }],
    ["churn@champion", { name: "churn", alias: "champion" }],
    ["churn@latest", { name: "churn", alias: "latest" }],
    ["churn@0", { name: "churn", alias: "0" }],
    ["@3", { name: "@3" }],
    ["churn@", { name: "churn@" }],
    ["a/b", { name: "a/b" }],
  ])("reads %s", (text, reference) => {
    expect(parseReference(text)).toEqual(reference);
  });
});
