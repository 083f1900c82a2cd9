import * as contracts from "../contracts/inbox";
import { defineRoute } from "../http/route";
import { retryInboxFile } from "../services/retry-inbox-file";

export const inboxRoutes = [
  defineRoute(contracts.listInboxReports, async ({ platform: { inbox }, query }) => ({
    status: 200,
    body: await inbox.list(query),
  })),

  defineRoute(contracts.retryInboxFile, async ({ platform, params: { id } }) => ({
    status: 200,
    body: { report: await retryInboxFile(platform, id) },
  })),
];
