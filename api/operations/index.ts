import type { ApiOperation } from "../operation";
import * as artifacts from "./artifacts";
import * as contents from "./contents";
import * as dataContracts from "./data-contracts";
import * as datasets from "./datasets";
import * as drift from "./drift";
import * as experiments from "./experiments";
import * as modelExports from "./exports";
import * as featureViews from "./feature-views";
import * as lineage from "./lineage";
import * as modelGates from "./model-gates";
import * as modelVersions from "./model-versions";
import * as models from "./models";
import * as notifications from "./notifications";
import * as pages from "./pages";
import * as pipelines from "./pipelines";
import * as runMetrics from "./run-metrics";
import * as runSearch from "./run-search";
import * as runs from "./runs";
import * as serving from "./serving";
import * as studies from "./studies";
import * as system from "./system";
import * as trainingRuns from "./training-runs";
import * as triggers from "./triggers";

/** Operations by operation id. The API serves, documents and deploys exactly these; the client is typed by them. */
export const operations = {
  ...trainingRuns,
  ...experiments,
  ...runs,
  ...runMetrics,
  ...runSearch,
  ...artifacts,
  ...lineage,
  ...datasets,
  ...dataContracts,
  ...models,
  ...modelVersions,
  ...modelGates,
  ...serving,
  ...drift,
  ...featureViews,
  ...modelExports,
  ...triggers,
  ...pipelines,
  ...studies,
  ...notifications,
  ...contents,
  ...pages,
  ...system,
};

export const allOperations: readonly ApiOperation[] = Object.values(operations);
