import type { CaseGroup } from "../case";

const root = "mlflow-artifacts/artifacts";

export const artifactCases: CaseGroup = {
  group: "artifacts",
  cases: [
    {
      name: "what is put is got and listed",
      steps: [
        { method: "PUT", path: `${root}/<nonce>/a/b.txt`, raw: "hello" },
        {
          method: "GET",
          path: `${root}/<nonce>/a/b.txt`,
          compare: { headers: ["content-type", "content-disposition"] },
        },
        { method: "GET", path: root, query: { path: "<nonce>" } },
        { method: "GET", path: root, query: { path: "<nonce>/a" } },
      ],
    },
  ],
};
