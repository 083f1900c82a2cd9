import * as contracts from "../contracts/inbox";
import { defineRoute } from "../http/route";
import { retryInboxFile } from "../services/retry-inbox-file";

export const inboxRoutes = [
  defineRoute(contracts.listInboxReports, ({ platform: { inbox }, query }) => inbox.list(query)),

  defineRoute(contracts.retryInboxFile, async ({ platform, params: { id } }) => ({
    report: await retryInboxFile(platform, id),
  })),
];
