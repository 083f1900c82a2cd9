import type { CaseGroup } from "../case";

export const registeredModelCases: CaseGroup = {
  group: "registered-models",
  cases: [
    {
      name: "create, get",
      steps: [
        { method: "POST", path: "mlflow/registered-models/create", body: { name: "<nonce>" } },
        { method: "GET", path: "mlflow/registered-models/get", query: { name: "<nonce>" } },
        { method: "POST", path: "mlflow/registered-models/create", body: { name: "<nonce>" } },
      ],
    },
  ],
};
