import type { Route } from "../route";
import { contentRoutes } from "./contents";
import { datasetRoutes } from "./datasets";
import { inboxRoutes } from "./inbox";
import { modelRoutes } from "./models";
import { retrainingRoutes } from "./retraining";
import { runRoutes } from "./runs";
import { systemRoutes } from "./system";

/** Every route of the API: one for each contract (`core/api/contracts`), which a test makes sure of. */
export const routes: readonly Route[] = [
  ...runRoutes,
  ...datasetRoutes,
  ...inboxRoutes,
  ...modelRoutes,
  ...retrainingRoutes,
  ...contentRoutes,
  ...systemRoutes,
];
