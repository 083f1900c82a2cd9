import type { Contract } from "../contract";
import * as contents from "./contents";
import * as datasets from "./datasets";
import * as inbox from "./inbox";
import * as models from "./models";
import * as retraining from "./retraining";
import * as system from "./system";
import * as trainingRuns from "./training-runs";

/** Every operation of the API. A route whose contract is not here is not documented, not in the client and not deployed. */
export const contracts: readonly Contract[] = [
  trainingRuns,
  datasets,
  inbox,
  models,
  retraining,
  contents,
  system,
].flatMap((group) => Object.values(group));
