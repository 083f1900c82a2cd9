import type { Route } from "../http/route";
import { artifactRoutes } from "./artifacts";
import { contentRoutes } from "./contents";
import { dataContractRoutes } from "./data-contracts";
import { datasetRoutes, inboxRoutes } from "./datasets";
import { driftRoutes } from "./drift";
import { exportRoute } from "./experiment-export";
import { experimentRoutes } from "./experiments";
import { exportRoutes } from "./exports";
import { featureViewRoutes } from "./feature-views";
import { lineageRoutes } from "./lineage";
import { modelGateRoutes, modelPolicyRoutes } from "./model-gates";
import { modelVersionRoutes } from "./model-versions";
import { modelRoutes } from "./models";
import { notificationRoutes } from "./notifications";
import { pageRoutes } from "./pages";
import { pipelineRoutes } from "./pipelines";
import { searchRoutes } from "./run-search";
import { runRoutes } from "./runs";
import { servingRoutes } from "./serving";
import { studyRoutes } from "./studies";
import { systemRoutes } from "./system";
import { trackedMetricsRoutes } from "./tracked-metrics";
import { trackedRunRoutes } from "./tracked-runs";
import { triggerRoutes } from "./triggers";

export const routes: readonly Route[] = [
  ...runRoutes,
  ...experimentRoutes,
  exportRoute,
  ...trackedRunRoutes,
  ...trackedMetricsRoutes,
  ...searchRoutes,
  ...artifactRoutes,
  ...lineageRoutes,
  ...datasetRoutes,
  ...dataContractRoutes,
  ...inboxRoutes,
  ...modelRoutes,
  ...modelVersionRoutes,
  ...modelPolicyRoutes,
  ...modelGateRoutes,
  ...servingRoutes,
  ...driftRoutes,
  ...featureViewRoutes,
  ...exportRoutes,
  ...triggerRoutes,
  ...pipelineRoutes,
  ...studyRoutes,
  ...notificationRoutes,
  ...contentRoutes,
  ...pageRoutes,
  ...systemRoutes,
];
