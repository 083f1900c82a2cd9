import { logServedRows } from "../../core/drift/served-log";
import * as contracts from "../contracts/drift";
import { defineRoute } from "../http/route";

export const driftRoutes = [
  defineRoute(contracts.logServedRows, async ({ platform, params: { name }, body: { version, rows } }) => {
    await platform.registry.version(name, version);
    const rate = 1;
    const logged = await logServedRows(platform, { model: name, version }, rows, rate);
    return {
      status: 200,
      body: { stored: logged?.batch.rows ?? 0, repeated: logged?.created === false, rate },
    };
  }),

  defineRoute(contracts.listServedBatches, async ({ platform, params: { name, version }, query }) => {
    await platform.registry.version(name, version);
    const served = { model: name, version };
    const [totals, { items, nextToken }] = await Promise.all([
      platform.served.totals(served),
      platform.served.list(served, query),
    ]);
    return { status: 200, body: { totals, batches: [...items], nextToken } };
  }),
];
