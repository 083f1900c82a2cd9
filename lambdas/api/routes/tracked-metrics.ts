import type { Route } from "../route";

export const trackedMetricsRoutes: readonly Route[] = [];
